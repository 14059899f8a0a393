// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The statistics on a ground that they were not fitted to: how often ± holds the mean where it is
 * promised, and how often --until-stable says "stable" and is wrong. The rates are printed; the
 * bars are asserted. The seeds are fixed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draw.h"
#include "stat/interval.h"
#include "stat/plateau.h"

#define RUNS_MOST 150
#define SLICES    64
#define TRIALS    3000
#define SESSIONS  600
#define TRUTH     100.0

static uint64_t seed;

static double uniform(void)
{
	return ((double)(draw(&seed) >> 11) + 0.5) / 0x1p53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* What values are made of; fractions of the truth. */
struct ground {
	const char *name;
	double noise;     /* independent, normal */
	double wander;    /* AR(1), */
	double alike;     /* with this correlation of neighbours */
	double apart;     /* two modes, each so far from the middle, */
	double dwell;     /* which change after so many values */
	double lognormal; /* sigma, alone */
	double dip;       /* by which some values are lower, */
	double share;     /* so many of them */
};

static void make(const struct ground *g, double *value, size_t count)
{
	double at = normal(), mode = uniform() < 0.5 ? 1 : -1;

	for (size_t i = 0; i < count; i++) {
		double dips = uniform() < g->share, v;

		if (i)
			at = g->alike * at + sqrt(1 - g->alike * g->alike) * normal();
		if (i && g->dwell > 0 && uniform() < 1 / g->dwell)
			mode = -mode;
		v = 1 + g->noise * normal() + g->wander * at + g->apart * mode -
		    g->dip * (dips - g->share);
		if (g->lognormal > 0)
			v = exp(g->lognormal * normal() - g->lognormal * g->lognormal / 2);
		value[i] = TRUTH * v;
	}
}

/* In percent of all: runs that have ±, and those in which it holds the truth. */
static void promise(const struct ground *g, double *known, double *right)
{
	double value[SLICES];

	seed = 11;
	*known = *right = 0;
	for (int t = 0; t < TRIALS; t++) {
		struct interval in;

		make(g, value, SLICES);
		in = interval_of_run(value, SLICES, INTERVAL_CONFIDENCE);
		*known += in.state == INTERVAL_KNOWN ? 100.0 / TRIALS : 0;
		*right += fabs(in.mean - TRUTH) <= in.half && in.state == INTERVAL_KNOWN
				  ? 100.0 / TRIALS
				  : 0;
	}
	print_message("# ± %-28s said %5.1f %%, covers %5.1f %% of those, wrong %4.1f %% of all\n",
		      g->name, *known, 100 * *right / *known, *known - *right);
}

/* The neighbours' correlation if it decays by e in SHARE of the run. */
static double decay(double share)
{
	return exp(-1 / (share * SLICES));
}

static void plus_minus_holds_the_mean(void **state)
{
	const struct ground ground[] = {
		{"iid normal", .noise = 0.05},
		{"AR(1), 0.01 of the run", .wander = 0.05, .alike = decay(0.01)},
		{"AR(1), 0.02", .wander = 0.05, .alike = decay(0.02)},
		{"AR(1), 0.05", .wander = 0.05, .alike = decay(0.05)},
		{"AR(1), 0.1", .wander = 0.05, .alike = decay(0.1)},
		{"AR(1), 0.15", .wander = 0.05, .alike = decay(0.15)},
		{"AR(1), 0.2", .wander = 0.05, .alike = decay(0.2)},
		{"two modes, dwell 0.03", .noise = 0.01, .apart = 0.05, .dwell = 0.03 * SLICES},
		{"two modes, dwell 0.06", .noise = 0.01, .apart = 0.05, .dwell = 0.06 * SLICES},
		{"two modes, dwell 0.1", .noise = 0.01, .apart = 0.05, .dwell = 0.1 * SLICES},
		{"lognormal, sigma 0.3", .lognormal = 0.3},
		{"lognormal, sigma 0.6", .lognormal = 0.6},
	};
	double known, right;

	(void)state;
	for (size_t i = 0; i < sizeof(ground) / sizeof(ground[0]); i++) {
		promise(&ground[i], &known, &right);
		assert_true(100 * right / known >= 93 && 100 * right / known <= 98);
		assert_true(known > 30);
	}
}

/* Longer phases cannot all be told from shorter ones; but few runs are promised something wrong. */
static void plus_minus_is_not_said_beyond(void **state)
{
	const struct ground ground[] = {
		{"AR(1), 0.5 of the run", .wander = 0.05, .alike = decay(0.5)},
		{"AR(1), twice the run", .wander = 0.05, .alike = decay(2)},
		{"two modes, dwell 0.3", .noise = 0.01, .apart = 0.05, .dwell = 0.3 * SLICES},
		{"dips, 5 % of the slices", .noise = 0.01, .dip = 0.3, .share = 0.05},
	};
	double known, right;

	(void)state;
	for (size_t i = 0; i < sizeof(ground) / sizeof(ground[0]); i++) {
		promise(&ground[i], &known, &right);
		assert_true(known - right <= 8);
		assert_true(known < 75);
	}
}

struct verdicts {
	double stable, off, grouped, runs;
};

static void session(const struct ground *g, struct verdicts *v)
{
	const struct plateau_aim aim = {INTERVAL_CONFIDENCE, 0.01};
	double value[RUNS_MOST], scratch[RUNS_MOST];
	size_t count = PLATEAU_LEAST;
	struct plateau p;

	make(g, value, RUNS_MOST);
	for (;; count++) {
		bool due = looks_due(PLATEAU_LEAST, count) || count == RUNS_MOST;

		if (due)
			plateau_find(&p, value, count, &aim, scratch);
		if ((due && p.state == PLATEAU_REACHED) || count == RUNS_MOST)
			break;
	}
	v->stable += p.state == PLATEAU_REACHED;
	v->off += p.state == PLATEAU_REACHED && fabs(p.mean.mean / TRUTH - 1) > 0.01;
	v->grouped += p.state == PLATEAU_GROUPS;
	v->runs += (double)count;
}

static struct verdicts sessions(const struct ground *g)
{
	struct verdicts v = {0};
	double *rate = &v.stable;

	seed = 17;
	for (int i = 0; i < SESSIONS; i++)
		session(g, &v);
	for (size_t i = 0; i < sizeof(v) / sizeof(*rate); i++)
		rate[i] /= SESSIONS;
	print_message(
		"# stable 1 %%: %-28s said %5.1f %%, off %4.1f %%, two groups %5.1f %%, %.0f runs\n",
		g->name, v.stable * 100, v.off * 100, v.grouped * 100, v.runs);
	return v;
}

static void stable_is_seldom_off(void **state)
{
	static const struct ground ground[] = {
		{"two modes ±5 %, dwell 20", .noise = 0.01, .apart = 0.05, .dwell = 20},
		{"two modes ±5 %, dwell 5", .noise = 0.01, .apart = 0.05, .dwell = 5},
		{"two modes ±5 %, each run", .noise = 0.01, .apart = 0.05, .dwell = 2},
		{"AR(0.9), 1 %", .wander = 0.01, .alike = 0.9},
		{"AR(0.9), 2 %", .wander = 0.02, .alike = 0.9},
		{"AR(0.9), 5 %", .wander = 0.05, .alike = 0.9},
		{"5 % of runs dip by 20 %", .noise = 0.005, .dip = 0.2, .share = 0.05},
		{"5 % of runs dip by 50 %", .noise = 0.005, .dip = 0.5, .share = 0.05},
		{"iid 2 %", .noise = 0.02},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ground) / sizeof(ground[0]); i++)
		assert_true(sessions(&ground[i]).off <= 0.05);
}

/* It is not so careful that it never says so. */
static void what_is_stable_is_said_to_be(void **state)
{
	static const struct ground calm = {"iid 1 %", .noise = 0.01};
	static const struct ground modes = {"two modes ±5 %, dwell 3", .noise = 0.01, .apart = 0.05,
					    .dwell = 3};
	struct verdicts v = sessions(&calm);

	(void)state;
	assert_true(v.stable > 0.98 && v.runs < PLATEAU_LEAST + 5);
	assert_true(sessions(&modes).grouped > 0.98);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plus_minus_holds_the_mean),
		cmocka_unit_test(plus_minus_is_not_said_beyond),
		cmocka_unit_test(stable_is_seldom_off),
		cmocka_unit_test(what_is_stable_is_said_to_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
#include "stat/stable.h"

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
	double warmup;    /* by which the first value is lower, */
	double warm;      /* and e times less after so many */
	double drift;     /* from the first of RUNS_MOST values to the last, about the truth */
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
		    g->dip * (dips - g->share) + g->drift * ((double)i / RUNS_MOST - 0.5);
		if (g->warm > 0)
			v -= g->warmup * exp(-(double)i / g->warm);
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
	double stable, off, runs;
};

static void session(const struct ground *g, struct verdicts *v)
{
	double value[RUNS_MOST];
	size_t count = STABLE_LEAST;
	struct stable s;

	make(g, value, RUNS_MOST);
	while (s = stable_find(value, count, 0.01), s.state != STABLE_REACHED && count < RUNS_MOST)
		count++;
	v->stable += s.state == STABLE_REACHED;
	v->off += s.state == STABLE_REACHED && fabs(s.mean.mean / TRUTH - 1) > 0.01;
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
	print_message("# stable 1 %%: %-28s said %5.1f %%, off %4.1f %%, %.0f runs\n", g->name,
		      v.stable * 100, v.off * 100, v.runs);
	return v;
}

/* Where ten runs show what all are like: it is said in the end, and seldom wrong. */
static void stable_is_seldom_off(void **state)
{
	static const struct ground ground[] = {
		{"iid 0.3 %", .noise = 0.003},
		{"iid 1 %", .noise = 0.01},
		{"iid 2 %", .noise = 0.02},
		{"AR(0.5), 0.5 %", .wander = 0.005, .alike = 0.5},
		{"AR(0.5), 1 %", .wander = 0.01, .alike = 0.5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ground) / sizeof(ground[0]); i++) {
		struct verdicts v = sessions(&ground[i]);

		assert_true(v.off <= 0.05 && v.stable > 0.98);
		assert_true(ground[i].noise > 0.01 || v.runs < 25);
	}
}

/* Where neighbours resemble each other for long, it is wrong more often. */
static void phases_deceive_it_at_times(void **state)
{
	static const struct ground ground[] = {
		{"AR(0.5), 2 %", .wander = 0.02, .alike = 0.5},
		{"AR(0.9), 1 %", .wander = 0.01, .alike = 0.9},
		{"AR(0.9), 2 %", .wander = 0.02, .alike = 0.9},
		{"AR(0.9), 5 %", .wander = 0.05, .alike = 0.9},
		{"two modes ±5 %, each run", .noise = 0.01, .apart = 0.05, .dwell = 2},
		{"two modes ±5 %, dwell 5", .noise = 0.01, .apart = 0.05, .dwell = 5},
		{"drift by 30 % in 150 runs", .noise = 0.005, .drift = 0.3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ground) / sizeof(ground[0]); i++)
		assert_true(sessions(&ground[i]).off <= 0.2);
}

/* A mean of two modes far apart, or with a warm-up, is none that is stable. */
static void what_is_not_stable_is_not_said_to_be(void **state)
{
	static const struct ground ground[] = {
		{"two modes ±15 %, each run", .noise = 0.005, .apart = 0.15, .dwell = 2},
		{"warm-up by 16 %, e in 3", .noise = 0.005, .warmup = 0.16, .warm = 3},
		{"warm-up by 16 %, e in 20", .noise = 0.005, .warmup = 0.16, .warm = 20},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ground) / sizeof(ground[0]); i++)
		assert_true(sessions(&ground[i]).stable <= 0.02);
}

/* What ten runs do not show, it cannot know: no bar, but the rates are printed. */
static void what_few_runs_do_not_show(void **state)
{
	static const struct ground ground[] = {
		{"two modes ±5 %, dwell 20", .noise = 0.01, .apart = 0.05, .dwell = 20},
		{"5 % of runs dip by 20 %", .noise = 0.005, .dip = 0.2, .share = 0.05},
		{"5 % of runs dip by 50 %", .noise = 0.005, .dip = 0.5, .share = 0.05},
		{"drift by 10 % in 150 runs", .noise = 0.005, .drift = 0.1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ground) / sizeof(ground[0]); i++)
		sessions(&ground[i]);
}

static void by_hand(void **state)
{
	double value[20];
	struct stable s;

	(void)state;
	for (int i = 0; i < 20; i++)
		value[i] = 0.1;
	s = stable_find(value, STABLE_LEAST - 1, 0.01);
	assert_true(s.state == STABLE_FEW && s.rise == 0);
	assert_int_equal(stable_find(value, STABLE_LEAST, 0.01).state, STABLE_REACHED);
	for (int i = 0; i < 20; i++)
		value[i] = 99 + i % 2 * 2 + (i >= 10) * 4; /* 100, then 104 */
	s = stable_find(value, 20, 0.03);
	assert_true(s.state == STABLE_DIFFERS && fabs(s.rise - 4.0 / 102) < 1e-9);
	for (int i = 0; i < 20; i++)
		value[i] = i % 2 ? 110 : 90;
	assert_int_equal(stable_find(value, 20, 0.01).state, STABLE_WIDE);
	assert_int_equal(stable_find(value, 20, 0.1).state, STABLE_REACHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(plus_minus_holds_the_mean),
		cmocka_unit_test(plus_minus_is_not_said_beyond),
		cmocka_unit_test(stable_is_seldom_off),
		cmocka_unit_test(phases_deceive_it_at_times),
		cmocka_unit_test(what_is_not_stable_is_not_said_to_be),
		cmocka_unit_test(what_few_runs_do_not_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

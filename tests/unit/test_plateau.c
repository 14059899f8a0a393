// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plateau: what it finds in values that were made up, and how often it errs in sessions that were
 * drawn from a truth that is known: each goes on until it is content, or has 100 values. The seeds
 * are fixed; the rates are printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stat/plateau.h"

#define MOST     150
#define SESSIONS 100
#define TRUTH    100.0

static const struct plateau_aim one_percent = {95, 0.01};

static uint64_t seed;

/* Between 0 and 1, neither of them (splitmix64). */
static double draw(void)
{
	uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double)((x ^ (x >> 31)) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static double normal(void)
{
	return sqrt(-2 * log(draw())) * cos(2 * M_PI * draw());
}

/* What the values of a session are drawn from; fractions of the truth. */
struct world {
	const char *name;
	double noise;  /* standard deviation */
	double alike;  /* correlation of neighbours */
	double warmup; /* so much lower the first one is, */
	double runs;   /* and e times less after so many; 0: it is cold, then warm at once */
	double gap;    /* between two modes */
	double share;  /* of values in the lower one */
};

static void draw_values(const struct world *w, double value[MOST])
{
	double noise = normal();

	for (int i = 0; i < MOST; i++) {
		double cold = w->runs > 0 ? w->warmup * exp(-i / w->runs) : 0;
		double mode = draw() < w->share ? w->gap : 0;

		if (i)
			noise = w->alike * noise + sqrt(1 - w->alike * w->alike) * normal();
		value[i] = TRUTH * (1 + w->noise * noise - cold - mode);
	}
}

/* What came of all sessions; of 1. */
struct rates {
	double content;  /* it said that it knows the mean */
	double covered;  /* the interval that it said in the end, content or not, has the truth */
	double far;      /* it was content, and more than 2 % off */
	double far_1;    /* and more than 1 % */
	double drifting; /* it ended so */
	double grouped;
	double values; /* that it took */
};

static void session(const struct world *w, const struct plateau_aim *aim, struct rates *r)
{
	double value[MOST], scratch[MOST], off;
	struct plateau p;
	size_t count = PLATEAU_LEAST - 1;

	draw_values(w, value);
	do
		plateau_find(&p, value, ++count, aim, scratch);
	while (count < MOST && !(looks_due(PLATEAU_LEAST, count) && p.state == PLATEAU_REACHED));
	off = fabs(p.mean.mean - TRUTH);
	r->content += p.state == PLATEAU_REACHED;
	r->covered += off <= p.mean.half;
	r->far += p.state == PLATEAU_REACHED && off > 2 * TRUTH / 100;
	r->far_1 += p.state == PLATEAU_REACHED && off > 1 * TRUTH / 100;
	r->drifting += p.state == PLATEAU_DRIFTS;
	r->grouped += p.state == PLATEAU_GROUPS;
	r->values += (double)count;
}

static struct rates sessions(const struct world *w, const struct plateau_aim *aim)
{
	struct rates r = {0};
	double *rate = &r.content;

	seed = 20250101;
	for (int i = 0; i < SESSIONS; i++)
		session(w, aim, &r);
	for (size_t i = 0; i < sizeof(r) / sizeof(*rate); i++)
		rate[i] /= SESSIONS;
	print_message("%-34s %5.1f %8.1f %7.1f %7.1f %7.1f %7.1f %6.1f\n", w->name, r.content * 100,
		      r.covered * 100, r.far_1 * 100, r.far * 100, r.drifting * 100,
		      r.grouped * 100, r.values);
	return r;
}

static void head(void)
{
	print_message("%-34s %5s %8s %7s %7s %7s %7s %6s\n", "truth, % of sessions", "said",
		      "interval", "> 1 %", "> 2 %", "ends in", "in two", "");
	print_message("%-34s %5s %8s %7s %7s %7s %7s %6s\n", "", "1 %", "has it", "off", "off",
		      "drift", "groups", "values");
}

static void noise(void **state)
{
	static const struct world world[] = {
		{.name = "noise 0.3 %", .noise = 0.003}, {.name = "noise 1 %", .noise = 0.01},
		{.name = "noise 1.5 %", .noise = 0.015}, {.name = "noise 2 %", .noise = 0.02},
		{.name = "noise 5 %", .noise = 0.05},
	};

	(void)state;
	head();
	for (size_t i = 0; i < sizeof(world) / sizeof(world[0]); i++) {
		struct rates r = sessions(&world[i], &one_percent);

		assert_true(r.covered >= 0.93);
		assert_true(r.far <= 0.01 && r.far_1 <= 0.05);
		/* it is not so careful that it never is content */
		assert_true(world[i].noise > 0.02 || r.content > 0.9);
	}
}

/* A value is like the one before: what is asked of it is a little less. */
static void alike(void **state)
{
	static const struct world world[] = {
		{.name = "noise 0.5 %, neighbours 0.5 alike", .noise = 0.005, .alike = 0.5},
		{.name = "noise 1 %, neighbours 0.5 alike", .noise = 0.01, .alike = 0.5},
		{.name = "noise 2 %, neighbours 0.5 alike", .noise = 0.02, .alike = 0.5},
	};

	(void)state;
	head();
	for (size_t i = 0; i < sizeof(world) / sizeof(world[0]); i++) {
		struct rates r = sessions(&world[i], &one_percent);

		assert_true(r.covered >= 0.90);
		assert_true(r.far <= 0.01);
	}
}

static void warmups(void **state)
{
	static const double runs[] = {1, 3, 10, 20, 40}, noises[] = {0, 0.005, 0.02};
	char name[64];

	(void)state;
	head();
	for (size_t n = 0; n < sizeof(noises) / sizeof(noises[0]); n++)
		for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
			struct world w = {name, .noise = noises[n], .warmup = 0.16,
					  .runs = runs[i]};
			struct rates r;

			snprintf(name, sizeof(name), "warm-up 16 %%, e in %g, noise %g %%", w.runs,
				 w.noise * 100);
			r = sessions(&w, &one_percent);
			assert_true(r.far <= 0.01);
			/* so short a warm-up is over, and is left out */
			assert_true(w.runs > 3 || (r.content > 0.8 && r.covered >= 0.93));
			/* so long a one is not, in 100 values */
			assert_true(w.runs < 40 || r.content < 0.2);
		}
}

static void modes(void **state)
{
	static const struct world world[] = {
		{.name = "two modes 30 % apart, a half each",
		 .noise = 0.005,
		 .gap = 0.3,
		 .share = 0.5},
		{.name = "two modes 30 % apart, 3 in 10 low",
		 .noise = 0.005,
		 .gap = 0.3,
		 .share = 0.3},
	};
	struct rates r;

	(void)state;
	head();
	r = sessions(&world[0], &one_percent);
	assert_true(r.content == 0 && r.grouped == 1);
	r = sessions(&world[1], &one_percent);
	assert_true(r.content <= 0.02 && r.grouped >= 0.98);
	/* the noise within is wider than what is asked for would be without the modes */
	r = sessions(&world[0], &(struct plateau_aim){95, 0.05});
	assert_true(r.content == 0 && r.grouped == 1);
}

/* The level of confidence is the one that was asked for. */
static void confidence(void **state)
{
	static const struct world world = {.name = "noise 1.5 %", .noise = 0.015};
	struct rates sure, unsure;

	(void)state;
	head();
	sure = sessions(&world, &(struct plateau_aim){99, 0.01});
	unsure = sessions(&world, &(struct plateau_aim){50, 0.01});
	assert_true(sure.covered >= 0.98);
	assert_true(unsure.covered >= 0.48 && unsure.covered < 0.95);
	assert_true(unsure.values < sure.values);
}

static struct plateau of(const double *value, size_t count, const struct plateau_aim *aim)
{
	double scratch[MOST];
	struct plateau p;

	plateau_find(&p, value, count, aim, scratch);
	return p;
}

/* Without noise: what is said is what is there. */
static void by_hand(void **state)
{
	double value[MOST];
	struct plateau p;

	(void)state;
	for (int i = 0; i < MOST; i++)
		value[i] = 50;
	p = of(value, PLATEAU_LEAST - 1, &one_percent);
	assert_true(p.state == PLATEAU_FEW && p.mean.mean == 50);
	p = of(value, 3, &one_percent);
	assert_true(p.state == PLATEAU_FEW && isinf(p.mean.half));
	p = of(value, PLATEAU_LEAST, &one_percent);
	assert_true(p.state == PLATEAU_REACHED && p.left_out == 0 && p.mean.half == 0);
	/* one cold run, and as many again */
	value[0] = 30;
	p = of(value, 80, &one_percent);
	assert_true(p.state == PLATEAU_REACHED && p.left_out == 2 && p.mean.count == 78);
	assert_true(p.mean.mean == 50 && p.slope == 0);
	/* a line: from 100 to 179, by 1 of 139.5 */
	for (int i = 0; i < 80; i++)
		value[i] = 100 + i;
	p = of(value, 80, &one_percent);
	assert_true(p.state == PLATEAU_DRIFTS && p.left_out == 0);
	assert_true(fabs(p.slope - 1 / 139.5) < 1e-12);
	/* down, too; and so little is no matter */
	for (int i = 0; i < 80; i++)
		value[i] = 200 - i;
	assert_true(of(value, 80, &one_percent).slope < 0);
	assert_int_equal(of(value, 80, &one_percent).state, PLATEAU_DRIFTS);
	for (int i = 0; i < 80; i++)
		value[i] = 120 + i % 5 / 10.0 + i / 400.0;
	assert_int_equal(of(value, 80, &one_percent).state, PLATEAU_REACHED);
	/* a step is no warm-up: it is two groups */
	for (int i = 0; i < 80; i++)
		value[i] = i < 40 ? 70 + i % 2 / 10.0 : 100 + i % 2 / 10.0;
	p = of(value, 80, &one_percent);
	assert_true(p.state == PLATEAU_GROUPS && p.left_out == 0 && p.groups.lows == 40);
	assert_true(fabs(p.groups.low - 70.05) < 1e-9 && fabs(p.groups.high - 100.05) < 1e-9);
	/* turn by turn they are no drift; and no matter, where that is within what was asked for */
	for (int i = 0; i < 80; i++)
		value[i] = i % 2 ? 70 + i / 800.0 : 100 + i / 800.0;
	assert_int_equal(of(value, 80, &one_percent).state, PLATEAU_GROUPS);
	assert_int_equal(of(value, 80, &(struct plateau_aim){95, 0.5}).state, PLATEAU_REACHED);
	/* at rest, and not known well enough */
	for (int i = 0; i < 80; i++)
		value[i] = 90 + (i * 7) % 20;
	assert_int_equal(of(value, 80, &one_percent).state, PLATEAU_WIDE);
	assert_int_equal(of(value, 80, &(struct plateau_aim){95, 0.05}).state, PLATEAU_REACHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand), cmocka_unit_test(noise), cmocka_unit_test(alike),
		cmocka_unit_test(warmups), cmocka_unit_test(modes), cmocka_unit_test(confidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

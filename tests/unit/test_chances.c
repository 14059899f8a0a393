// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * chances: the shares of figures, without a player's own; and beyond the last figure, chance is
 * never taken to be much less than it is, whatever the noise is like.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../pairs/judge/chances.h"
#include "draw.h"

#define SEEDS       60
#define TIMES_MOST  3.
#define MEDIAN_LOST .01
#define SIGMA_LOST  1.2

/* 101 figures, from 0 to 0.5 below normal. */
static void fill(struct chances *c)
{
	*c = (struct chances){0};
	for (int i = 0; i <= 100; i++)
		chances_add(c, -i / 200.);
	chances_close(c);
}

static void shares_count_what_is_not_above(void **state)
{
	struct chances c;

	(void)state;
	fill(&c);
	assert_int_equal(c.count, 101);
	/* 51 of 101, and the one that asks */
	assert_true(fabs(chances_share(&c, -.2501 + .0002, 0, 0) - 52 / 102.) < 1e-9);
	assert_true(fabs(chances_share(&c, 1, 0, 0) - 1) < 1e-9);
	/* what a share is not above, and back */
	for (double share = .25; share < 1; share += .25)
		assert_true(fabs(chances_at(&c, share) + (1 - share) / 2) < .006);
}

static void own_figures_are_left_out(void **state)
{
	struct chances c;

	(void)state;
	fill(&c);
	/* Ten of a player's own are among them: six of the lower half, four of the other one. */
	assert_true(fabs(chances_share(&c, -.2499, 10, 6) - 46 / 92.) < 1e-9);
	/* Its own are the lowest ones: without them nothing is as low. */
	assert_true(fabs(chances_share(&c, -.3499, 31, 31) - 1 / 71.) < 1e-9);
	assert_true(fabs(chances_share(&c, -.3499, 0, 0) - 32 / 102.) < 1e-9);
	/* Nothing but its own: nobody knows. */
	assert_true(chances_share(&c, -.5, 101, 101) == 1);
}

static void without_figures_all_is_likely(void **state)
{
	struct chances c = {0};

	(void)state;
	chances_close(&c);
	assert_true(chances_share(&c, -2, 0, 0) == 1);
	chances_add(&c, -.1);
	c = (struct chances){0};
	chances_close(&c);
	assert_int_equal(c.count, 0);
	assert_true(chances_share(&c, -2, 0, 0) == 1);
}

/* Farther is never more likely, also where the tail begins, and beyond all bins. */
static void shares_fall_outward(void **state)
{
	struct chances c;

	(void)state;
	fill(&c);
	for (double far = 0; far < 4; far += .001) {
		double nearer = chances_share(&c, -far, 0, 0);
		double farther = chances_share(&c, -far - .001, 0, 0);

		assert_true(farther > 0 && nearer <= 1);
		assert_true(farther <=
			    nearer * 1.05); /* where the tail begins, it may rise a little */
	}
}

/* From above 0 to below 1. */
static double even(uint64_t *x)
{
	return ((double)(draw(x) >> 11) + .5) * 0x1p-53;
}

static double normal(uint64_t *x)
{
	double a = even(x), b = even(x);

	return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

/* Noise about its median, and the chance of being as low as minus FAR. */
struct noise {
	const char *name;
	double (*draw)(uint64_t *x);
	double (*chance)(double far);
};

static double draw_normal(uint64_t *x)
{
	return .02 * normal(x);
}

static double chance_normal(double far)
{
	return erfc(far / .02 / M_SQRT2) / 2;
}

static double draw_lognormal(uint64_t *x)
{
	return MEDIAN_LOST - MEDIAN_LOST * exp(SIGMA_LOST * normal(x));
}

static double chance_lognormal(double far)
{
	return erfc(log(far / MEDIAN_LOST + 1) / SIGMA_LOST / M_SQRT2) / 2;
}

/* Student's t of three degrees of freedom. */
static double draw_student(uint64_t *x)
{
	double z = normal(x), square = 0;

	for (int i = 0; i < 3; i++) {
		double y = normal(x);

		square += y * y;
	}
	return .01 * z / sqrt(square / 3);
}

static double chance_student(double far)
{
	double t = far / .01 / sqrt(3);

	return .5 - (atan(t) + t / (1 + t * t)) / M_PI;
}

static struct noise noises[] = {{"normal", draw_normal, chance_normal},
				{"lognormal", draw_lognormal, chance_lognormal},
				{"Student's t", draw_student, chance_student}};

/*
 * How often figures of such noise are as low as the pool says that SHARE of them are, in that many
 * times of it: the mean of many pools, as an alarm in one of many clusters is a false alarm.
 */
static double times_as_often(const struct noise *n, uint32_t figures, double share)
{
	double sum = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		uint64_t x = seed << 32 | figures;
		struct chances c = {0};

		for (uint32_t i = 0; i < figures; i++)
			chances_add(&c, n->draw(&x));
		chances_close(&c);
		sum += n->chance(-chances_at(&c, share)) / share;
		}
	return sum / SEEDS;
}

/*
 * To a hundredth of what one in all figures is. A dozen figures, which are all that four nodes
 * have, say less of it: to a tenth.
 */
static void the_tail_is_not_too_thin(void **state)
{
	static const uint32_t counts[] = {12, 30, 56, 100, 500, 5000, 50000};
	const struct noise *n = *state;
	double most = 0;

	for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++)
		for (double beyond = 1; beyond <= (counts[k] < 30 ? 10 : 100); beyond *= 10) {
			double times = times_as_often(n, counts[k], 1 / beyond / counts[k]);

			if (times > TIMES_MOST)
				print_message("%u figures, one in %g: %g times as often\n",
					      counts[k], beyond * counts[k], times);
			most = fmax(most, times);
		}
	print_message("%s: at most %.2g times as often as said\n", n->name, most);
	assert_true(most > 0 && most <= TIMES_MOST);
}

int main(void)
{
	enum {
		NOISES = sizeof(noises) / sizeof(*noises)
	};
	struct CMUnitTest tests[4 + NOISES] = {
		cmocka_unit_test(shares_count_what_is_not_above),
		cmocka_unit_test(own_figures_are_left_out),
		cmocka_unit_test(without_figures_all_is_likely),
		cmocka_unit_test(shares_fall_outward),
	};

	for (size_t i = 0; i < NOISES; i++)
		tests[4 + i] = (struct CMUnitTest){.name = noises[i].name,
						   .test_func = the_tail_is_not_too_thin,
						   .initial_state = &noises[i]};
	return cmocka_run_group_tests_name("chances", tests, NULL, NULL);
}

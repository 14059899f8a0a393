// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* modes: the dip against distributions whose own is known, and how often two modes are found. */
#include "stat/modes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "draw.h"

#define TRIALS 500
#define MOST   200

static uint64_t seed;

static double uniform(void)
{
	return ((double)(draw(&seed) >> 11) + 0.5) / 0x1p53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double skewed(void)
{
	return exp(normal());
}

static double tailed(void)
{
	return normal() / sqrt(uniform());
}

static double two(void)
{
	return (uniform() < 0.4 ? 70 : 100) + 2 * normal();
}

/* In how many trials COUNT values of FROM, each ALIKE the one before, have two modes. */
static int found(size_t count, double (*from)(void), double alike)
{
	double value[MOST], sorted[MOST];
	struct modes m;
	int n = 0;

	seed = 7;
	for (int t = 0; t < TRIALS; t++) {
		for (size_t i = 0; i < count; i++)
			value[i] = (i ? alike * value[i - 1] : 0) + from();
		n += modes_find(value, count, sorted, &m);
	}
	return n;
}

static void the_dip_is_the_distance_to_one_mode(void **state)
{
	double value[MOST];

	(void)state;
	/* evenly spread: no more than the steps themselves make */
	for (int i = 0; i < 100; i++)
		value[i] = i;
	assert_true(fabs(modes_dip(value, 100) - 0.005) < 1e-6);
	/* two atoms: one of them is the mode, and half of the other is missing */
	for (int i = 0; i < 100; i++)
		value[i] = i < 30 ? 5 : 9;
	assert_true(fabs(modes_dip(value, 100) - 0.15) < 1e-6);
	for (int i = 0; i < 100; i++)
		value[i] = 5;
	assert_true(modes_dip(value, 100) < 1e-6);
}

static void one_mode_is_none_too_many(void **state)
{
	double (*const one[])(void) = {uniform, normal, skewed, tailed};
	static const size_t counts[] = {8, 12, 20, 50, 200};

	(void)state;
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < 5; i++)
			assert_in_range(found(counts[i], one[k], 0), 0, TRIALS / 50);
	/* nor is what wanders */
	assert_in_range(found(20, normal, 0.8), 0, TRIALS / 50);
	assert_in_range(found(100, normal, 0.9), 0, TRIALS / 50);
	assert_in_range(found(100, normal, 0.99), 0, TRIALS / 50);
}

static void two_modes_are_found(void **state)
{
	double value[40], sorted[40];
	struct modes m;

	(void)state;
	assert_in_range(found(40, two, 0), TRIALS * 95 / 100, TRIALS);
	for (int i = 0; i < 40; i++)
		value[i] = (i % 3 ? 10 : 4) + i % 4 / 10.0;
	assert_true(modes_find(value, 40, sorted, &m));
	assert_int_equal(m.lows, 14);
	assert_true(fabs(m.low - 4.15) < 0.05 && fabs(m.high - 10.15) < 0.05 && m.cut > m.low);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_dip_is_the_distance_to_one_mode),
		cmocka_unit_test(one_mode_is_none_too_many),
		cmocka_unit_test(two_modes_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* interval: against tables of Student's t, and against values whose mean is known. */
#include "stat/interval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define TRIALS 2000
#define MOST   200

/* Uniform in (0, 1), the same in every run. */
static double uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(*state >> 11) + 0.5) / 0x1p53;
}

static double normal(uint64_t *state)
{
	double r = sqrt(-2 * log(uniform(state)));

	return r * cos(2 * M_PI * uniform(state));
}

static void students_t_is_as_in_tables(void **state)
{
	static const struct {
		double confidence, freedom, t;
	} table[] = {
		{95, 1, 12.7062},  {95, 2, 4.3027},    {95, 4, 2.7764},   {95, 9, 2.2622},
		{95, 30, 2.0423},  {90, 7, 1.8946},    {99, 7, 3.4995},   {99.9, 1, 636.619},
		{99, 120, 2.6174}, {95, 1e6, 1.95996}, {50, 10, 0.69981},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_true(fabs(interval_t(table[i].confidence, table[i].freedom) / table[i].t -
				 1) < 0.003);
}

static void too_few_values_say_nothing(void **state)
{
	static const double value[INTERVAL_MIN_VALUES] = {1, 8, 3, 6, 5, 2, 7, 4};

	(void)state;
	assert_true(isinf(interval_of_run(value, INTERVAL_MIN_VALUES - 1, 95).half));
	assert_true(isfinite(interval_of_run(value, INTERVAL_MIN_VALUES, 95).half));
}

static void equal_values_are_sure(void **state)
{
	double value[64];

	(void)state;
	for (int i = 0; i < 64; i++)
		value[i] = 3;
	assert_true(interval_of_run(value, 64, 95).half == 0);
}

/* In percent: how often the interval of COUNT values has the true mean in it; *WIDTH: how wide it
 * is beside that of someone who knows everything but the mean. */
static double coverage(int count, double likeness, double *width)
{
	uint64_t seed = 42;
	double value[MOST], at, sum = 0;
	int covered = 0, known = 0;

	for (int t = 0; t < TRIALS; t++) {
		struct interval in;

		at = normal(&seed);
		for (int i = 0; i < count; i++) {
			at = likeness * at + sqrt(1 - likeness * likeness) * normal(&seed);
			value[i] = 100 + at;
		}
		in = interval_of_run(value, (size_t)count, 95);
		if (in.state != INTERVAL_KNOWN)
			continue;
		known++;
		covered += fabs(in.mean - 100) <= in.half;
		sum += in.half;
	}
	*width = sum / known / (1.96 * sqrt((1 + likeness) / (1 - likeness) / (double)count));
	return 100.0 * covered / known;
}

static void the_interval_of_a_run_has_the_mean_in_it(void **state)
{
	static const double likenesses[] = {0, 0.5, 0.7, 0.9};
	double width;

	(void)state;
	for (int i = 0; i < 4; i++) {
		double percent = coverage(64, likenesses[i], &width);

		print_message("# 64 values, each %.1f of the one before: the interval of 95 %% has "
			      "the mean in it in %.1f %%; %.2f of the least width\n",
			      likenesses[i], percent, width);
		assert_true(percent >= 93);
	}
	assert_true(coverage(128, 0.9, &width) >= 93);
	assert_true(coverage(16, 0, &width) >= 95);
}

/* One event or two say nothing of how many come; three do. Phases of half of the run neither. */
static void what_is_not_known_is_said(void **state)
{
	double value[64];

	(void)state;
	for (int i = 0; i < 64; i++)
		value[i] = 100 + i % 3 + (i / 4 == 3 || i / 4 == 9 ? -60 : 0);
	assert_int_equal(interval_of_run(value, 64, 95).state, INTERVAL_EVENTS);
	assert_true(isinf(interval_of_run(value, 64, 95).half));
	value[40] = value[50] = 40;
	assert_int_equal(interval_of_run(value, 64, 95).state, INTERVAL_KNOWN);
	for (int i = 0; i < 64; i++)
		value[i] = 100 + i % 3 + (i / 32 ? 10 : 0);
	assert_int_equal(interval_of_run(value, 64, 95).state, INTERVAL_PHASES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(students_t_is_as_in_tables),
		cmocka_unit_test(too_few_values_say_nothing),
		cmocka_unit_test(equal_values_are_sure),
		cmocka_unit_test(the_interval_of_a_run_has_the_mean_in_it),
		cmocka_unit_test(what_is_not_known_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

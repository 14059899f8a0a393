// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* quantile: ranks against tables of the binomial distribution. */
#include "stat/quantile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stat/beta.h"
#include "stat/interval.h"
#include "stat/series.h"

static void ranks_are_as_in_tables(void **state)
{
	/* the binomial distribution's 2.5 and 97.5 % quantiles (R: qbinom), the upper one plus 1 */
	static const struct {
		double percent;
		uint64_t count, low, high;
	} table[] = {
		{50, 10, 2, 9},
		{50, 100, 40, 61},
		{99, 1000, 983, 997},
		{90, 1000, 881, 919},
		{99, 100, 97, 101},
		{50, 5, 0, 6},
		{99, 100000, 98938, 99062},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct quantile_ranks r = quantile_ranks(table[i].percent, table[i].count, 95);

		print_message("%g of %llu: %llu %llu\n", table[i].percent,
			      (unsigned long long)table[i].count, (unsigned long long)r.low,
			      (unsigned long long)r.high);
		assert_int_equal(r.low, table[i].low);
		assert_int_equal(r.high, table[i].high);
	}
}

static void of_a_histogram(void **state)
{
	struct hist *h = malloc(sizeof(*h));
	struct quantile_ranks r = quantile_ranks(90, 200, 95);
	struct quantile b;

	(void)state;
	hist_reset(h);
	for (int i = 0; i < 200; i++)
		hist_add(h, (uint64_t)(100 + i));
	b = quantile_of_hist(h, 90, 95);
	assert_true(b.value == 279 && b.low == 99 + (double)r.low && b.high == 99 + (double)r.high);
	assert_true(b.low < b.value && b.value < b.high);
	b = quantile_of_hist(h, 99.9, 95);
	assert_true(b.value == 299 && isnan(b.high) && b.low > 290);
	hist_reset(h);
	assert_true(isnan(quantile_of_hist(h, 50, 95).value));
	free(h);
}

/* 8 of 9 outcomes are as far as this from the middle, or nearer; and a billion do not tire it. */
static void beta_is_as_in_tables(void **state)
{
	(void)state;
	assert_true(fabs(beta_incomplete(2, 3, 0.5) - 0.6875) < 1e-9);
	assert_true(fabs(beta_incomplete(0.5, 0.5, 0.25) - 1.0 / 3) < 1e-9);
	assert_true(beta_incomplete(2, 3, 0) == 0 && beta_incomplete(2, 3, 1) == 1);
	assert_true(fabs(beta_incomplete(5e8, 5e8, 0.5) - 0.5) < 1e-4);
	assert_true(fabs(interval_p(2.2281, 10) - 0.05) < 1e-4);
}

/* Short windows say how correlated they are only together. */
static void parts_have_one_correlation_time(void **state)
{
	double value[2000], at = 0;
	struct series_part part[100];
	uint64_t x = 5;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		double sum = 0;

		for (int k = 0; k < 12; k++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
			sum += (double)(x >> 11) / 0x1p53 - 0.5;
		}
		at = 0.8 * at + sum;
		value[i] = 100 + at;
		part[i / 20] = (struct series_part){value + i / 20 * 20, 20};
	}
	/* (1 + 0.8) / (1 - 0.8) */
	assert_true(fabs(series_correlation_time(part, 100) - 9) < 2.5);
	assert_true(series_correlation_time(part, 0) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_as_in_tables),
		cmocka_unit_test(of_a_histogram),
		cmocka_unit_test(beta_is_as_in_tables),
		cmocka_unit_test(parts_have_one_correlation_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hist, mean and standard deviation: against those of the samples themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hist_samples.h"

/* Of the root mean square: see hist.h. */
#define STDEV_ERROR (1.2 / 1024)

/* By two passes over the samples, in long double. */
static void moments_of(const uint64_t *v, size_t count, long double *mean, long double *stdev)
{
	long double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		sum += (long double)v[i];
	*mean = sum / (long double)count;
	for (size_t i = 0; i < count; i++)
		squares += ((long double)v[i] - *mean) * ((long double)v[i] - *mean);
	*stdev = sqrtl(squares / (long double)count);
}

static void the_moments_are_those_of_the_samples(void **state)
{
	(void)state;
	for (size_t d = 0; d < DISTRIBUTIONS; d++) {
		struct hist *h = new_hist();
		uint64_t *v = new_samples(distributions[d], d + 1, h);
		long double mean, stdev;

		moments_of(v, SAMPLES, &mean, &stdev);
		assert_int_equal(hist_count(h), SAMPLES);
		assert_int_equal(h->min, v[0]);
		assert_int_equal(h->max, v[SAMPLES - 1]);
		expect_close(hist_mean(h), (double)mean, 1e-15);
		if (fabs(hist_stdev(h) - (double)stdev) >
		    hypot((double)mean, (double)stdev) * STDEV_ERROR)
			fail_msg("distribution %zu: deviation %g, want %Lg", d, hist_stdev(h),
				 stdev);
		free(v);
		free(h);
	}
}

/* Where the samples fill more than a few buckets, what lies in one is known well on the average. */
static void the_deviation_of_many_buckets_is_better(void **state)
{
	static const draw_fn smooth[] = {uniform_small, uniform_large, exponential, log_uniform,
					 hump_and_tail};

	(void)state;
	for (size_t d = 0; d < sizeof(smooth) / sizeof(smooth[0]); d++) {
		struct hist *h = new_hist();
		uint64_t *v = new_samples(smooth[d], d + 1, h);
		long double mean, stdev;

		moments_of(v, SAMPLES, &mean, &stdev);
		expect_close(hist_stdev(h), (double)stdev, 2e-4);
		free(v);
		free(h);
	}
}

/* One bucket that all samples share says no more than how far the least is from the largest. */
static void what_is_constant_does_not_deviate(void **state)
{
	static const uint64_t base[] = {
		0, 1000, 3000000001, UINT64_C(1) << 43, (UINT64_C(1) << 50) + 7, HIST_MOST - 2};

	(void)state;
	for (size_t b = 0; b < sizeof(base) / sizeof(base[0]); b++) {
		struct hist *h = new_hist();

		for (int i = 0; i < 1000; i++)
			hist_add(h, base[b]);
		assert_true(hist_stdev(h) == 0);
		for (int i = 0; i < 1000; i++)
			hist_add(h, base[b] + 2);
		expect_close(hist_mean(h), (double)(base[b] + 1), 1e-15);
		assert_true(hist_stdev(h) > 0.8 && hist_stdev(h) <= 1);
		free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_moments_are_those_of_the_samples),
		cmocka_unit_test(the_deviation_of_many_buckets_is_better),
		cmocka_unit_test(what_is_constant_does_not_deviate),
	};

	return cmocka_run_group_tests_name("hist_moments", tests, NULL, NULL);
}

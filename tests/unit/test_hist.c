// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hist: against the sorted samples themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"

#define SAMPLES 20011 /* a prime: no percentile falls on a sample's edge by luck */

static const double percents[] = {0.001, 1,  10, 25,   33.3, 50,    66.6,   75,
				  90,    95, 99, 99.5, 99.9, 99.99, 99.999, 100};

#define PERCENTS (sizeof(percents) / sizeof(percents[0]))

struct random {
	uint64_t x;
};

/* splitmix64: the same numbers on every machine. */
static uint64_t draw(struct random *r)
{
	uint64_t z = (r->x += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static double draw_unit(struct random *r)
{
	return (double)((draw(r) >> 11) + 1) / 9007199254740993.0;
}

static uint64_t uniform_small(struct random *r)
{
	return draw(r) % 1000;
}

static uint64_t uniform_large(struct random *r)
{
	return draw(r) >> 14; /* below 2^50 */
}

static uint64_t exponential(struct random *r)
{
	return (uint64_t)(-log(draw_unit(r)) * 5000);
}

/* Every order of magnitude alike. */
static uint64_t log_uniform(struct random *r)
{
	return draw(r) >> (14 + draw(r) % 50);
}

/* What a ping-pong looks like: a narrow hump with a far tail. */
static uint64_t hump_and_tail(struct random *r)
{
	uint64_t base = 4200 + draw(r) % 60;

	return draw(r) % 1000 ? base : base * 300 + draw(r) % 100000;
}

static uint64_t constant(struct random *r)
{
	(void)r;
	return 123456789;
}

static uint64_t two_values(struct random *r)
{
	return draw(r) & 1 ? 1023 : 1024;
}

static uint64_t powers(struct random *r)
{
	uint64_t one = UINT64_C(1) << draw(r) % 50;

	return one + draw(r) % 3 - 1;
}

typedef uint64_t (*draw_fn)(struct random *r);

static const draw_fn distributions[] = {uniform_small, uniform_large, exponential, log_uniform,
					hump_and_tail, constant,      two_values,  powers};

#define DISTRIBUTIONS (sizeof(distributions) / sizeof(distributions[0]))

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct hist *new_hist(void)
{
	struct hist *h = malloc(sizeof(*h));

	assert_non_null(h);
	memset(h, 0xa5, sizeof(*h));
	hist_reset(h);
	return h;
}

/* SAMPLES sorted numbers, also recorded in H unless that is NULL. */
static uint64_t *new_samples(draw_fn fn, uint64_t seed, struct hist *h)
{
	uint64_t *v = malloc(SAMPLES * sizeof(*v));
	struct random r = {seed};

	assert_non_null(v);
	for (size_t i = 0; i < SAMPLES; i++) {
		v[i] = fn(&r);
		if (h)
			hist_add(h, v[i]);
	}
	qsort(v, SAMPLES, sizeof(*v), compare);
	return v;
}

static void expect_close(double got, double want, double relative)
{
	if (fabs(got - want) > fabs(want) * relative)
		fail_msg("got %.17g, want %.17g within %g", got, want, relative);
}

/* Smallest rank with rank/count >= percent/100, by trying, in integers of 1/1000 percent. */
static size_t exact_rank(double percent, size_t count)
{
	uint64_t thousandths = (uint64_t)llround(percent * 1000);

	return (size_t)((thousandths * count + 99999) / 100000);
}

static void percentiles_are_those_of_the_sorted_samples(void **state)
{
	(void)state;
	for (size_t d = 0; d < DISTRIBUTIONS; d++) {
		struct hist *h = new_hist();
		uint64_t *v = new_samples(distributions[d], d + 1, h);

		for (size_t i = 0; i < PERCENTS; i++) {
			double want = (double)v[exact_rank(percents[i], SAMPLES) - 1];
			double got = hist_percentile(h, percents[i]);

			expect_close(got, want, 0.001);
			assert_true(got >= (double)v[0] && got <= (double)v[SAMPLES - 1]);
		}
		free(v);
		free(h);
	}
}

/* Distinct small values have a bucket each, so a rank that is off by one shows. */
static void the_rank_is_exact_for_any_count(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	for (unsigned count = 1; count <= 1000; count++) {
		hist_add(h, count);
		for (size_t i = 0; i < PERCENTS; i++) {
			size_t want = exact_rank(percents[i], count);

			if (hist_percentile(h, percents[i]) != (double)want)
				fail_msg("p%g of 1..%u: %g, want %zu", percents[i], count,
					 hist_percentile(h, percents[i]), want);
		}
	}
	free(h);
}

static void the_moments_are_exact(void **state)
{
	(void)state;
	for (size_t d = 0; d < DISTRIBUTIONS; d++) {
		struct hist *h = new_hist();
		uint64_t *v = new_samples(distributions[d], d + 1, h);
		long double mean = 0, variance = 0;

		for (size_t i = 0; i < SAMPLES; i++)
			mean += (long double)v[i];
		mean /= SAMPLES;
		for (size_t i = 0; i < SAMPLES; i++)
			variance += ((long double)v[i] - mean) * ((long double)v[i] - mean);
		assert_int_equal(h->count, SAMPLES);
		assert_int_equal(h->min, v[0]);
		assert_int_equal(h->max, v[SAMPLES - 1]);
		expect_close(hist_mean(h), (double)mean, 1e-15);
		expect_close(hist_stdev(h), (double)sqrtl(variance / SAMPLES), 1e-9);
		free(v);
		free(h);
	}
}

/* Seconds in ticks that differ by one: Σx² and mean² agree in all but the last digits. */
static void the_deviation_survives_cancellation(void **state)
{
	static const uint64_t base[] = {1000, 3000000001, UINT64_C(1) << 43,
					(UINT64_C(1) << 50) + 7};

	(void)state;
	for (size_t b = 0; b < sizeof(base) / sizeof(base[0]); b++) {
		struct hist *h = new_hist();

		for (int i = 0; i < 1000; i++)
			hist_add(h, base[b]);
		assert_true(hist_stdev(h) == 0);
		for (int i = 0; i < 1000; i++)
			hist_add(h, base[b] + 2);
		expect_close(hist_mean(h), (double)(base[b] + 1), 1e-15);
		expect_close(hist_stdev(h), 1, 1e-9);
		free(h);
	}
}

static void the_ends_of_the_range(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	assert_int_equal(hist_index(0), 0);
	assert_int_equal(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
	hist_add(h, 0);
	assert_true(hist_percentile(h, 50) == 0 && hist_mean(h) == 0 && hist_stdev(h) == 0);
	assert_int_equal(h->max, 0);
	hist_reset(h);
	hist_add(h, UINT64_MAX);
	assert_int_equal(h->min, UINT64_MAX);
	assert_int_equal(h->max, UINT64_MAX);
	assert_true(hist_percentile(h, 0.001) == (double)UINT64_MAX);
	assert_true(hist_mean(h) == (double)UINT64_MAX);
	assert_true(hist_stdev(h) == 0);
	hist_add(h, 0);
	assert_true(hist_percentile(h, 50) == 0);
	assert_true(hist_percentile(h, 51) == (double)UINT64_MAX);
	expect_close(hist_mean(h), (double)UINT64_MAX / 2, 1e-15);
	expect_close(hist_stdev(h), (double)UINT64_MAX / 2, 1e-15);
	hist_add(h, UINT64_MAX);
	expect_close(hist_mean(h), (double)UINT64_MAX / 3 * 2, 1e-15);
	free(h);
}

static void an_empty_one_is_zero(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	assert_int_equal(h->count, 0);
	assert_true(hist_percentile(h, 50) == 0 && hist_mean(h) == 0 && hist_stdev(h) == 0);
	free(h);
}

static void buckets_join_without_gap(void **state)
{
	uint64_t next = 0;

	(void)state;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		uint64_t low = hist_bucket_low(i), width = hist_bucket_width(i);

		assert_int_equal(low, next);
		assert_true(width > 0);
		assert_int_equal(hist_index(low), i);
		assert_int_equal(hist_index(low + (width - 1)), i);
		assert_int_equal(hist_index(low + width / 2), i);
		/* Half a bucket is the error of its middle. */
		assert_true((double)(width - 1) / 2 <= (double)low / 1024);
		next = low + width;
	}
	assert_int_equal(next, 0); /* 2^64 */
}

static void merging_is_recording_both(void **state)
{
	struct hist *all = new_hist(), *one = new_hist(), *sum = new_hist();

	(void)state;
	for (size_t d = 0; d < DISTRIBUTIONS; d++) {
		hist_reset(one);
		free(new_samples(distributions[d], d + 7, one));
		free(new_samples(distributions[d], d + 7, all));
		hist_merge(sum, one);
	}
	assert_memory_equal(sum, all, sizeof(*all));
	hist_reset(one);
	hist_merge(sum, one);
	assert_memory_equal(sum, all, sizeof(*all));
	hist_merge(one, sum);
	assert_memory_equal(one, all, sizeof(*all));
	free(all);
	free(one);
	free(sum);
}

static void it_is_small(void **state)
{
	(void)state;
	assert_true(sizeof(struct hist) <= 256 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_those_of_the_sorted_samples),
		cmocka_unit_test(the_rank_is_exact_for_any_count),
		cmocka_unit_test(the_moments_are_exact),
		cmocka_unit_test(the_deviation_survives_cancellation),
		cmocka_unit_test(the_ends_of_the_range),
		cmocka_unit_test(an_empty_one_is_zero),
		cmocka_unit_test(buckets_join_without_gap),
		cmocka_unit_test(merging_is_recording_both),
		cmocka_unit_test(it_is_small),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}

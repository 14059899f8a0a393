// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hist: against the sorted samples themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hist_samples.h"

static const double percents[] = {0.001, 1,  10, 25,   33.3, 50,    66.6,   75,
				  90,    95, 99, 99.5, 99.9, 99.99, 99.999, 100};

#define PERCENTS (sizeof(percents) / sizeof(percents[0]))

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

static void the_ends_of_the_range(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	assert_int_equal(hist_index(0), 0);
	assert_int_equal(hist_index(HIST_MOST), HIST_BUCKETS - 1);
	hist_add(h, 0);
	assert_true(hist_percentile(h, 50) == 0 && hist_mean(h) == 0 && hist_stdev(h) == 0);
	assert_int_equal(h->max, 0);
	assert_int_equal(hist_count(h), 1);
	hist_reset(h);
	hist_add(h, HIST_MOST);
	assert_int_equal(h->min, HIST_MOST);
	assert_int_equal(h->max, HIST_MOST);
	assert_true(hist_percentile(h, 0.001) == (double)HIST_MOST);
	assert_true(hist_mean(h) == (double)HIST_MOST);
	assert_true(hist_stdev(h) == 0);
	hist_add(h, 0);
	assert_true(hist_percentile(h, 50) == 0);
	assert_true(hist_percentile(h, 51) == (double)HIST_MOST);
	expect_close(hist_mean(h), (double)HIST_MOST / 2, 1e-15);
	expect_close(hist_stdev(h), (double)HIST_MOST / 2, 0.001);
	hist_add(h, HIST_MOST);
	expect_close(hist_mean(h), (double)HIST_MOST / 3 * 2, 1e-15);
	free(h);
}

/* Such as the difference of two readings of a clock that went backwards: the first, or a later one.
 */
static void what_is_too_large_counts_as_the_most(void **state)
{
	static const uint64_t large[] = {HIST_MOST + 1, HIST_MOST + 2, UINT64_C(1) << 62,
					 INT64_MAX,     INT64_MIN,     UINT64_MAX - 1,
					 UINT64_MAX};
	const size_t count = sizeof(large) / sizeof(large[0]);
	struct hist *h = new_hist();

	(void)state;
	for (size_t i = 0; i < count; i++)
		hist_add(h, large[i]);
	assert_int_equal(h->min, HIST_MOST);
	assert_int_equal(h->max, HIST_MOST);
	assert_int_equal(h->bucket[HIST_BUCKETS - 1], count);
	assert_int_equal(h->sum, count * HIST_MOST);
	hist_reset(h);
	hist_add(h, 7);
	for (size_t i = 0; i < count; i++)
		hist_add(h, large[i]);
	assert_int_equal(h->min, 7);
	assert_int_equal(hist_count(h), count + 1);
	assert_int_equal(h->bucket[HIST_BUCKETS - 1], count);
	free(h);
}

static void an_empty_one_is_zero(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	assert_int_equal(hist_count(h), 0);
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
		next = low + width;
		if (!width)
			continue; /* among the lowest there are fewer integers than buckets */
		assert_int_equal(hist_index(low), i);
		assert_int_equal(hist_index(low + (width - 1)), i);
		assert_int_equal(hist_index(low + width / 2), i);
		/* Half a bucket is the error of its middle. */
		assert_true((double)(width - 1) / 2 <= (double)low / 1024);
		assert_true(low >= 1023 || width == 1);
	}
	assert_int_equal(next, HIST_MOST + 1);
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

/* Each time it takes itself in there are twice as many, so it does not take 10^8 calls. */
static void many_samples_are_few_merges(void **state)
{
	struct hist *h = new_hist();
	uint64_t *v = new_samples(hump_and_tail, 1, h), shown = 0;
	double before[PERCENTS];
	const double mean = hist_mean(h), stdev = hist_stdev(h);

	(void)state;
	for (size_t i = 0; i < PERCENTS; i++)
		before[i] = hist_percentile(h, percents[i]);
	for (shown = SAMPLES; shown < 100000000; shown *= 2)
		hist_merge(h, h);
	assert_int_equal(hist_count(h), shown);
	assert_int_equal(h->min, v[0]);
	assert_int_equal(h->max, v[SAMPLES - 1]);
	expect_close(hist_mean(h), mean, 1e-15);
	expect_close(hist_stdev(h), stdev, 1e-9);
	for (size_t i = 0; i < PERCENTS; i++)
		if (before[i] < (double)h->max)
			assert_true(hist_percentile(h, percents[i]) == before[i]);
		else /* the last sample alone is known exactly, one of thousands is not */
			expect_close(hist_percentile(h, percents[i]), before[i], 0.001);
	free(v);
	free(h);
}

/* 900 of 10, and one of 1000: a stall of a tenth of all time is no percentile. */
static void a_stall_of_a_tenth_of_the_time(void **state)
{
	struct hist *h = new_hist();
	struct hist_excess e;

	(void)state;
	for (int i = 0; i < 900; i++)
		hist_add(h, 10);
	hist_add(h, 1000);
	assert_true(hist_percentile(h, 99) == 10);
	e = hist_excess(h, 100, 10);
	assert_int_equal(e.count, 1);
	assert_true(e.sum == 990);
	e = hist_excess(h, 1001, 10);
	assert_true(e.count == 0 && e.sum == 0);
	e = hist_excess(h, 10, 10);
	assert_true(e.count == 901 && e.sum == 990);
	free(h);
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
		cmocka_unit_test(the_ends_of_the_range),
		cmocka_unit_test(what_is_too_large_counts_as_the_most),
		cmocka_unit_test(an_empty_one_is_zero),
		cmocka_unit_test(buckets_join_without_gap),
		cmocka_unit_test(merging_is_recording_both),
		cmocka_unit_test(many_samples_are_few_merges),
		cmocka_unit_test(a_stall_of_a_tenth_of_the_time),
		cmocka_unit_test(it_is_small),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hist: stalls, and percentiles corrected for the expected interval, against doing it one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hist_samples.h"

static const double percents[] = {0.001, 1, 10, 33.3, 50, 66.6, 90, 99, 99.9, 99.99, 100};

#define PERCENTS (sizeof(percents) / sizeof(percents[0]))

/* All samples and those beside them, sorted. The caller frees it. */
struct long_list {
	uint64_t *v;
	size_t count;
};

static struct long_list one_by_one(const uint64_t *v, size_t samples, uint64_t interval)
{
	struct long_list l = {NULL, 0};
	size_t room = 0;

	for (size_t i = 0; i < samples; i++)
		room += 1 + v[i] / interval;
	l.v = malloc(room * sizeof(*l.v));
	assert_non_null(l.v);
	for (size_t i = 0; i < samples; i++) {
		l.v[l.count++] = v[i];
		for (uint64_t at = v[i]; at >= 2 * interval; at -= interval)
			l.v[l.count++] = at - interval;
	}
	qsort(l.v, l.count, sizeof(*l.v), compare);
	return l;
}

/* The smallest that so many percent of them are no larger than: in integers of 1/1000 percent. */
static double exact(const struct long_list *l, double percent)
{
	uint64_t thousandths = (uint64_t)llround(percent * 1000);

	return (double)l->v[(thousandths * l->count + 99999) / 100000 - 1];
}

/* Below 1023 each value has a bucket: every percentile is that of the long list, to the last bit. */
static void small_values_are_corrected_exactly(void **state)
{
	struct hist *h = new_hist();
	struct random r = {5};
	uint64_t v[500];

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		uint64_t interval = 1 + draw(&r) % 200, most = 1 + draw(&r) % 1022;
		size_t samples = 1 + draw(&r) % 500;
		struct long_list l;

		hist_reset(h);
		for (size_t i = 0; i < samples; i++)
			hist_add(h, v[i] = draw(&r) % (draw(&r) % 10 ? most / 8 + 1 : most));
		l = one_by_one(v, samples, interval);
		assert_int_equal(hist_corrected_count(h, interval), l.count);
		for (size_t i = 0; i < PERCENTS; i++)
			if (hist_corrected_percentile(h, interval, percents[i]) !=
			    exact(&l, percents[i]))
				fail_msg("%g %% of %zu, interval %ju: %g, want %g", percents[i],
					 l.count, (uintmax_t)interval,
					 hist_corrected_percentile(h, interval, percents[i]),
					 exact(&l, percents[i]));
		free(l.v);
	}
	free(h);
}

/* A ping-pong of about 4.2 us with stalls of up to 2 ms, and ones of any length. */
static void large_ones_within_the_width_of_a_bucket(void **state)
{
	static const struct {
		draw_fn fn;
		uint64_t interval;
	} cases[] = {{hump_and_tail, 4230}, {hump_and_tail, 40000}, {exponential, 3466}};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct hist *h = new_hist();
		uint64_t *v = new_samples(cases[c].fn, 3, h);
		struct long_list l = one_by_one(v, SAMPLES, cases[c].interval);

		expect_close((double)hist_corrected_count(h, cases[c].interval), (double)l.count,
			     0.001);
		for (size_t i = 0; i < PERCENTS; i++)
			expect_close(
				hist_corrected_percentile(h, cases[c].interval, percents[i]),
				exact(&l, percents[i]), 0.003);
		free(l.v);
		free(v);
		free(h);
	}
}

/* 900 of 10, and one of 1000 that stands for 99 that would have been: a tenth of all time. */
static void a_stall_of_a_tenth_of_the_time(void **state)
{
	struct hist *h = new_hist();
	struct hist_excess e;

	(void)state;
	for (int i = 0; i < 900; i++)
		hist_add(h, 10);
	hist_add(h, 1000);
	assert_true(hist_percentile(h, 99) == 10);
	assert_int_equal(hist_corrected_count(h, 10), 1000);
	assert_true(hist_corrected_percentile(h, 10, 50) == 10);
	assert_true(hist_corrected_percentile(h, 10, 90) == 10);
	assert_true(hist_corrected_percentile(h, 10, 95) == 500);
	assert_true(hist_corrected_percentile(h, 10, 99) == 900);
	assert_true(hist_corrected_percentile(h, 10, 99.9) == 990);
	assert_true(hist_corrected_percentile(h, 10, 100) == 1000);
	e = hist_excess(h, 100, 10);
	assert_int_equal(e.count, 1);
	assert_true(e.sum == 990);
	e = hist_excess(h, 1001, 10);
	assert_true(e.count == 0 && e.sum == 0);
	e = hist_excess(h, 10, 10);
	assert_true(e.count == 901 && e.sum == 990);
	free(h);
}

static void without_a_stall_nothing_changes(void **state)
{
	struct hist *h = new_hist();
	struct random r = {1};

	(void)state;
	assert_int_equal(hist_corrected_count(h, 1), 0);
	assert_true(hist_corrected_percentile(h, 1, 99) == 0);
	for (int i = 0; i < 10000; i++)
		hist_add(h, 5000 + draw(&r) % 4999);
	assert_int_equal(hist_corrected_count(h, 5000), 10000);
	for (size_t i = 0; i < PERCENTS; i++)
		assert_true(hist_corrected_percentile(h, 5000, percents[i]) ==
			    hist_percentile(h, percents[i]));
	free(h);
}

/* One by one these would be 10^16 samples. */
static void the_longest_stall_costs_no_more(void **state)
{
	struct hist *h = new_hist();
	double count = (double)HIST_MOST + 1000;

	(void)state;
	for (int i = 0; i < 1000; i++)
		hist_add(h, 1);
	hist_add(h, HIST_MOST);
	expect_close((double)hist_corrected_count(h, 1), count, 0.001);
	expect_close(hist_corrected_percentile(h, 1, 99), count * 0.99, 0.002);
	expect_close(hist_corrected_percentile(h, 1, 50), count * 0.5, 0.002);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_values_are_corrected_exactly),
		cmocka_unit_test(large_ones_within_the_width_of_a_bucket),
		cmocka_unit_test(a_stall_of_a_tenth_of_the_time),
		cmocka_unit_test(without_a_stall_nothing_changes),
		cmocka_unit_test(the_longest_stall_costs_no_more),
	};

	return cmocka_run_group_tests_name("hist_corrected", tests, NULL, NULL);
}

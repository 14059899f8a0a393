// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* clock: ticks become the nanoseconds that CLOCK_MONOTONIC_RAW counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define WINDOW_NS UINT64_C(50000000)

static uint64_t spin_until(uint64_t end_ns)
{
	uint64_t now;

	do {
		now = clock_raw_ns();
	} while (now < end_ns);
	return now;
}

static void the_source_is_named(void **state)
{
	struct clock c;

	(void)state;
	memset(&c, 0xa5, sizeof(c));
	clock_init(&c);
	assert_non_null(c.source);
	if (!c.use_counter)
		assert_string_equal(c.source, "clock_gettime");
	else if (strcmp(c.source, "tsc") != 0)
		assert_string_equal(c.source, "cntvct");
	print_message("source: %s\n", c.source);
}

static void ns_never_go_back(void **state)
{
	uint64_t now = clock_now_ns(), raw = clock_raw_ns();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t later_now = clock_now_ns(), later_raw = clock_raw_ns();

		assert_true(later_now >= now);
		assert_true(later_raw >= raw);
		now = later_now;
		raw = later_raw;
	}
}

/* How ticks and nanoseconds count the same window, 1 if alike. */
static double measure_ratio(const struct clock *c)
{
	uint64_t ns = clock_raw_ns();
	uint64_t ticks = clock_ticks(c);

	ns = spin_until(ns + WINDOW_NS) - ns;
	ticks = clock_ticks(c) - ticks;
	return clock_ticks_to_ns(c, (double)ticks) / (double)ns;
}

/* Being preempted between two readings spoils a try, but not all of them, nor all alike. */
static void check_rate(struct clock *c)
{
	double ratio = 0;

	clock_calibrate(c);
	for (int i = 0; i < 5 && !(ratio > 0.999 && ratio < 1.001); i++) {
		ratio = measure_ratio(c);
		print_message("%s: %.6f ns a tick, ratio %.6f\n", c->source, c->ns_per_tick, ratio);
	}
	assert_true(ratio > 0.999 && ratio < 1.001);
}

static void ticks_become_ns(void **state)
{
	struct clock c;

	(void)state;
	clock_init(&c);
	spin_until(c.start_ns + WINDOW_NS);
	check_rate(&c);
}

static void calibrating_at_once_takes_its_time(void **state)
{
	struct clock c;

	(void)state;
	clock_init(&c);
	check_rate(&c);
}

static void without_a_counter_a_tick_is_a_ns(void **state)
{
	struct clock c;
	uint64_t before, ticks, after;

	(void)state;
	clock_init(&c);
	c.use_counter = false;
	c.source = "clock_gettime";
	clock_calibrate(&c);
	assert_true(clock_ticks_to_ns(&c, 1234.5) == 1234.5);
	before = clock_raw_ns();
	ticks = clock_ticks(&c);
	after = clock_raw_ns();
	assert_in_range(ticks, before, after);
	check_rate(&c);
}

static void the_rate_does_not_drift_between_calibrations(void **state)
{
	struct clock c;
	double first;

	(void)state;
	clock_init(&c);
	clock_calibrate(&c);
	first = c.ns_per_tick;
	spin_until(clock_raw_ns() + WINDOW_NS);
	clock_calibrate(&c);
	assert_true(first > 0);
	assert_true(c.ns_per_tick / first > 0.999 && c.ns_per_tick / first < 1.001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_source_is_named),
		cmocka_unit_test(ns_never_go_back),
		cmocka_unit_test(ticks_become_ns),
		cmocka_unit_test(calibrating_at_once_takes_its_time),
		cmocka_unit_test(without_a_counter_a_tick_is_a_ns),
		cmocka_unit_test(the_rate_does_not_drift_between_calibrations),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}

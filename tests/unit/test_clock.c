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
#include "tree.h"

#define WINDOW_NS UINT64_C(50000000)
#define SOURCES   "devices/system/clocksource/clocksource0/"

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
	clock_init(&c, "/sys");
	assert_non_null(c.source);
	if (!c.use_counter)
		assert_string_equal(c.source, "clock_gettime");
	else if (strcmp(c.source, "tsc") != 0)
		assert_string_equal(c.source, "cntvct");
	print_message("source: %s\n", c.source);
}

/* What the kernel says, and whether its programs may keep time by the TSC then. */
static void the_kernel_s_choice_wins(void **state)
{
	static const struct {
		const char *current, *available; /* NULL: the attribute is not there */
		bool plain, invariant; /* the answer for a CPU without that bit, and with it */
	} row[] = {
		{"tsc\n", "tsc hpet acpi_pm \n", true, true},
		{"tsc", NULL, true, true},
		{"hpet\n", "hpet acpi_pm \n", false, false},
		{"hpet\n", "tsc hpet acpi_pm \n", false, false},
		{"acpi_pm\n", "acpi_pm \n", false, false},
		{"kvm-clock\n", "kvm-clock tsc acpi_pm \n", false, true},
		{"kvm-clock\n", "kvm-clock acpi_pm \n", false, false},
		{"kvm-clock\n", NULL, false, false},
		{"hyperv_clocksource_tsc_page\n",
		 "hyperv_clocksource_tsc_page hyperv_clocksource_msr tsc acpi_pm \n", false, true},
		{"hyperv_clocksource_msr\n", "hyperv_clocksource_msr tsc \n", false, false},
		{"xen\n", "xen tsc \n", false, false},
		{"tsc-early\n", "tsc-early hpet \n", false, false},
		{"", "", false, false},
		{NULL, "tsc \n", false, false},
		{NULL, NULL, false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		void *root = NULL;

		assert_int_equal(tree_make(&root), 0);
		if (row[i].current)
			tree_put(&root, SOURCES "current_clocksource", row[i].current);
		if (row[i].available)
			tree_put(&root, SOURCES "available_clocksource", row[i].available);
		assert_int_equal(clock_kernel_trusts_tsc(root, false), row[i].plain);
		assert_int_equal(clock_kernel_trusts_tsc(root, true), row[i].invariant);
		tree_remove(&root);
	}
}

static void without_a_word_of_the_kernel_there_is_no_counter(void **state)
{
	struct clock c;

	(void)state;
	clock_init(&c, "/nonexistent");
	if (strcmp(c.source, "cntvct") == 0) /* Arm's is always there */
		skip();
	assert_false(c.use_counter);
	assert_string_equal(c.source, "clock_gettime");
}

/* As if the counter had been STEP_NS further on when it was calibrated, 2 ms ago. */
static int check_after_step(double step_ns, struct clock *c, struct fault *f)
{
	clock_init(c, "/sys");
	clock_calibrate(c);
	spin_until(c->last.ns + 2000000);
	c->last.ticks += (uint64_t)(int64_t)(step_ns / c->ns_per_tick);
	memset(f, 0, sizeof(*f));
	return clock_check(c, f);
}

static void a_step_is_found(void **state)
{
	struct clock c;
	struct fault f;

	(void)state;
	clock_init(&c, "/sys");
	if (!c.use_counter)
		skip();
	assert_int_equal(check_after_step(0, &c, &f), 0);
	assert_false(fault_is(&f));
	/* back, by more than has gone by or less; then what follows is sound again */
	for (double step_ns = 1e6; step_ns < 1e11; step_ns *= 100) {
		assert_int_equal(check_after_step(step_ns, &c, &f), -1);
		assert_int_equal(f.code, FAULT_LOCAL);
		assert_non_null(strstr(f.call, "the clock went back during the run: "));
		assert_non_null(strstr(f.fix, "clocksource="));
		memset(&f, 0, sizeof(f));
		clock_calibrate(&c);
		assert_int_equal(clock_check(&c, &f), 0);
	}
	assert_int_equal(check_after_step(-1e6, &c, &f), -1);
	assert_non_null(strstr(f.call, "the clock jumped during the run: "));
}

static void a_step_between_rounds_is_forgotten(void **state)
{
	struct clock c;
	struct fault f = {0};
	double rate;

	(void)state;
	clock_init(&c, "/sys");
	clock_calibrate(&c);
	rate = c.ns_per_tick;
	c.last.ticks += (uint64_t)1e9;
	c.start.ticks += (uint64_t)1e9;
	clock_calibrate(&c);
	assert_true(rate / c.ns_per_tick > 0.99 && rate / c.ns_per_tick < 1.01);
	assert_int_equal(clock_check(&c, &f), 0);
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
	clock_init(&c, "/sys");
	spin_until(c.start.ns + WINDOW_NS);
	check_rate(&c);
}

static void calibrating_at_once_takes_its_time(void **state)
{
	struct clock c;

	(void)state;
	clock_init(&c, "/sys");
	check_rate(&c);
}

static void without_a_counter_a_tick_is_a_ns(void **state)
{
	struct clock c;
	uint64_t before, ticks, after;

	(void)state;
	clock_init(&c, "/sys");
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
	clock_init(&c, "/sys");
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
		cmocka_unit_test(the_kernel_s_choice_wins),
		cmocka_unit_test(without_a_word_of_the_kernel_there_is_no_counter),
		cmocka_unit_test(a_step_is_found),
		cmocka_unit_test(a_step_between_rounds_is_forgotten),
		cmocka_unit_test(ns_never_go_back),
		cmocka_unit_test(ticks_become_ns),
		cmocka_unit_test(calibrating_at_once_takes_its_time),
		cmocka_unit_test(without_a_counter_a_tick_is_a_ns),
		cmocka_unit_test(the_rate_does_not_drift_between_calibrations),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}

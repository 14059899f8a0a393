// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* trial: which way wins, and when nobody knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "loop/trial.h"

/* COUNT samples of each way, of A and B ticks, the first few of them spoilt. */
static struct trial with(unsigned count, uint64_t a, uint64_t b)
{
	struct trial t = {.clock_ticks = 10};

	for (unsigned i = 0; i < count; i++) {
		uint64_t spoilt = i < count / 5 ? 100000 : 0;

		trial_add(&t, 0, 10 + a + spoilt, 1);
		trial_add(&t, 1, 10 + b + spoilt, 1);
	}
	return t;
}

static void the_quicker_one_wins(void **state)
{
	struct trial t = with(30, 100, 80);
	uint32_t median[2];

	(void)state;
	assert_true(trial_decide(&t, median));
	assert_int_equal(median[0], 100);
	assert_int_equal(median[1], 80);
	t = with(30, 80, 100);
	assert_false(trial_decide(&t, median));
}

static void by_a_sixteenth_at_least(void **state)
{
	struct trial t = with(30, 170, 160);
	uint32_t median[2];

	(void)state;
	assert_false(trial_decide(&t, median));
	t = with(30, 171, 160);
	assert_true(trial_decide(&t, median));
}

/* As on soft-RoCE, where a post is a system call: the medians differ by chance. */
static void noise_decides_nothing(void **state)
{
	struct trial t = {.clock_ticks = 0};
	uint32_t median[2];

	(void)state;
	for (unsigned i = 0; i < TRIAL_SAMPLES; i++) {
		trial_add(&t, 0, 1000 + 20 * i, 1);
		trial_add(&t, 1, 800 + 20 * i, 1);
	}
	assert_false(trial_decide(&t, median));
	assert_true(median[1] + median[1] / 16 < median[0]);
}

static void too_few_samples_decide_nothing(void **state)
{
	struct trial t = with(TRIAL_ENOUGH - 1, 1000, 1);
	uint32_t median[2];

	(void)state;
	assert_false(trial_decide(&t, median));
	assert_int_equal(median[0], 0);
	assert_int_equal(median[1], 0);
	trial_add(&t, 1, 11, 1);
	assert_false(trial_decide(&t, median));
	assert_int_equal(median[1], 1);
}

/* The clock's part is taken off once, and what is left shared by those that were done. */
static void of_several_at_a_time(void **state)
{
	struct trial t = {.clock_ticks = 10};
	uint32_t median[2];

	(void)state;
	for (unsigned i = 0; i < 2 * TRIAL_SAMPLES; i++) {
		trial_add(&t, 0, 10 + 400, 4);
		trial_add(&t, 1, 7, 4); /* less than the clock takes */
	}
	assert_int_equal(t.count[0], TRIAL_SAMPLES);
	assert_true(trial_decide(&t, median));
	assert_int_equal(median[0], 100);
	assert_int_equal(median[1], 1);
}

static void turns_and_the_clock(void **state)
{
	struct clock c;
	struct trial t;

	(void)state;
	clock_init(&c, "/sys");
	trial_start(&t, &c);
	assert_true(t.clock_ticks < 100000);
	assert_int_equal(trial_turn(&t), 0);
	assert_int_equal(trial_turn(&t), 1);
	assert_int_equal(trial_turn(&t), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_quicker_one_wins),
		cmocka_unit_test(by_a_sixteenth_at_least),
		cmocka_unit_test(noise_decides_nothing),
		cmocka_unit_test(too_few_samples_decide_nothing),
		cmocka_unit_test(of_several_at_a_time),
		cmocka_unit_test(turns_and_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When a seat is to be looked at again: a client that does not end costs no CPU time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../pairs/run/run.h"

#define S UINT64_C(1000000000)

static struct run run = {.stop.fd = -1};

/* One that runs is due when it is to be interrupted, then when it is to be killed. */
static void due_when_it_is_to_be_interrupted_then_killed(void **state)
{
	uint64_t now_ns = run_now_ns(&run);
	struct run_seat seat = {.client = {.pid = 1, .fd = 5},
				.now.round = -1,
				.cut_ns = now_ns + 100 * S,
				.end_ns = now_ns + 200 * S};

	(void)state;
	assert_int_equal(run_seat_due_ns(&run, &seat), seat.cut_ns);
	seat.told = true;
	assert_int_equal(run_seat_due_ns(&run, &seat), seat.end_ns);
}

/* One that a driver holds, so that SIGKILL does not end it, is looked at a few times a second. */
static void looked_at_seldom_if_killed_and_still_there(void **state)
{
	uint64_t now_ns = run_now_ns(&run);
	struct run_seat seat = {.client = {.pid = 1, .fd = 5},
				.now.round = -1,
				.cut_ns = now_ns - 2 * S,
				.end_ns = now_ns - S,
				.told = true};

	(void)state;
	assert_true(run_seat_due_ns(&run, &seat) > now_ns + S / 100);
	assert_true(run_seat_due_ns(&run, &seat) < run_now_ns(&run) + S);
}

static void nothing_is_due_between_rounds(void **state)
{
	struct run_seat seat = {.now.round = -1};

	(void)state;
	assert_int_equal(run_seat_due_ns(&run, &seat), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(due_when_it_is_to_be_interrupted_then_killed),
		cmocka_unit_test(looked_at_seldom_if_killed_and_still_there),
		cmocka_unit_test(nothing_is_due_between_rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

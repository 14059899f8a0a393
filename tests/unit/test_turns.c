// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * turns: a loop in a real-time class ends by what its own thread does, with no other one running.
 * The class, and what gives the CPU up, are made up; so no privilege is needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/turns.h"

static int class;
static atomic_int yields, sleeps;

int sched_getscheduler(pid_t pid)
{
	(void)pid;
	return class;
}

int sched_yield(void)
{
	atomic_fetch_add(&yields, 1);
	return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)time, (void)left;
	atomic_fetch_add(&sleeps, 1);
	return 0;
}

/* A loop that only a turn of another thread ends, three of them. It does something if MOVES. */
static void spin(int in_class, bool moves, const atomic_int *until)
{
	_Atomic uint64_t progress = 1;
	struct fault f = {0};
	struct turns t;

	class = in_class;
	yields = sleeps = 0;
	assert_int_equal(turns_begin(&t, &progress, &f), 0);
	while (atomic_load(until) < 3)
		if (moves)
			atomic_fetch_add(&progress, 1);
	turns_end(&t);
	assert_true(moves ? !sleeps && !t.slept_ns : t.slept_ns > 0);
}

static void test_busy(void **state)
{
	(void)state;
	spin(SCHED_FIFO, true, &yields);
	spin(SCHED_RR, true, &yields);
	spin(SCHED_FIFO | SCHED_RESET_ON_FORK, true, &yields);
}

static void test_waiting(void **state)
{
	(void)state;
	spin(SCHED_FIFO, false, &sleeps);
	spin(SCHED_RR, false, &sleeps);
}

/* A loop that waits by the clock does not sleep. */
static void test_schedule(void **state)
{
	struct fault f = {0};
	struct turns t;

	(void)state;
	class = SCHED_FIFO;
	yields = sleeps = 0;
	assert_int_equal(turns_begin(&t, NULL, &f), 0);
	while (atomic_load(&yields) < 3)
		;
	turns_end(&t);
	turns_end(&t);
	assert_int_equal(sleeps, 0);
}

static void test_other_classes(void **state)
{
	_Atomic uint64_t progress = 0;
	struct fault f = {0};
	struct turns t;

	(void)state;
	class = SCHED_OTHER;
	assert_int_equal(turns_begin(&t, &progress, &f), 0);
	assert_int_equal(t.period_ns, 0);
	turns_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_other_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

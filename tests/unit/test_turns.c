// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * turns: a loop in a real-time class ends by what its own thread does, with no other one running.
 * The class, the time, and what gives the CPU up, are made up; so no privilege is needed.
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
static long step_ns; /* from one look at the clock to the next */
static atomic_int yields, sleeps;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static long ns;

	(void)clock;
	ns += step_ns;
	*now = (struct timespec){ns / 1000000000, ns % 1000000000};
	return 0;
}

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

/*
 * A loop that only a turn of another thread ends, three of them. It does something if MOVES, and
 * has pauses of PAUSE_NS. Returns how often it slept.
 */
static int spin(int in_class, bool moves, uint64_t pause_ns, const atomic_int *until)
{
	_Atomic uint64_t progress = 1;
	struct fault f = {0};
	struct turns t;

	class = in_class;
	step_ns = moves ? 0 : 2000000;
	yields = sleeps = 0;
	assert_int_equal(turns_begin(&t, &progress, pause_ns, &f), 0);
	while (atomic_load(until) < 3)
		if (moves)
			atomic_fetch_add(&progress, 1);
	turns_end(&t);
	assert_int_equal(t.slept_ns > 0, sleeps > 0);
	return sleeps;
}

static void test_busy(void **state)
{
	(void)state;
	assert_int_equal(spin(SCHED_FIFO, true, 0, &yields), 0);
	assert_int_equal(spin(SCHED_RR, true, 0, &yields), 0);
}

static void test_waiting(void **state)
{
	(void)state;
	spin(SCHED_FIFO, false, 0, &sleeps);
	spin(SCHED_RR, false, 0, &sleeps);
}

/* A loop that waits by the clock does not sleep, unless it waits for longer. */
static void test_schedule(void **state)
{
	(void)state;
	assert_int_equal(spin(SCHED_FIFO, false, UINT64_C(1000000000000), &yields), 0);
	spin(SCHED_FIFO, false, 1000000, &sleeps);
}

/* The other threads have a lower class: a yield is none for them. */
static void test_class_not_inherited(void **state)
{
	(void)state;
	spin(SCHED_FIFO | SCHED_RESET_ON_FORK, true, 0, &sleeps);
	assert_int_equal(yields, 0);
}

/* Who started the program may block the signal; and anybody may send it. */
static void test_signal(void **state)
{
	sigset_t set;
	int turns;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	spin(SCHED_FIFO, true, 0, &yields);
	turns = yields;
	raise(SIGRTMIN);
	assert_int_equal(yields, turns);
}

static void test_other_classes(void **state)
{
	_Atomic uint64_t progress = 0;
	struct fault f = {0};
	struct turns t;

	(void)state;
	class = SCHED_OTHER;
	assert_int_equal(turns_begin(&t, &progress, 0, &f), 0);
	assert_int_equal(t.period_ns, 0);
	turns_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_class_not_inherited),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_other_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

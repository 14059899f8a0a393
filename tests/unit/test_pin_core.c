// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pin_core: one CPU of those that the thread may have, from either end. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/pin.h"

/* The one CPU that the thread has, -1 if it has more. */
static int only_cpu(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; CPU_COUNT(&set) == 1 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return cpu;
	return -1;
}

static int pinned(unsigned nth, bool from_end)
{
	struct pin p = {.node = -1};
	int cpu;

	pin_core(&p, nth, from_end);
	cpu = only_cpu();
	assert_true(strstr(p.reason, "one CPU for each thread") != NULL);
	pin_undo(&p);
	return cpu;
}

static void two_programs_begin_at_either_end(void **state)
{
	cpu_set_t before, after;
	int first, last;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	if (CPU_COUNT(&before) < 2)
		skip();
	first = pinned(0, false);
	last = pinned(0, true);
	assert_true(first >= 0 && last >= 0 && first != last);
	assert_int_equal(pinned((unsigned)CPU_COUNT(&before) - 1, false), last);
	assert_int_equal(pinned((unsigned)CPU_COUNT(&before) - 1, true), first);
	assert_int_equal(pinned((unsigned)CPU_COUNT(&before), false), first); /* round again */
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_programs_begin_at_either_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

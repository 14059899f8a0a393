// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* counters: the traps of a change, and values that the kernel repeats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/clock.h"
#include "host/counters.h"
#include "tree.h"

#define PORT "class/infiniband/mlx5_0/ports/2"

/* Each trap, by a counter of that name, before and after. */
static void traps(void **state)
{
	static const struct {
		const char *name;
		int64_t before, after;
		enum port_known known;
		int64_t change;
	} trap[] = {
		{"counters/port_xmit_data", 100, 1100, PORT_EXACT, 1000},
		{"counters/port_rcv_errors", 65534, 65535, PORT_AT_LEAST, 1},
		{"counters/port_rcv_errors", 65535, 65535, PORT_SATURATED, 0},
		{"counters/port_rcv_errors", 65535, 0, PORT_SATURATED, 0},
		{"counters/port_rcv_errors", 9, 3, PORT_RESET, 0},
		{"counters/link_downed", 255, 255, PORT_SATURATED, 0},
		{"counters/excessive_buffer_overrun_errors", 15, 15, PORT_SATURATED, 0},
		{"counters/local_link_integrity_errors", 14, 15, PORT_AT_LEAST, 1},
		{"counters/port_xmit_wait", 4294967295, 4294967295, PORT_SATURATED, 0},
		{"hw_counters/port_rcv_errors", 65535, 65535, PORT_EXACT, 0},
		{"hw_counters/packet_seq_err", 4294967290, 4, PORT_EXACT, 10},
		{"hw_counters/packet_seq_err", 5000, 3, PORT_RESET, 0},
		{"hw_counters/packet_seq_err", 8589934592, 7, PORT_RESET, 0},
		{"hw_counters/packet_seq_err", 7, -7, PORT_RESET, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(trap) / sizeof(trap[0]); i++) {
		struct counter k = {.before = trap[i].before, .after = trap[i].after};
		enum port_known known;
		int64_t change;

		snprintf(k.name, sizeof(k.name), "%s", trap[i].name);
		known = counter_change(&k, &change);
		if (known != trap[i].known || change != trap[i].change)
			fail_msg("%s, %jd to %jd: known %d, change %jd", k.name,
				 (intmax_t)k.before, (intmax_t)k.after, known, (intmax_t)change);
		k.unreadable = true;
		assert_int_equal(counter_change(&k, &change), PORT_UNREADABLE);
	}
}

/* The kernel would repeat the values of the first reading. */
static void waits_for_new_values(void **state)
{
	struct counters_age age;
	uint64_t start_ns;

	tree_put(state, PORT "/hw_counters/lifespan", "15\n");
	age = counters_age(PORT);
	start_ns = age.read_ns;
	counters_refresh(&age);
	assert_true(age.read_ns - start_ns >= 15000000);
	assert_true(clock_now_ns() >= age.read_ns);
	tree_put(state, PORT "/hw_counters/lifespan", "9223372036854775807\n");
	assert_true(counters_age(PORT).lifespan_ns <= 50000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(waits_for_new_values, tree_make, tree_remove),
		cmocka_unit_test(traps),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}

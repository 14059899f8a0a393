// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* counters: names in every form, before and after, and what is not there. */
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

static int make(void **state)
{
	if (tree_make(state))
		return -1;
	tree_put(state, PORT "/counters/port_xmit_data", "100\n");
	tree_put(state, PORT "/counters/both", "1\n");
	tree_put(state, PORT "/hw_counters/both", "2\n");
	tree_put(state, PORT "/hw_counters/out_of_sequence", "7\n");
	tree_put(state, PORT "/hw_counters/lifespan", "10\n");
	tree_put(state, PORT "/hw_counters/words", "no number\n");
	return 0;
}

static void named(void **state)
{
	struct counters c;
	struct fault f = {0};

	assert_int_equal(
		counters_start(&c, "mlx5_0", 2, "counters/port_xmit_data,out_of_sequence,both", &f),
		0);
	assert_int_equal(c.count, 3);
	assert_false(c.all);
	assert_string_equal(c.list[0].name, "counters/port_xmit_data");
	assert_string_equal(c.list[1].name, "hw_counters/out_of_sequence");
	assert_string_equal(c.list[2].name, "hw_counters/both"); /* that folder comes first */
	tree_put(state, PORT "/counters/port_xmit_data", "1100\n");
	tree_put(state, PORT "/hw_counters/out_of_sequence", "gone\n");
	counters_stop(&c);
	assert_int_equal(c.list[0].before, 100);
	assert_int_equal(c.list[0].after, 1100);
	assert_int_equal(c.list[1].before, 7);
	assert_true(c.list[1].unreadable);
	counters_release(&c);
	assert_int_equal(c.count, 0);
	counters_release(&c);
}

static void all(void **state)
{
	struct counters c;
	struct fault f = {0};

	(void)state;
	assert_int_equal(counters_start(&c, "mlx5_0", 2, "all", &f), 0);
	assert_true(c.all);
	assert_int_equal(c.count, 4); /* neither the lifespan nor what is no number */
	assert_string_equal(c.list[0].name, "counters/both");
	assert_string_equal(c.list[3].name, "hw_counters/out_of_sequence");
	counters_release(&c);
}

static void refused(void **state)
{
	static const char *const lists[] = {
		"nonsense", "counters/nonsense",    "port_xmit_data,", "/etc/passwd", "../../../x",
		"words",    "both,,port_xmit_data",
	};
	struct counters c;

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct fault f = {0};

		if (counters_start(&c, "mlx5_0", 2, lists[i], &f) != -1)
			fail_msg("'%s' was taken", lists[i]);
		assert_int_equal(f.code, FAULT_USAGE);
		assert_true(f.cause[0] && f.fix[0]);
		counters_release(&c);
	}
	assert_int_equal(counters_start(&c, "mlx5_0", 1, "all", &(struct fault){0}), -1);
	counters_release(&c);
}

/* Each trap, by a counter of that name, before and after. */
static void traps(void **state)
{
	static const struct {
		const char *name;
		int64_t before, after;
		enum counter_caveat caveat;
		int64_t change;
	} trap[] = {
		{"counters/port_xmit_data", 100, 1100, COUNTER_EXACT, 1000},
		{"counters/port_rcv_errors", 65534, 65535, COUNTER_MINIMUM, 1},
		{"counters/port_rcv_errors", 65535, 65535, COUNTER_SATURATED, 0},
		{"counters/port_rcv_errors", 65535, 0, COUNTER_SATURATED, 0},
		{"counters/port_rcv_errors", 9, 3, COUNTER_RESET, 0},
		{"counters/link_downed", 255, 255, COUNTER_SATURATED, 0},
		{"counters/excessive_buffer_overrun_errors", 15, 15, COUNTER_SATURATED, 0},
		{"counters/local_link_integrity_errors", 14, 15, COUNTER_MINIMUM, 1},
		{"counters/port_xmit_wait", 4294967295, 4294967295, COUNTER_SATURATED, 0},
		{"hw_counters/port_rcv_errors", 65535, 65535, COUNTER_EXACT, 0},
		{"hw_counters/packet_seq_err", 4294967290, 4, COUNTER_EXACT, 10},
		{"hw_counters/packet_seq_err", 5000, 3, COUNTER_RESET, 0},
		{"hw_counters/packet_seq_err", 8589934592, 7, COUNTER_RESET, 0},
		{"hw_counters/packet_seq_err", 7, -7, COUNTER_RESET, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(trap) / sizeof(trap[0]); i++) {
		struct counter k = {.before = trap[i].before, .after = trap[i].after};
		enum counter_caveat caveat;
		int64_t change;

		snprintf(k.name, sizeof(k.name), "%s", trap[i].name);
		caveat = counter_change(&k, &change);
		if (caveat != trap[i].caveat || change != trap[i].change)
			fail_msg("%s, %jd to %jd: caveat %d, change %jd", k.name,
				 (intmax_t)k.before, (intmax_t)k.after, caveat, (intmax_t)change);
		k.unreadable = true;
		assert_int_equal(counter_change(&k, &change), COUNTER_UNREADABLE);
	}
	assert_null(counter_caveat_name(COUNTER_EXACT));
	for (int i = COUNTER_EXACT + 1; i < COUNTER_CAVEATS; i++)
		assert_non_null(counter_caveat_name(i));
}

/* The kernel would repeat the values of the first reading. */
static void waits_for_new_values(void **state)
{
	struct counters c;
	struct fault f = {0};
	uint64_t start_ns;

	tree_put(state, PORT "/hw_counters/lifespan", "15\n");
	assert_int_equal(counters_start(&c, "mlx5_0", 2, "out_of_sequence", &f), 0);
	start_ns = clock_now_ns();
	counters_stop(&c);
	assert_true(clock_now_ns() - start_ns >= 15000000);
	counters_release(&c);
	tree_put(state, PORT "/hw_counters/lifespan", "9223372036854775807\n");
	assert_true(counters_age(PORT).lifespan_ns <= 50000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(named, make, tree_remove),
		cmocka_unit_test_setup_teardown(all, make, tree_remove),
		cmocka_unit_test_setup_teardown(refused, make, tree_remove),
		cmocka_unit_test_setup_teardown(waits_for_new_values, make, tree_remove),
		cmocka_unit_test(traps),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}

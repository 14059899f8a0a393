// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* counters: names in every form, before and after, and what is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
	assert_int_equal(c.list[1].after, 7);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(named, make, tree_remove),
		cmocka_unit_test_setup_teardown(all, make, tree_remove),
		cmocka_unit_test_setup_teardown(refused, make, tree_remove),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}

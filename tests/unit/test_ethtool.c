// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ethtool: statistics by their names; interfaces that are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "host/ethtool.h"
#include "interfaces.h"
#include "tree.h"

static void statistics(void **state)
{
	static const char *const names[] = {"rx_a", "rx with spaces", "absent"};
	uint64_t value[3] = {1, 1, 1};
	struct ethtool e;

	assert_int_equal(ethtool_find(&e, "eth0", names, 3), -ENODEV);
	tree_put(state, "ethtool/eth0",
		 "NIC statistics:\n     rx_a: 5\n     [0]: rx: 7\n     rx with spaces: "
		 "18446744073709551615\n     rx_b: words\n");
	assert_int_equal(ethtool_find(&e, "eth0", names, 3), 0);
	assert_int_equal(e.statistics, 3);
	assert_int_equal(e.at[2], ETHTOOL_ABSENT);
	assert_int_equal(ethtool_read(&e, value), 0);
	assert_int_equal(value[0], 5);
	assert_true(value[1] == UINT64_MAX);
	assert_int_equal(value[2], 1);
	tree_put(state, "ethtool/eth0", "rx_a: 6\n");
	assert_int_equal(ethtool_read(&e, value), -ESTALE);
	assert_int_equal(ethtool_find(&e, "a-name-that-is-too-long", names, 3), -EINVAL);
	assert_int_equal(ethtool_find(&e, "../../etc", names, 3), -EINVAL);
}

/* The kernel itself, of interfaces that no machine has, and of one that has no such things. */
static void kernel(void **state)
{
	static const char *const names[] = {"rx_discards_phy"};
	struct ethtool e;

	(void)state;
	assert_true(ethtool_find(&e, "rdmark-none", names, 1) < 0); /* ENOTTY in an emulator */
	assert_true(ethtool_find(&e, "lo", names, 1) < 0);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(statistics),
		cmocka_unit_test(kernel),
	};

	return cmocka_run_group_tests_name("ethtool", tests, NULL, NULL);
}

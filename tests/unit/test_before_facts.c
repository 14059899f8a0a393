// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* before: the facts that are read, of a whole tree, of parts of one, and of none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <string.h>

#include "explain/before.h"
#include "before_world.h"
#include "interfaces.h"
#include "tree.h"
#include "verbs/hca.h"

#define NIC  "/devices/pci0000:40/0000:40:01.0/0000:41:00.0"
#define ROOT "/devices/pci0000:40/0000:40:01.0"

/* A card that can do gen5 x16, which got eight lanes, in a gen4 x16 slot. */
static void put_slot(void **state)
{
	static const char *const files[][2] = {
		{NIC "/current_link_speed", "16.0 GT/s PCIe"},
		{NIC "/current_link_width", "8"},
		{NIC "/max_link_speed", "32.0 GT/s PCIe"},
		{NIC "/max_link_width", "16"},
		{ROOT "/current_link_speed", "16.0 GT/s PCIe"},
		{ROOT "/current_link_width", "8"},
		{ROOT "/max_link_speed", "16.0 GT/s PCIe"},
		{ROOT "/max_link_width", "16"},
		{ROOT "/aer_dev_correctable", "RxErr 2\nBadTLP 5\nTOTAL_ERR_COR 7\n"},
		{ROOT "/aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 0\n"},
		{ROOT "/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 1\n"},
		{NIC "/aer_dev_correctable", "garbage\n"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		tree_put(state, files[i][0] + 1, files[i][1]);
	tree_link(state, "bus/pci/devices/0000:41:00.0", NIC);
	tree_link(state, "bus/pci/devices/0000:40:01.0", ROOT);
	tree_put(state, "class/net/eth0/mtu", "9000");
	tree_put(state, "class/infiniband/mlx5_0/ports/1/counters/symbol_error", "4");
	tree_put(state, "class/infiniband/mlx5_0/ports/1/counters/link_downed", "N/A (no PMA)");
	tree_put(state, "devices/system/node/node1/cpulist", "4-6");
	tree_put(state, "devices/system/cpu/cpu4/cpufreq/scaling_governor", "performance");
	tree_put(state, "devices/system/cpu/cpu5/cpufreq/scaling_governor", "schedutil");
}

static void facts_of_a_tree(void **state)
{
	struct world *w = healthy();
	struct hca_list list = {&w->port, 1};
	struct port_facts x;

	put_slot(state);
	strcpy(w->port.place.pci, "0000:41:00.0");
	strcpy(w->port.netdev, "eth0");
	port_facts_read(&x, &w->port, &list, &w->host);
	assert_true(x.link.gts == 16 && x.link.max_gts == 16);
	assert_int_equal(x.link.width, 8);
	assert_int_equal(x.link.max_width, 16);
	assert_false(x.own.known);
	assert_true(x.upstream.known && x.upstream.correctable == 7 && x.upstream.fatal == 1);
	assert_int_equal(x.netdev_mtu, 9000);
	assert_int_equal(x.cpus, 3);
	assert_int_equal(x.slow_cpus, 1);
	assert_string_equal(x.governor, "schedutil");
	assert_true(x.sibling_gbps == hca_rate_gbps(&w->port));
	assert_int_equal(x.counters, 1);
	tree_put(state, "class/infiniband/mlx5_0/ports/1/counters/symbol_error", "6");
	port_facts_read_again(&x, 1);
	assert_int_equal(x.counter[0].after - x.counter[0].before, 2);
}

/* A second port without a cable: DOWN, its counters at 0, the card's other port ACTIVE. */
static void facts_of_an_unplugged_port(void **state)
{
	static const char *const counters = "class/infiniband/mlx5_1/ports/1/counters/";
	struct world *w = healthy();
	struct hca_port port[2] = {w->port, w->port};
	struct hca_list list = {port, 2};
	char path[96];

	strcpy(port[0].place.pci, "0000:41:00.0");
	strcpy(port[1].place.pci, "0000:41:00.1");
	strcpy(port[1].device, "mlx5_1");
	port[1].port_attr.state = IBV_PORT_DOWN;
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_false(w->x.unplugged); /* no counters */
	snprintf(path, sizeof(path), "%slink_downed", counters);
	tree_put(state, path, "0");
	snprintf(path, sizeof(path), "%sport_rcv_data", counters);
	tree_put(state, path, "0");
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_true(w->x.unplugged);
	port[1].port_attr.state = IBV_PORT_INIT;
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_false(w->x.unplugged);
	port[1].port_attr.state = IBV_PORT_DOWN;
	tree_put(state, path, "9");
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_false(w->x.unplugged);
	tree_put(state, path, "0");
	strcpy(port[0].place.pci, "0000:42:00.0"); /* a rail that is missing */
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_false(w->x.unplugged);
}

/* Nothing is there: nothing is known, and nothing is found. */
static void facts_of_nothing(void **state)
{
	struct world *w = healthy();
	struct hca_list list = {&w->port, 1};

	(void)state;
	strcpy(w->port.place.pci, "0000:41:00.0");
	port_facts_read(&w->x, &w->port, &list, &w->host);
	port_facts_read_again(&w->x, 1);
	finds(w, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(facts_of_a_tree, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(facts_of_an_unplugged_port, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(facts_of_nothing, tree_make, tree_remove),
	};

	return cmocka_run_group_tests_name("before_facts", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* topo: NICs of many kinds in made-up sysfs trees and hwloc files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "host/topo.h"
#include "tree.h"

#define DATA "tests/unit/data/"

/* The files lie beside this source; the tests run in the repository's root. */
static void use_xml(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DATA "%s", name);
	if (access(path, R_OK)) {
		print_message("%s: not found; run this in the repository's root\n", path);
		skip();
	}
	setenv("HWLOC_XMLFILE", path, 1);
}

/* RDMA device DEV at PCI address PCI, whose numa_node file says NODE. */
static void put_nic(void **state, const char *dev, const char *pci, const char *node)
{
	char path[512], target[256];

	snprintf(target, sizeof(target), "/devices/pci0000:40/0000:40:01.0/%s", pci);
	snprintf(path, sizeof(path), "%s/numa_node", target + 1);
	tree_put(state, path, node);
	snprintf(path, sizeof(path), "class/infiniband/%s/device", dev);
	tree_link(state, path, target);
}

static void put_nodes(void **state, const char *online)
{
	tree_put(state, "devices/system/node/online", online);
}

static void put_link(void **state, const char *pci, const char *const text[4])
{
	static const char *const name[4] = {"current_link_speed", "max_link_speed",
					    "current_link_width", "max_link_width"};
	char path[256];

	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "devices/pci0000:40/0000:40:01.0/%s/%s", pci, name[i]);
		tree_put(state, path, text[i]);
	}
}

static void expect_place(const char *dev, const char *pci, int node)
{
	struct topo_place place;

	memset(&place, 0xa5, sizeof(place));
	topo_locate(dev, &place);
	assert_string_equal(place.pci, pci);
	assert_int_equal(place.numa_node, node);
}

static void sysfs_knows(void **state)
{
	put_nodes(state, "0-1\n");
	put_nic(state, "mlx5_0", "0000:41:00.0", "1\n");
	expect_place("mlx5_0", "0000:41:00.0", 1);
	put_nic(state, "vmd0", "10000:e1:00.7", "0\n");
	expect_place("vmd0", "10000:e1:00.7", 0);
}

static void a_missing_device_has_no_place(void **state)
{
	expect_place("mlx5_0", "", -1);
	put_nodes(state, "0-1\n");
	expect_place("mlx5_0", "", -1);
	expect_place("", "", -1);
	expect_place("../mlx5_0", "", -1);
}

static void one_node_is_the_node(void **state)
{
	put_nic(state, "mlx5_0", "0000:41:00.0", "-1\n");
	expect_place("mlx5_0", "0000:41:00.0", 0);
	put_nodes(state, "0\n");
	expect_place("mlx5_0", "0000:41:00.0", 0);
	put_nodes(state, "");
	expect_place("mlx5_0", "0000:41:00.0", 0);
}

static void a_junk_node_is_unknown(void **state)
{
	put_nodes(state, "0-1\n");
	put_nic(state, "a", "0000:41:00.0", "");
	expect_place("a", "0000:41:00.0", -1);
	put_nic(state, "b", "0000:42:00.0", "1 2\n");
	expect_place("b", "0000:42:00.0", -1);
	put_nic(state, "c", "0000:43:00.0", "99999999999\n");
	expect_place("c", "0000:43:00.0", -1);
	put_nic(state, "d", "0000:44:00.0", "-7\n");
	expect_place("d", "0000:44:00.0", -1);
}

static void soft_roce_is_where_its_netdev_is(void **state)
{
	put_nodes(state, "0-1\n");
	tree_put(state, "class/infiniband/rxe0/parent", "eth0\n");
	tree_put(state, "devices/pci0000:00/0000:00:03.0/numa_node", "1\n");
	tree_dir(state, "devices/pci0000:00/0000:00:03.0/virtio2");
	tree_link(state, "class/net/eth0/device", "/devices/pci0000:00/0000:00:03.0/virtio2");
	expect_place("rxe0", "0000:00:03.0", 1);
}

static void soft_roce_over_lo_has_no_place(void **state)
{
	put_nodes(state, "0\n");
	tree_put(state, "class/infiniband/rxe_lo/parent", "lo\n");
	tree_dir(state, "class/net/lo");
	expect_place("rxe_lo", "", -1);
}

static void a_strange_parent_is_none(void **state)
{
	tree_put(state, "class/infiniband/a/parent", "");
	expect_place("a", "", -1);
	tree_put(state, "class/infiniband/b/parent", "../../etc\n");
	expect_place("b", "", -1);
	tree_write(state, "class/infiniband/c/parent", "\0\xff\n", 3);
	expect_place("c", "", -1);
}

static void a_platform_device_may_know_its_node(void **state)
{
	put_nodes(state, "0-3\n");
	tree_put(state, "devices/platform/HISI00D1:00/numa_node", "2\n");
	tree_link(state, "class/infiniband/hns_0/device", "/devices/platform/HISI00D1:00");
	expect_place("hns_0", "", 2);
	tree_dir(state, "devices/platform/bare");
	tree_link(state, "class/infiniband/bare_0/device", "/devices/platform/bare");
	expect_place("bare_0", "", -1);
}

static void names_that_only_look_like_pci(void **state)
{
	static const char *const name[] = {"41:00.0",      "0000:41:00.8",     "0000:41:00.0x",
					   "0000:4:00.0",  "0000:041:0.0",     "0000:41:00",
					   "0000:4g:00.0", "000000000:41:00.0"};
	char dev[32], path[256];

	put_nodes(state, "0\n");
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		snprintf(path, sizeof(path), "/devices/virtual/%s", name[i]);
		tree_dir(state, path + 1);
		snprintf(dev, sizeof(dev), "class/infiniband/x%zu/device", i);
		tree_link(state, dev, path);
		snprintf(dev, sizeof(dev), "x%zu", i);
		expect_place(dev, "", -1);
	}
}

static void loops_and_outside_links_are_no_place(void **state)
{
	tree_link(state, "class/infiniband/a/device", "device");
	expect_place("a", "", -1);
	assert_int_equal(symlink("/", tree_path(state, "class/infiniband/b/device")), 0);
	expect_place("b", "", -1);
	assert_int_equal(symlink("/tmp", tree_path(state, "class/infiniband/c/device")), 0);
	expect_place("c", "", -1);
	setenv("RDMARK_SYSFS", "/nowhere", 1);
	expect_place("a", "", -1);
}

static void hwloc_tells_by_the_name_of_the_device(void **state)
{
	use_xml("two-nodes.xml");
	put_nodes(state, "0-1\n");
	expect_place("mlx5_0", "0000:41:00.0", 1);
	expect_place("mlx5_1", "0000:54:00.0", 1);
}

static void hwloc_tells_by_netdev_and_address(void **state)
{
	use_xml("two-nodes.xml");
	put_nodes(state, "0-1\n");
	put_nic(state, "other", "0000:03:00.0", "-1\n");
	expect_place("other", "0000:03:00.0", 0);
	put_nic(state, "moved", "0000:99:00.0", "-1\n");
	expect_place("moved", "0000:99:00.0", -1);
	tree_put(state, "class/infiniband/rxe0/parent", "ens1f0\n");
	expect_place("rxe0", "0000:41:00.0", 1);
}

static void the_file_wins_over_sysfs(void **state)
{
	use_xml("two-nodes.xml");
	put_nodes(state, "0-1\n");
	put_nic(state, "mlx5_0", "0000:41:00.0", "0\n");
	expect_place("mlx5_0", "0000:41:00.0", 1);
}

static void at_all_nodes_alike_is_unknown(void **state)
{
	(void)state;
	use_xml("two-nodes.xml");
	expect_place("mlx5_9", "0000:81:00.0", -1);
}

static void the_only_node_of_the_file(void **state)
{
	(void)state;
	use_xml("one-node.xml");
	expect_place("mlx5_0", "0000:41:00.0", 0);
}

static void a_missing_file_is_not_this_machine(void **state)
{
	put_nodes(state, "0\n");
	put_nic(state, "mlx5_0", "0000:41:00.0", "0\n");
	setenv("HWLOC_XMLFILE", "/nowhere/machine.xml", 1);
	expect_place("mlx5_0", "0000:41:00.0", -1);
	setenv("HWLOC_XMLFILE", "", 1);
	expect_place("mlx5_0", "0000:41:00.0", 0);
}

static void a_file_that_is_no_topology_is_not_this_machine(void **state)
{
	put_nodes(state, "0\n");
	put_nic(state, "mlx5_0", "0000:41:00.0", "0\n");
	tree_put(state, "junk.xml", "\x01\x02 no xml");
	setenv("HWLOC_XMLFILE", tree_path(state, "junk.xml"), 1);
	expect_place("mlx5_0", "0000:41:00.0", -1);
	tree_put(state, "junk.xml", "");
	expect_place("mlx5_0", "0000:41:00.0", -1);
	setenv("HWLOC_XMLFILE", *state, 1);
	expect_place("mlx5_0", "0000:41:00.0", -1);
	use_xml("future-version.xml");
	expect_place("mlx5_0", "0000:41:00.0", -1);
}

static void this_machine_has_no_such_device(void **state)
{
	struct topo_place place;

	(void)state;
	unsetenv("RDMARK_SYSFS");
	topo_locate("no_such_device", &place);
	assert_int_equal(place.numa_node, -1);
	assert_string_equal(place.pci, "");
}

static void expect_link(void **state, const char *const text[4], const char *want)
{
	struct topo_place place;
	char buf[128] = "stale";

	put_link(state, "0000:41:00.0", text);
	topo_locate("mlx5_0", &place);
	assert_ptr_equal(topo_format_link(&place, buf, sizeof(buf)), buf);
	assert_string_equal(buf, want);
}

static void the_link_is_what_it_trained_to(void **state)
{
	static const struct {
		const char *text[4];
		const char *want;
	} row[] = {
		{{"32.0 GT/s PCIe\n", "32.0 GT/s PCIe\n", "16\n", "16\n"}, "PCIe 32.0 GT/s x16"},
		{{"16.0 GT/s PCIe\n", "32.0 GT/s PCIe\n", "16\n", "16\n"},
		 "PCIe 16.0 GT/s x16, trained below its 32.0 GT/s x16"},
		{{"32.0 GT/s PCIe\n", "32.0 GT/s PCIe\n", "4\n", "16\n"},
		 "PCIe 32.0 GT/s x4, trained below its 32.0 GT/s x16"},
		{{"2.5 GT/s PCIe\n", "2.5 GT/s\n", "1\n", "1\n"}, "PCIe 2.5 GT/s x1"},
		{{"8 GT/s\n", "8 GT/s\n", "8\n", "8\n"}, "PCIe 8.0 GT/s x8"},
		{{"8.0 GT/s PCIe\n", "Unknown\n", "8\n", "255\n"}, "PCIe 8.0 GT/s x8"},
		{{"8.0 GT/s PCIe\n", "8.0 GT/s PCIe\n", "8\n", "0\n"}, "PCIe 8.0 GT/s x8"},
		{{"Unknown\n", "32.0 GT/s PCIe\n", "16\n", "16\n"}, ""},
		{{"32.0 GT/s PCIe\n", "32.0 GT/s PCIe\n", "0\n", "16\n"}, ""},
		{{"32.0 GT/s PCIe\n", "32.0 GT/s PCIe\n", "255\n", "255\n"}, ""},
		{{"", "", "", ""}, ""},
		{{"nan GT/s\n", "inf GT/s\n", "-16\n", "x16\n"}, ""},
		{{"1e300 GT/s\n", "8.0 Gb/s\n", "16\n", "16\n"}, ""},
		{{"-8.0 GT/s\n", "8.0 GT/s\n", "16\n", "16\n"}, ""},
	};

	put_nodes(state, "0\n");
	put_nic(state, "mlx5_0", "0000:41:00.0", "0\n");
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		expect_link(state, row[i].text, row[i].want);
}

static void the_link_text_is_cut_to_the_buffer(void **state)
{
	const struct topo_place place = {.link = {.gts = 16, .width = 16}};
	const struct topo_place none = {.link = {.gts = 0}};
	char buf[8] = "stale";

	(void)state;
	assert_string_equal(topo_format_link(&place, buf, 5), "PCIe");
	assert_string_equal(topo_format_link(&none, buf, sizeof(buf)), "");
	buf[0] = 'k';
	topo_format_link(&none, buf, 0);
	assert_int_equal(buf[0], 'k');
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sysfs_knows),
		TEST(a_missing_device_has_no_place),
		TEST(one_node_is_the_node),
		TEST(a_junk_node_is_unknown),
		TEST(soft_roce_is_where_its_netdev_is),
		TEST(soft_roce_over_lo_has_no_place),
		TEST(a_strange_parent_is_none),
		TEST(a_platform_device_may_know_its_node),
		TEST(names_that_only_look_like_pci),
		TEST(loops_and_outside_links_are_no_place),
		TEST(hwloc_tells_by_the_name_of_the_device),
		TEST(hwloc_tells_by_netdev_and_address),
		TEST(the_file_wins_over_sysfs),
		TEST(at_all_nodes_alike_is_unknown),
		TEST(the_only_node_of_the_file),
		TEST(a_missing_file_is_not_this_machine),
		TREE_WITH_AND_WITHOUT_PLUGINS(a_file_that_is_no_topology_is_not_this_machine),
		TEST(this_machine_has_no_such_device),
		TEST(the_link_is_what_it_trained_to),
		TEST(the_link_text_is_cut_to_the_buffer),
	};

	return cmocka_run_group_tests_name("topo", tests, NULL, NULL);
}

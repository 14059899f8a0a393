// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* path: where little or nothing can be known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>

#include "machine.h"

static void junk_in_link_files_is_unknown(void **state)
{
	static const char *const junk[] = {"",
					   "\n",
					   "-16\n",
					   "nan GT/s\n",
					   "1e300 GT/s\n",
					   "0\n",
					   "255\n",
					   "\xff\xfe GT/s\n",
					   "16.0 Gb/s\n",
					   "x\n",
					   "99999999999999999999 GT/s\n"};
	static const char *const device[] = {NIC, "0000:40:01.0", GPU, "0000:40:03.0"};
	static const char *const file[] = {"current_link_speed", "current_link_width",
					   "max_link_speed", "max_link_width"};
	char path[256];
	struct path p;

	machine_use(state, "phb");
	for (size_t j = 0; j < COUNT(junk); j++) {
		for (size_t i = 0; i < COUNT(device) * COUNT(file); i++) {
			snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s", device[i / 4],
				 file[i % 4]);
			tree_put(state, path, junk[j]);
		}
		machine_find(NIC, GPU, &p);
		assert_int_equal(p.class, PATH_PHB);
		assert_false(p.trained_down);
		expect_link(&p.nic, "");
		assert_true(p.ceiling_write_gbps == 0);
	}
}

static void devices_that_are_not_there(void **state)
{
	static const char *const none[] = {
		"",           "lo",           "0000:99:00.0", "../0000:41:00.0",
		"0000:41:00", "0000:44:02.0", "zzzz:zz:zz.z", "0000000000000000000000041:00:00.0"};
	struct path p;

	machine_use(state, "node");
	for (size_t i = 0; i < COUNT(none); i++) {
		machine_find(none[i], GPU, &p);
		assert_int_equal(p.class, PATH_UNKNOWN);
		expect_link(&p.gpu, "gen5 x16 at " GPU);
		machine_find(NIC, none[i], &p);
		assert_int_equal(p.class, PATH_UNKNOWN);
		expect_link(&p.nic, "gen5 x16 at " NIC);
		assert_string_equal(p.iommu, "identity");
		machine_find(none[i], none[i], &p);
		assert_int_equal(p.class, PATH_UNKNOWN);
	}
	machine_find("", "", &p);
	assert_true(p.ceiling_write_gbps == 0 && p.ceiling_read_gbps == 0);
}

/* Not below a host bridge: only their own ends of the links are known. */
static void devices_without_a_tree(void **state)
{
	struct path p;

	tree_put(state, "bus/pci/devices/" NIC "/current_link_speed", "16.0 GT/s PCIe\n");
	tree_put(state, "bus/pci/devices/" NIC "/current_link_width", "16\n");
	tree_put(state, "bus/pci/devices/" GPU "/numa_node", "0\n");
	machine_find(NIC, GPU, &p);
	assert_int_equal(p.class, PATH_UNKNOWN);
	expect_link(&p.nic, "");
	expect_link(&p.gpu, "");
	assert_false(p.trained_down);
	assert_string_equal(p.iommu, "off");
}

/* A tree that is deeper than any real one. */
static void too_many_switches(void **state)
{
	char deep[1024] = "devices/pci0000:40";
	struct path p;

	for (int i = 0; i < 30; i++)
		sprintf(deep + strlen(deep), "/0000:%02x:00.0", 0x50 + i);
	strcat(deep, "/" NIC "/numa_node");
	tree_put(state, deep, "0\n");
	*strrchr(deep, '/') = '\0';
	tree_put(state, "devices/pci0000:40/0000:40:01.0/" GPU "/numa_node", "0\n");
	tree_dir(state, "bus");
	tree_dir(state, "bus/pci");
	tree_dir(state, "bus/pci/devices");
	memmove(deep + 1, deep, strlen(deep) + 1);
	deep[0] = '/';
	tree_link(state, "bus/pci/devices/" NIC, deep);
	tree_link(state, "bus/pci/devices/" GPU, "/devices/pci0000:40/0000:40:01.0/" GPU);
	machine_find(NIC, GPU, &p);
	assert_int_equal(p.class, PATH_UNKNOWN);
}

static void this_machine(void **state)
{
	glob_t devices = {.gl_pathc = 0};
	struct path p;

	(void)state;
	unsetenv("RDMARK_SYSFS");
	machine_find("", "", &p);
	assert_int_equal(p.class, PATH_UNKNOWN);
	machine_find("ffff:ff:1f.7", "ffff:ff:1f.6", &p);
	assert_int_equal(p.class, PATH_UNKNOWN);
	assert_string_equal(p.iommu, "");
	if (glob("/sys/bus/pci/devices/*:*", 0, NULL, &devices) == 0) {
		char group[PATH_MAX];

		snprintf(group, sizeof(group), "%s/iommu_group", devices.gl_pathv[0]);
		machine_find(strrchr(devices.gl_pathv[0], '/') + 1, "", &p);
		if (access(group, F_OK))
			assert_string_equal(p.iommu, "off");
	}
	globfree(&devices);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(junk_in_link_files_is_unknown),
		TEST(devices_that_are_not_there),
		TEST(devices_without_a_tree),
		TEST(too_many_switches),
		TEST(this_machine),
	};

	return cmocka_run_group_tests_name("path_unknown", tests, NULL, NULL);
}

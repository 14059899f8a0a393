// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* path: where little or nothing can be known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>

#include "host/hwtree.h"
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

static void another_machine_without_its_sysfs(void **state)
{
	struct path p;

	machine_use(state, "nic-half-speed");
	unsetenv("RDMARK_SYSFS");
	machine_find(NIC, GPU, &p);
	assert_int_equal(p.class, PATH_PIX);
	expect_link(&p.nic, "");
	expect_link(&p.gpu, "");
	assert_false(p.trained_down);
	assert_true(p.ceiling_write_gbps == 0);
	assert_string_equal(p.iommu, "");
	assert_false(p.virtual_machine);
	machine_use(state, "virtual");
	unsetenv("RDMARK_SYSFS");
	machine_find(NIC, GPU, &p);
	assert_true(p.virtual_machine);
}

static void devices_that_are_not_there(void **state)
{
	static const char *const none[] = {
		"",           "lo",           "0000:99:00.0", "../0000:41:00.0",
		"0000:41:00", "0000:44:01.0", "zzzz:zz:zz.z", "0000000000000000000000041:00:00.0"};
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

/* This machine's tree is not asked about another sysfs. */
static void a_sysfs_without_a_tree(void **state)
{
	struct path p;

	machine_use(state, "nic-half-speed");
	unsetenv("HWLOC_XMLFILE");
	machine_find(NIC, GPU, &p);
	assert_int_equal(p.class, PATH_UNKNOWN);
	expect_link(&p.nic, "gen4 x16 at " NIC);
	expect_link(&p.gpu, "gen5 x16 at " GPU);
	assert_false(p.trained_down);
	assert_string_equal(p.iommu, "identity");
	expect_gbps(p.ceiling_write_gbps, 230.5);
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

static void expect_refused(const char *text)
{
	struct fault f = {.code = FAULT_NONE};
	struct path_tree *t;

	assert_int_equal(path_open(&t, &f), -1);
	path_close(t);
	assert_int_equal(f.code, FAULT_LOCAL);
	assert_non_null(strstr(f.call, "HWLOC_XMLFILE="));
	assert_string_equal(f.text, text);
	assert_true(f.fix[0]);
}

/* hwloc and libxml2 complain by themselves, which is not for the eyes of whoever runs the tests. */
static int quiet(void)
{
	int saved = dup(2), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(null, 2);
	close(null);
	return saved;
}

static void files_that_are_no_topology(void **state)
{
	int saved = quiet();

	setenv("HWLOC_XMLFILE", "/nowhere/machine.xml", 1);
	expect_refused("No such file or directory");
	tree_put(state, "junk.xml", "\x01\x02 no xml");
	setenv("HWLOC_XMLFILE", tree_path(state, "junk.xml"), 1);
	expect_refused("Invalid argument");
	tree_put(state, "junk.xml", "");
	expect_refused("Invalid argument");
	tree_put(state, "junk.xml", "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n");
	expect_refused("Invalid argument");
	setenv("HWLOC_XMLFILE", *state, 1);
	expect_refused("Is a directory");
	setenv("HWLOC_XMLFILE", "tests/unit/data/future-version.xml", 1);
	if (!access("tests/unit/data/future-version.xml", R_OK))
		expect_refused("Invalid argument");
	dup2(saved, 2);
	close(saved);
	path_close(NULL);
}

/* hwloc says which components took part; none of those that plugins bring shall. */
static void this_machine_by_the_kernel_alone(void **state)
{
	static const char *const plugin[] = {"pci(", "opencl(", "gl(", "cuda(", "nvml("};
	const char *path = tree_path(state, "said");
	int saved = dup(2), fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char said[16384] = "";
	const char *list;
	hwloc_topology_t tree;

	setenv("HWLOC_COMPONENTS_VERBOSE", "1", 1);
	dup2(fd, 2);
	assert_int_equal(hwtree_load(&tree, NULL), 0);
	hwloc_topology_destroy(tree);
	dup2(saved, 2);
	close(saved);
	unsetenv("HWLOC_COMPONENTS_VERBOSE");
	assert_true(pread(fd, said, sizeof(said) - 1, 0) > 0);
	close(fd);
	list = strstr(said, "Final list of enabled discovery components");
	assert_non_null(list);
	for (size_t i = 0; i < sizeof(plugin) / sizeof(plugin[0]); i++)
		if (strstr(list, plugin[i]))
			fail_msg("%s", list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(junk_in_link_files_is_unknown),
		TEST(another_machine_without_its_sysfs),
		TEST(devices_that_are_not_there),
		TEST(a_sysfs_without_a_tree),
		TEST(this_machine),
		TEST(this_machine_by_the_kernel_alone),
		TREE_WITH_AND_WITHOUT_PLUGINS(files_that_are_no_topology),
	};

	return cmocka_run_group_tests_name("path_unknown", tests, NULL, NULL);
}

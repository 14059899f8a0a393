// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sysfs: attribute files that are absent, empty, or full of anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "host/sysfs.h"
#include "nomem.h"
#include "tree.h"

static void root_is_sys_unless_the_environment_names_another(void **state)
{
	assert_string_equal(sysfs_root(), *state);
	setenv("RDMARK_SYSFS", "relative/path", 1);
	assert_string_equal(sysfs_root(), "/sys");
	setenv("RDMARK_SYSFS", "", 1);
	assert_string_equal(sysfs_root(), "/sys");
	unsetenv("RDMARK_SYSFS");
	assert_string_equal(sysfs_root(), "/sys");
}

static void expect_line(void **state, const char *text, const char *line)
{
	char buf[64] = "stale";

	tree_put(state, "class/a/file", text);
	assert_int_equal(sysfs_read(buf, sizeof(buf), "class/%s/file", "a"), 0);
	assert_string_equal(buf, line);
}

static void read_takes_the_first_line(void **state)
{
	expect_line(state, "4: ACTIVE\n", "4: ACTIVE");
	expect_line(state, "no newline", "no newline");
	expect_line(state, "one\ntwo\n", "one");
	expect_line(state, "\nsecond\n", "");
	expect_line(state, "blanks at the end \t \r\n", "blanks at the end");
	expect_line(state, "  kept in front\n", "  kept in front");
	expect_line(state, "   \n", "");
	expect_line(state, "", "");
}

static void read_makes_text_of_anything(void **state)
{
	static const char junk[] = "a\0b\x1b[31m\x7f\xff\xc3\xa9\tz\n";
	unsigned char all[256];
	char buf[300];

	tree_write(state, "junk", junk, sizeof(junk) - 1);
	assert_int_equal(sysfs_read(buf, sizeof(buf), "junk"), 0);
	assert_string_equal(buf, "a?b?[31m?????z");
	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)(i == '\n' ? 0 : i);
	tree_write(state, "all", all, sizeof(all));
	assert_int_equal(sysfs_read(buf, sizeof(buf), "all"), 0);
	assert_int_equal(strlen(buf), 256);
	for (int i = 0; i < 256; i++)
		assert_int_equal(buf[i], all[i] >= ' ' && all[i] < 0x7f ? all[i] : '?');
}

static void read_cuts_to_the_buffer(void **state)
{
	char buf[8];

	tree_put(state, "f", "1234567");
	assert_int_equal(sysfs_read(buf, sizeof(buf), "f"), 0);
	assert_string_equal(buf, "1234567");
	tree_put(state, "f", "12345678\n");
	assert_int_equal(sysfs_read(buf, sizeof(buf), "f"), 0);
	assert_string_equal(buf, "1234567");
	assert_int_equal(sysfs_read(buf, 1, "f"), 0);
	assert_string_equal(buf, "");
	assert_int_equal(sysfs_read(buf, 0, "f"), -EINVAL);
}

static void read_survives_a_huge_file(void **state)
{
	size_t size = (size_t)64 << 20;
	char *data = malloc(size);
	char buf[128];

	assert_non_null(data);
	memset(data, 'x', size);
	tree_write(state, "huge", data, size);
	free(data);
	assert_int_equal(sysfs_read(buf, sizeof(buf), "huge"), 0);
	assert_int_equal(strlen(buf), sizeof(buf) - 1);
}

static void expect_failure(const char *path, int rc)
{
	char buf[16] = "stale";
	int64_t value = 42;
	struct sysfs_set set;

	memset(&set, 0xff, sizeof(set));
	assert_int_equal(sysfs_read(buf, sizeof(buf), "%s", path), rc);
	assert_string_equal(buf, "");
	assert_int_equal(sysfs_read_int(&value, "%s", path), rc);
	assert_int_equal(value, 42);
	assert_int_equal(sysfs_read_set(&set, "%s", path), rc);
	assert_int_equal(sysfs_set_count(&set), 0);
}

static void what_cannot_be_read_is_an_errno(void **state)
{
	char deep[PATH_MAX + 16];

	expect_failure("absent", -ENOENT);
	expect_failure("absent/too", -ENOENT);
	tree_put(state, "file", "1\n");
	expect_failure("file/below", -ENOTDIR);
	tree_dir(state, "dir");
	expect_failure("dir", -EISDIR);
	tree_link(state, "loop", "loop");
	expect_failure("loop", -ELOOP);
	tree_link(state, "dangling", "nowhere");
	expect_failure("dangling", -ENOENT);
	memset(deep, 'a', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	expect_failure(deep, -ENAMETOOLONG);
	setenv("RDMARK_SYSFS", "/nowhere/at/all", 1);
	expect_failure("file", -ENOENT);
}

static void a_pipe_is_not_waited_for(void **state)
{
	assert_int_equal(mkfifo(tree_path(state, "pipe"), 0600), 0);
	expect_failure("pipe", -EINVAL);
}

/* Root may read everything, so it becomes nobody for the while. */
static void no_permission_is_an_errno(void **state)
{
	bool root = geteuid() == 0, readable;
	char buf[16] = "stale";
	int rc;

	tree_put(state, "secret", "1\n");
	chmod(tree_path(state, "secret"), 0);
	chmod(*state, 0755);
	if (root && seteuid(65534)) {
		print_message("seteuid: %s\n", strerror(errno));
		skip();
	}
	readable = euidaccess(tree_path(state, "secret"), R_OK) == 0;
	rc = sysfs_read(buf, sizeof(buf), "secret");
	assert_int_equal(root ? seteuid(0) : 0, 0);
	if (readable) {
		print_message("this user may read everything\n");
		skip();
	}
	assert_int_equal(rc, -EACCES);
	assert_string_equal(buf, "");
}

static void links_are_followed(void **state)
{
	char buf[PATH_MAX], want[PATH_MAX];

	tree_put(state, "devices/pci0000:00/0000:00:03.0/vendor", "0x15b3\n");
	tree_link(state, "class/infiniband/x/device", "../../../devices/pci0000:00/0000:00:03.0");
	assert_int_equal(sysfs_read(buf, sizeof(buf), "class/infiniband/%s/device/vendor", "x"), 0);
	assert_string_equal(buf, "0x15b3");
	assert_int_equal(sysfs_resolve(buf, sizeof(buf), "class/infiniband/x/device"), 0);
	snprintf(want, sizeof(want), "%s/devices/pci0000:00/0000:00:03.0", (char *)*state);
	assert_string_equal(buf, want);
	assert_int_equal(sysfs_resolve(buf, strlen(want), "class/infiniband/x/device"),
			 -ENAMETOOLONG);
	assert_string_equal(buf, "");
	assert_int_equal(sysfs_resolve(buf, strlen(want) + 1, "class/infiniband/x/device"), 0);
	assert_int_equal(sysfs_resolve(buf, sizeof(buf), "class/infiniband/y/device"), -ENOENT);
	assert_string_equal(buf, "");
	tree_link(state, "a", "b");
	tree_link(state, "b", "a");
	assert_int_equal(sysfs_resolve(buf, sizeof(buf), "a"), -ELOOP);
}

static void expect_int(void **state, const char *text, int rc, int64_t want)
{
	int64_t value = 4711;

	tree_put(state, "n", text);
	assert_int_equal(sysfs_read_int(&value, "n"), rc);
	assert_int_equal(value, rc ? 4711 : want);
}

static void read_int_takes_numbers_only(void **state)
{
	expect_int(state, "0\n", 0, 0);
	expect_int(state, "-1\n", 0, -1);
	expect_int(state, "0x15b3\n", 0, 0x15b3);
	expect_int(state, "0XFF", 0, 255);
	expect_int(state, "010\n", 0, 10);
	expect_int(state, "9223372036854775807\n", 0, INT64_MAX);
	expect_int(state, "-9223372036854775808\n", 0, INT64_MIN);
	expect_int(state, "9223372036854775808\n", -ERANGE, 0);
	expect_int(state, "-9223372036854775809\n", -ERANGE, 0);
	expect_int(state, "", -EINVAL, 0);
	expect_int(state, "\n12\n", -EINVAL, 0);
	expect_int(state, "-", -EINVAL, 0);
	expect_int(state, "--1", -EINVAL, 0);
	expect_int(state, "+1", -EINVAL, 0);
	expect_int(state, " 1", -EINVAL, 0);
	expect_int(state, "0x", -EINVAL, 0);
	expect_int(state, "12 34", -EINVAL, 0);
	expect_int(state, "12k", -EINVAL, 0);
	expect_int(state, "1.5", -EINVAL, 0);
	expect_int(state, "100 Gb/sec (4X EDR)", -EINVAL, 0);
	expect_int(state, "Unknown", -EINVAL, 0);
}

static void junk_past_the_buffer_is_still_junk(void **state)
{
	char text[200];

	memset(text, ' ', sizeof(text));
	text[0] = '7';
	text[198] = 'x';
	text[199] = '\0';
	expect_int(state, text, -EINVAL, 0);
	text[198] = '\n';
	text[20] = '\n';
	expect_int(state, text, 0, 7);
}

static void expect_set(void **state, const char *text, int rc, int count, const char *list)
{
	struct sysfs_set set;
	char buf[64];

	tree_put(state, "cpulist", text);
	assert_int_equal(sysfs_read_set(&set, "cpulist"), rc);
	assert_int_equal(sysfs_set_count(&set), count);
	assert_string_equal(sysfs_set_format(&set, buf, sizeof(buf)), list);
}

static void read_set_takes_lists(void **state)
{
	expect_set(state, "0\n", 0, 1, "0");
	expect_set(state, "0-3,8\n", 0, 5, "0-3,8");
	expect_set(state, "8,0-3", 0, 5, "0-3,8");
	expect_set(state, "0,1,2,3", 0, 4, "0-3");
	expect_set(state, "63-64", 0, 2, "63-64");
	expect_set(state, "8191", 0, 1, "8191");
	expect_set(state, "0-8191", 0, 8192, "0-8191");
	expect_set(state, "\n", 0, 0, "");
	expect_set(state, "", 0, 0, "");
	expect_set(state, "8192", -EINVAL, 0, "");
	expect_set(state, "0-8192", -EINVAL, 0, "");
	expect_set(state, "99999999999999999999999", -EINVAL, 0, "");
	expect_set(state, "3-1", -EINVAL, 0, "");
	expect_set(state, "1,", -EINVAL, 0, "");
	expect_set(state, ",1", -EINVAL, 0, "");
	expect_set(state, "1,,2", -EINVAL, 0, "");
	expect_set(state, "1-", -EINVAL, 0, "");
	expect_set(state, "-1", -EINVAL, 0, "");
	expect_set(state, "1--2", -EINVAL, 0, "");
	expect_set(state, "1 2", -EINVAL, 0, "");
	expect_set(state, "0-3:1/2", -EINVAL, 0, "");
	expect_set(state, "zebra", -EINVAL, 0, "");
}

static void a_set_knows_its_numbers(void **state)
{
	struct sysfs_set set;

	tree_put(state, "s", "1,64,8191");
	assert_int_equal(sysfs_read_set(&set, "s"), 0);
	assert_true(sysfs_set_has(&set, 1));
	assert_true(sysfs_set_has(&set, 64));
	assert_true(sysfs_set_has(&set, 8191));
	assert_false(sysfs_set_has(&set, 0));
	assert_false(sysfs_set_has(&set, 63));
	assert_false(sysfs_set_has(&set, -1));
	assert_false(sysfs_set_has(&set, 8192));
	assert_false(sysfs_set_has(&set, INT_MAX));
	assert_false(sysfs_set_has(&set, INT_MIN));
}

static void a_long_set_is_cut_at_a_number(void **state)
{
	char text[6 * 4096 / 2], buf[24];
	struct sysfs_set set;
	size_t used = 0;

	for (int i = 0; i < 2048; i += 2)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", i ? "," : "", i);
	tree_put(state, "s", text);
	assert_int_equal(sysfs_read_set(&set, "s"), 0);
	assert_int_equal(sysfs_set_count(&set), 1024);
	assert_string_equal(sysfs_set_format(&set, buf, sizeof(buf)), "0,2,4,6,8,10,12,14…");
	assert_string_equal(sysfs_set_format(&set, buf, 4), "…");
	assert_string_equal(sysfs_set_format(&set, buf, 3), "");
	assert_string_equal(sysfs_set_format(&set, buf, 1), "");
	buf[0] = 'k';
	sysfs_set_format(&set, buf, 0);
	assert_int_equal(buf[0], 'k');
}

static void a_list_longer_than_the_reader_is_refused(void **state)
{
	char *text = malloc(40000);
	struct sysfs_set set;

	assert_non_null(text);
	for (int i = 0; i < 19999; i++)
		memcpy(text + 2 * i, "1,", 3);
	tree_put(state, "s", text);
	free(text);
	assert_int_equal(sysfs_read_set(&set, "s"), -E2BIG);
	assert_int_equal(sysfs_set_count(&set), 0);
}

/* Else there would seem to be no device. */
static void nothing_is_allocated(void **state)
{
	static const char *const want[] = {"a0", "a1", "b"};
	char name[SYSFS_NAME], all[64];
	uint64_t value = 0;
	size_t bytes;

	tree_put(state, "class/infiniband/b/x", "");
	tree_put(state, "class/infiniband/a1/x", "");
	tree_put(state, "class/infiniband/.hidden/x", "");
	tree_put(state, "class/infiniband/a0/x", "");
	nomem_from(1, true);
	for (unsigned i = 0; i < 3; i++)
		if (sysfs_name(name, i, "class/infiniband") || strcmp(name, want[i]) != 0)
			value += 1u << i;
	bytes = sysfs_proc_bytes("/proc/self/status", "VmSize");
	nomem_from(0, false);
	assert_int_equal(value, 0);
	assert_int_equal(sysfs_name(name, 3, "class/infiniband"), -ENODATA);
	assert_string_equal(name, "");
	assert_int_equal(sysfs_name(name, 0, "class/none"), -ENOENT);
	assert_int_equal(sysfs_names(all, sizeof(all), "class/infiniband"), 0);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "\n%s\n", want[i]);
		assert_non_null(strstr(all, name));
	}
	assert_int_equal(sysfs_names(all, strlen(want[0]) + 3, "class/infiniband"), 0);
	assert_in_range(strlen(all), 3, 4); /* the first one; what does not fit is left out */
	assert_int_equal(sysfs_names(all, sizeof(all), "class/none"), -ENOENT);
	assert_string_equal(all, "");
	assert_true(bytes > 4096 && bytes % 1024 == 0);
	assert_true(sysfs_proc_number(&value, "/proc/self/status", "Pid", 10));
	assert_int_equal(value, getpid());
	assert_false(sysfs_proc_number(&value, "/proc/self/status", "Name", 10));
	assert_false(sysfs_proc_number(&value, "/proc/self/status", "id", 10));
	assert_false(sysfs_proc_number(&value, "/proc/none", "Pid", 10));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(root_is_sys_unless_the_environment_names_another),
		TEST(read_takes_the_first_line),
		TEST(read_makes_text_of_anything),
		TEST(read_cuts_to_the_buffer),
		TEST(read_survives_a_huge_file),
		TEST(what_cannot_be_read_is_an_errno),
		TEST(a_pipe_is_not_waited_for),
		TEST(no_permission_is_an_errno),
		TEST(links_are_followed),
		TEST(nothing_is_allocated),
		TEST(read_int_takes_numbers_only),
		TEST(junk_past_the_buffer_is_still_junk),
		TEST(read_set_takes_lists),
		TEST(a_set_knows_its_numbers),
		TEST(a_long_set_is_cut_at_a_number),
		TEST(a_list_longer_than_the_reader_is_refused),
	};

	return cmocka_run_group_tests_name("sysfs", tests, NULL, NULL);
}

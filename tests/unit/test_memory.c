// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* memory of the host: files that are mapped, huge pages that are there or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/pin.h"
#include "memory/memory.h"

static const struct pin nowhere = {.node = -1};

static void ordinary_pages(void **state)
{
	struct memory_attr a = {.bytes = 10000, .pin = &nowhere};
	struct memory m;
	struct fault f = {0};

	(void)state;
	assert_int_equal(memory_alloc(&m, &a, &f), 0);
	assert_string_equal(m.what, "");
	memset(m.host, 1, 10000);
	memory_free(&m);
	assert_null(m.host);
	memory_free(&m);
}

/* A file of BYTES, all 'x'. */
static void make_file(char *path, size_t bytes)
{
	char *text = malloc(bytes + 1);
	int fd;

	strcpy(path, "/tmp/rdmark-backing-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	memset(text, 'x', bytes);
	assert_int_equal(write(fd, text, bytes), bytes);
	close(fd);
	free(text);
}

static void a_file_is_mapped_shared_from_its_offset(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char path[64], byte;
	struct memory_attr a = {.pin = &nowhere, .file = path, .file_offset_bytes = page};
	struct memory m;
	struct fault f = {0};
	FILE *in;

	(void)state;
	make_file(path, 4 * page);
	a.bytes = 2 * page + 1;
	assert_int_equal(memory_alloc(&m, &a, &f), 0);
	assert_non_null(strstr(m.what, path));
	assert_int_equal(*(char *)m.host, 'x');
	((char *)m.host)[2 * page] = 'y';
	memory_free(&m);
	in = fopen(path, "r");
	assert_int_equal(fseek(in, (long)(3 * page), SEEK_SET), 0);
	assert_int_equal(fread(&byte, 1, 1, in), 1);
	assert_int_equal(byte, 'y');
	fclose(in);
	unlink(path);
}

/* Or who touches what is behind its end would be killed. */
static void a_file_that_is_too_short_is_refused(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char path[64];
	struct memory_attr a = {.pin = &nowhere, .file = path, .file_offset_bytes = page};
	struct memory m;
	struct fault f = {0};

	(void)state;
	make_file(path, 2 * page - 1);
	a.bytes = 1;
	assert_int_equal(memory_alloc(&m, &a, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
	assert_non_null(strstr(f.fix, "truncate -s "));
	memory_free(&m);
	unlink(path);
}

static void files_that_cannot_be_mapped(void **state)
{
	char path[64];
	struct memory_attr absent = {.bytes = 1, .file = "/nonexistent/file"};
	struct memory_attr crooked = {.bytes = 1, .file = path, .file_offset_bytes = 1};
	struct memory m;
	struct fault f = {0};

	(void)state;
	assert_int_equal(memory_alloc(&m, &absent, &f), -1);
	assert_int_equal(f.errnum, ENOENT);
	assert_non_null(strstr(f.fix, "--mmap"));
	fault_clear(&f);
	make_file(path, 100000);
	assert_int_equal(memory_alloc(&m, &crooked, &f), -1);
	assert_int_equal(f.errnum, EINVAL);
	assert_non_null(strstr(f.fix, "--mmap-offset"));
	memory_free(&m);
	unlink(path);
}

/* More than any pool has: what there is, what it takes, and the sysctl for it. */
static void too_few_huge_pages(void **state)
{
	struct memory_attr a = {.bytes = 1, .pin = &nowhere, .huge = true};
	struct memory m;
	struct fault f = {0};

	(void)state;
	a.bytes = (size_t)1 << 46;
	assert_int_equal(memory_alloc(&m, &a, &f), -1);
	assert_int_equal(f.code, FAULT_LOCAL);
	assert_int_not_equal(f.errnum, 0);
	assert_string_equal(f.call, "mmap(64 TiB, MAP_HUGETLB)");
	assert_non_null(strstr(f.cause, "Free huge pages: "));
	assert_non_null(strstr(f.fix, "--use_hugepages"));
	memory_free(&m);
}

/* Where the pool has one. */
static void huge_pages(void **state)
{
	struct memory_attr a = {.bytes = 1, .pin = &nowhere, .huge = true};
	struct memory m;
	struct fault f = {0};

	(void)state;
	if (memory_alloc(&m, &a, &f))
		skip();
	assert_true(m.mapped_bytes >= (size_t)1 << 16);
	assert_int_equal((uintptr_t)m.host % m.mapped_bytes, 0);
	assert_non_null(strstr(m.what, "huge pages of "));
	memset(m.host, 1, m.mapped_bytes);
	memory_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_pages),
		cmocka_unit_test(a_file_is_mapped_shared_from_its_offset),
		cmocka_unit_test(a_file_that_is_too_short_is_refused),
		cmocka_unit_test(files_that_cannot_be_mapped),
		cmocka_unit_test(too_few_huge_pages),
		cmocka_unit_test(huge_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

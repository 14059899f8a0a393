// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pin, the memory: where it is, what it is, and that all of it is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <numaif.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "host/pin.h"
#include "memory/memory.h"
#include "memory/pages.h"
#include "child.h"

#define HUGE ((size_t)2 << 20)

/* BYTES on P's node; host NULL: failed. */
static struct memory make(const struct pin *p, size_t bytes, struct fault *f)
{
	struct memory m;

	memory_alloc(&m, &(struct memory_attr){.bytes = bytes, .pin = p}, f);
	return m;
}

static const int memory_calls[] = {SYS_mbind, SYS_get_mempolicy, SYS_set_mempolicy, SYS_move_pages};

static void check_container(int errnum)
{
	struct fault f = {0};
	size_t on_node = 7, pages = 7;
	char reason[160];
	struct memory m;
	struct pin p;
	char *mem;

	child_forbid(memory_calls, 4, errnum);
	CHECK(pin_thread(&p, PIN_AUTO, 0, &f) == 0);
	snprintf(reason, sizeof(reason), "the NIC's node; its memory is not bound: mbind: %s",
		 strerror(errnum));
	if (p.node < 0)
		child_skip(p.reason);
	CHECK(strcmp(p.reason, reason) == 0);
	m = make(&p, 100000, &f);
	mem = m.host;
	CHECK(mem && !fault_is(&f));
	memset(mem, 1, 100000);
	CHECK(pages_check(mem, 100000, 0, &on_node, &pages) == -errnum);
	CHECK(on_node == 0 && pages == 0);
	memory_free(&m);
}

static void body_eperm(void **state)
{
	(void)state;
	check_container(EPERM);
}

static void body_enosys(void **state)
{
	(void)state;
	check_container(ENOSYS);
}

static void containers_that_forbid_binding_memory(void **state)
{
	in_child(body_eperm, state);
	in_child(body_enosys, state);
}

/* How much this process has mapped. */
static size_t mapped_pages(void)
{
	FILE *in = fopen("/proc/self/statm", "re");
	size_t pages = 0;

	CHECK(in && fscanf(in, "%zu", &pages) == 1);
	fclose(in);
	return pages;
}

static void check_fault(const struct fault *f, const char *call, const char *cause)
{
	CHECK(f->code == FAULT_LOCAL);
	CHECK(strcmp(f->call, call) == 0);
	CHECK(strstr(f->cause, cause));
	CHECK(f->fix[0]);
}

/* A sanitizer has terabytes mapped, so the limit is set from what there is. */
static void body_enomem(void **state)
{
	struct fault f = {0};
	struct rlimit limit;

	(void)state;
	CHECK(make(NULL, SIZE_MAX, &f).host == NULL);
	CHECK(f.errnum == ENOMEM);
	check_fault(&f, "mmap(16777216.00 TiB)", "");
	fault_clear(&f);
	CHECK(make(NULL, (size_t)1 << 50, &f).host == NULL);
	/* More than any address space; valgrind calls that EINVAL. */
	check_fault(&f, "mmap(1024 TiB)", "free memory");
	CHECK(f.errnum == ENOMEM || f.errnum == EINVAL);
	fault_clear(&f);
	limit.rlim_cur = limit.rlim_max =
		mapped_pages() * (size_t)sysconf(_SC_PAGESIZE) + (64 << 20);
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	CHECK(make(NULL, (size_t)256 << 20, &f).host == NULL);
	check_fault(&f, "mmap(256 MiB)", "The limit on address space (RLIMIT_AS) is ");
	CHECK(f.errnum == ENOMEM);
}

static void no_memory_is_a_fault(void **state)
{
	in_child(body_enomem, state);
}

static void check_buffer(const struct pin *p, size_t bytes)
{
	size_t align = bytes >= HUGE ? HUGE : (size_t)sysconf(_SC_PAGESIZE);
	struct fault f = {0};
	struct memory m = make(p, bytes, &f);
	unsigned char *mem = m.host, core;

	assert_non_null(mem);
	assert_false(fault_is(&f));
	assert_int_equal((uintptr_t)mem % align, 0);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(mem[i], 0);
	/* Touched: the pages are there before anybody but memory_alloc() wrote to them. */
	assert_int_equal(mincore(mem, 1, &core), 0);
	assert_int_equal(core & 1, 1);
	memset(mem, 0xff, bytes ? bytes : 1);
	memory_free(&m);
	/* All of it is gone. */
	assert_int_equal(mincore(mem, 1, &core), -1);
	assert_int_equal(errno, ENOMEM);
}

static void memory_is_aligned_zeroed_and_touched(void **state)
{
	static const size_t sizes[] = {0,        1,    4096,     4097,     100000,
				       HUGE - 1, HUGE, HUGE + 1, 3 * HUGE, 3 * HUGE + 12345};
	const struct pin none = {.node = -1}, node0 = {.node = 0};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_buffer(NULL, sizes[i]);
		check_buffer(&none, sizes[i]);
		check_buffer(&node0, sizes[i]);
	}
	memory_free(&(struct memory){0});
}

/* A mapping in between, of an odd size, moves the next one to another place within its 2 MiB. */
static void nothing_stays_mapped(void **state)
{
	const size_t odd = HUGE + 16 * (size_t)sysconf(_SC_PAGESIZE);
	struct fault f = {0};
	void *between[20];
	size_t before;

	(void)state;
	before = mapped_pages();
	for (int i = 0; i < 20; i++) {
		struct memory m = make(NULL, 2 * HUGE + 1, &f);

		assert_non_null(m.host);
		between[i] = mmap(NULL, odd, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(between[i] != MAP_FAILED);
		memory_free(&m);
	}
	for (int i = 0; i < 20; i++)
		munmap(between[i], odd);
	/* Lost heads or tails of the over-long mappings would show. */
	assert_true(mapped_pages() < before + 64);
}

static void a_node_that_went_away_is_a_fault(void **state)
{
	const struct pin gone = {.node = 1000};
	struct fault f = {0};
	unsigned long mask[16] = {0};

	(void)state;
	if (get_mempolicy(NULL, mask, 1025, NULL, MPOL_F_MEMS_ALLOWED)) {
		print_message("get_mempolicy(2): %s\n", strerror(errno));
		skip();
	}
	assert_null(make(&gone, 4096, &f).host);
	assert_int_equal(f.code, FAULT_LOCAL);
	assert_int_equal(f.errnum, EINVAL);
	assert_string_equal(f.call, "mbind(node 1000)");
	assert_true(f.cause[0] && f.fix[0]);
}

/* The number of pages expected for BYTES at OFFSET into a buffer. */
static void expect_pages(const char *mem, size_t offset, size_t bytes, size_t want)
{
	size_t on_node = 99, pages = 99;

	assert_int_equal(pages_check(mem + offset, bytes, 0, &on_node, &pages), 0);
	assert_int_equal(pages, want);
	assert_int_equal(on_node, want);
}

/* move_pages(2) is there, and the memory of this machine is all on node 0. */
static void need_move_pages(void)
{
	size_t on_node, pages;
	char here = 1;
	int rc = pages_check(&here, 1, 0, &on_node, &pages);

	if (rc || on_node != 1) {
		print_message("move_pages(2): %s, %s\n", strerror(-rc),
			      rc ? "forbidden here" : "the stack is on another node");
		skip();
	}
}

static void pages_are_counted(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct pin node0 = {.node = 0};
	size_t bytes = 5000 * page, on_node, pages;
	struct fault f = {0};
	struct memory m;
	char *mem;

	(void)state;
	need_move_pages();
	m = make(&node0, bytes, &f);
	mem = m.host;
	assert_non_null(mem);
	expect_pages(mem, 0, 0, 0);
	expect_pages(mem, 0, 1, 1);
	expect_pages(mem, 0, page, 1);
	expect_pages(mem, 0, page + 1, 2);
	expect_pages(mem, page - 1, 2, 2);
	expect_pages(mem, 1, page, 2);
	expect_pages(mem, 0, 255 * page, 255);
	expect_pages(mem, 0, 256 * page, 256);
	expect_pages(mem, 0, 257 * page, 257);
	expect_pages(mem, 0, 4096 * page, 4096);
	expect_pages(mem, 0, 4097 * page, 4096);
	expect_pages(mem, 0, bytes, 4096);
	assert_int_equal(pages_check(mem, bytes, 1, &on_node, &pages), 0);
	assert_int_equal(pages, 4096);
	assert_int_equal(on_node, 0);
	memory_free(&m);
}

static void the_looks_are_spread_evenly(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 8192 * page;
	size_t on_node, pages;
	char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(mem != MAP_FAILED);
	madvise(mem, bytes, MADV_NOHUGEPAGE);
	need_move_pages();
	/* Nothing touched: on no node. */
	assert_int_equal(pages_check(mem, bytes, 0, &on_node, &pages), 0);
	assert_int_equal(pages, 4096);
	assert_int_equal(on_node, 0);
	/* The last quarter touched: a quarter of what is looked at. */
	memset(mem + bytes / 4 * 3, 1, bytes / 4);
	assert_int_equal(pages_check(mem, bytes, 0, &on_node, &pages), 0);
	assert_int_equal(pages, 4096);
	assert_int_equal(on_node, 1024);
	munmap(mem, bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containers_that_forbid_binding_memory),
		cmocka_unit_test(no_memory_is_a_fault),
		cmocka_unit_test(memory_is_aligned_zeroed_and_touched),
		cmocka_unit_test(nothing_stays_mapped),
		cmocka_unit_test(a_node_that_went_away_is_a_fault),
		cmocka_unit_test(pages_are_counted),
		cmocka_unit_test(the_looks_are_spread_evenly),
	};

	return cmocka_run_group_tests_name("pin_memory", tests, NULL, NULL);
}

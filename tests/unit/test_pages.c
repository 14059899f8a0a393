// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pages: all are there, however they were made, and by as many threads as there is work for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/pages.h"
#include "tree.h"

#define MIB      ((size_t)1 << 20)
#define SLICE    (16 * MIB)
#define POPULATE 23 /* MADV_POPULATE_WRITE */

/* What the module asks of the system; these two take the place of libc's. */
static struct {
	int threads;    /* made */
	int threads_ok; /* that many can be */
	bool old;       /* a kernel that cannot populate */
} world;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (world.threads >= world.threads_ok)
		return EAGAIN;
	world.threads++;
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(thread, attr, start, arg);
}

int madvise(void *addr, size_t bytes, int advice)
{
	if (world.old && advice == POPULATE) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_madvise, addr, bytes, advice);
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static char *new_memory(size_t bytes)
{
	char *addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(addr != MAP_FAILED);
	return addr;
}

/* How many of the pages are there. */
static size_t resident(void *addr, size_t bytes)
{
	size_t pages = bytes / page_size(), there = 0;
	unsigned char *core = malloc(pages);

	assert_non_null(core);
	assert_int_equal(mincore(addr, bytes, core), 0);
	for (size_t i = 0; i < pages; i++)
		there += core[i] & 1;
	free(core);
	return there;
}

/* BYTES made, and none of what lies behind; by so many threads besides the caller. */
static void check(size_t bytes, bool bound, int helpers)
{
	size_t behind = 2 * page_size();
	char *mem = new_memory(bytes + behind);

	syscall(SYS_madvise, mem, bytes + behind, MADV_NOHUGEPAGE);
	mem[1] = 'x';
	world.threads = 0;
	pages_make(mem, bytes, page_size(), bound);
	assert_int_equal(world.threads, helpers);
	assert_int_equal(resident(mem, bytes), bytes / page_size());
	assert_int_equal(resident(mem + bytes, behind), 0);
	assert_int_equal(mem[1], 'x');
	assert_int_equal(mem[bytes - 1], 0);
	munmap(mem, bytes + behind);
}

static int cpu_count(void)
{
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	return CPU_COUNT(&cpus);
}

/* Besides the caller, for so many slices. */
static int helpers_for(int slices)
{
	int most = slices < 8 ? slices : 8;

	return (cpu_count() < most ? cpu_count() : most) - 1;
}

static int setup(void **state)
{
	world.threads_ok = 1000;
	world.old = false;
	return tree_make(state);
}

static void one_thread_for_what_is_small(void **state)
{
	(void)state;
	check(page_size(), true, 0);
	check(SLICE - page_size(), true, 0);
	check(SLICE, true, 0);
}

static void a_thread_for_each_cpu_and_slice(void **state)
{
	(void)state;
	check(SLICE + page_size(), true, helpers_for(2));
	check(3 * SLICE - page_size(), true, helpers_for(3));
	check(10 * SLICE + page_size(), true, helpers_for(11));
}

static void only_on_the_callers_cpus(void **state)
{
	cpu_set_t before, one;
	int cpu = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	check(3 * SLICE, true, 0);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* Whoever touches a page first decides where it is, if nothing else does. */
static void alone_where_the_node_matters(void **state)
{
	tree_put(state, "devices/system/node/online", "0-1\n");
	check(3 * SLICE, false, 0);
	check(3 * SLICE, true, helpers_for(3));
	tree_put(state, "devices/system/node/online", "0\n");
	check(3 * SLICE, false, helpers_for(3));
}

static void a_kernel_without_nodes(void **state)
{
	(void)state;
	check(3 * SLICE, false, helpers_for(3));
}

static void threads_that_cannot_be_made(void **state)
{
	(void)state;
	world.threads_ok = 0;
	check(3 * SLICE + page_size(), true, 0);
}

static void a_kernel_that_cannot_populate(void **state)
{
	(void)state;
	world.old = true;
	check(page_size(), true, 0);
	check(3 * SLICE + page_size(), true, helpers_for(4));
}

/* As with a pool of 1 GiB pages: a slice is one of them. */
static void pages_larger_than_a_slice(void **state)
{
	const size_t page = 2 * SLICE;
	char *mem = new_memory(3 * page);

	(void)state;
	world.threads = 0;
	pages_make(mem, 3 * page, page, true);
	assert_int_equal(world.threads, helpers_for(3));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(resident(mem + i * page, page_size()), 1);
	munmap(mem, 3 * page);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_thread_for_what_is_small),  TEST(a_thread_for_each_cpu_and_slice),
		TEST(only_on_the_callers_cpus),      TEST(alone_where_the_node_matters),
		TEST(a_kernel_without_nodes),        TEST(threads_that_cannot_be_made),
		TEST(a_kernel_that_cannot_populate), TEST(pages_larger_than_a_slice),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pool: all hands do each job once, at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/pool.h"

#define HANDS       7
#define STACK_BYTES ((size_t)256 << 20)

struct deck {
	struct pool pool;
	_Atomic unsigned done[HANDS];
	_Atomic unsigned arrived;
	unsigned fails; /* this hand's job does */
};

static int count(void *arg, unsigned i)
{
	struct deck *d = arg;

	atomic_fetch_add(&d->done[i], 1);
	return i == d->fails ? -1 : 0;
}

static void every_hand_does_every_job_once(void **state)
{
	struct deck d = {.fails = HANDS};
	struct fault f = {0};

	(void)state;
	assert_int_equal(pool_init(&d.pool, HANDS, &f), 0);
	for (unsigned job = 1; job <= 100; job++) {
		assert_int_equal(pool_run(&d.pool, count, &d), 0);
		for (unsigned i = 0; i < HANDS; i++)
			assert_int_equal(d.done[i], job);
	}
	pool_release(&d.pool);
}

static void one_failure_is_the_pools(void **state)
{
	struct deck d = {0};
	struct fault f = {0};

	(void)state;
	assert_int_equal(pool_init(&d.pool, HANDS, &f), 0);
	for (d.fails = 0; d.fails < HANDS; d.fails++)
		assert_int_equal(pool_run(&d.pool, count, &d), -1);
	assert_int_equal(pool_run(&d.pool, count, &d), 0);
	pool_release(&d.pool);
}

static void others_work_while_the_caller_does_something_else(void **state)
{
	struct deck d = {.fails = HANDS};
	struct fault f = {0};

	(void)state;
	assert_int_equal(pool_init(&d.pool, HANDS, &f), 0);
	for (unsigned job = 1; job <= 100; job++) {
		pool_begin(&d.pool, count, &d);
		assert_int_equal(pool_end(&d.pool), 0);
		assert_int_equal(d.done[0], 0);
		for (unsigned i = 1; i < HANDS; i++)
			assert_int_equal(d.done[i], job);
	}
	pool_release(&d.pool);
}

/* Behind the meeting, everybody has come to it. */
static int meet(void *arg, unsigned i)
{
	struct deck *d = arg;

	(void)i;
	atomic_fetch_add(&d->arrived, 1);
	pool_meet(&d->pool);
	return atomic_load(&d->arrived) % HANDS ? -1 : 0;
}

static int meet_twice(void *arg, unsigned i)
{
	struct deck *d = arg;
	int rc = meet(arg, i);

	pool_meet(&d->pool); /* nobody goes on while another still looks */
	return rc;
}

static void a_meeting_waits_for_all(void **state)
{
	struct deck d = {0};
	struct fault f = {0};

	(void)state;
	assert_int_equal(pool_init(&d.pool, HANDS, &f), 0);
	for (int job = 0; job < 100; job++)
		assert_int_equal(pool_run(&d.pool, meet_twice, &d), 0);
	pool_release(&d.pool);
}

static void alone_it_is_a_call(void **state)
{
	struct deck d = {.fails = 1};
	struct fault f = {0};

	(void)state;
	assert_int_equal(pool_init(&d.pool, 1, &f), 0);
	assert_int_equal(pool_run(&d.pool, count, &d), 0);
	pool_meet(&d.pool);
	assert_int_equal(d.done[0], 1);
	pool_release(&d.pool);
	pool_release(&d.pool); /* nothing left, nothing done */
}

/* How much address space this process has. */
static rlim_t address_space(void)
{
	FILE *in = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	assert_non_null(in);
	assert_int_equal(fscanf(in, "%lu", &pages), 1);
	fclose(in);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* There is room for the stacks of two. */
static void a_hand_that_cannot_be_had(void **state)
{
	struct deck d = {.fails = HANDS};
	struct rlimit before, less;
	pthread_attr_t plain, large;
	struct fault f = {0};

	(void)state;
	getrlimit(RLIMIT_AS, &before);
	less = before;
	less.rlim_cur = address_space() + STACK_BYTES / 2 * 5;
	pthread_getattr_default_np(&plain);
	large = plain;
	pthread_attr_setstacksize(&large, STACK_BYTES);
	pthread_setattr_default_np(&large);
	setrlimit(RLIMIT_AS, &less);
	if (mmap(NULL, 3 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		skip(); /* under QEMU there is no such limit */
	assert_int_equal(pool_init(&d.pool, HANDS, &f), -1);
	assert_int_equal(d.pool.size, 3);
	pool_release(&d.pool);
	setrlimit(RLIMIT_AS, &before);
	pthread_setattr_default_np(&plain);
	assert_string_equal(f.call, "pthread_create");
	assert_true(f.fix[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_hand_does_every_job_once),
		cmocka_unit_test(one_failure_is_the_pools),
		cmocka_unit_test(others_work_while_the_caller_does_something_else),
		cmocka_unit_test(a_meeting_waits_for_all),
		cmocka_unit_test(alone_it_is_a_call),
		cmocka_unit_test(a_hand_that_cannot_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

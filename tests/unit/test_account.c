// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* account: what it says of a thread is what the kernel says of the same in other words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "base/account.h"

#define PAGE  4096
#define PAGES 500

static double thread_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until the kernel says that this thread has had so much, whatever the wall clock says. */
static void work(double seconds)
{
	double until = thread_cpu_s() + seconds;

	while (thread_cpu_s() < until)
		;
}

/* In an emulated machine a thread has had what the host gave to others: so the kernel is asked. */
static void share_of_the_cpu(void **state)
{
	double begin = thread_cpu_s();
	struct account a;

	(void)state;
	account_start(&a);
	work(0.05);
	poll(NULL, 0, 50); /* time that goes by off the CPU is what is tested */
	account_stop(&a);
	assert_true(a.known && a.elapsed_s >= 0.1);
	assert_true(a.cpu_s >= 0.05 && a.cpu_s <= thread_cpu_s() - begin);
	assert_true(fabs(account_percent(&a) - a.cpu_s / a.elapsed_s * 100) < 1e-9);
	assert_true(account_percent(&a) < 100);
	assert_true(a.cpu >= 0);
}

static void *spin(void *arg)
{
	while (!atomic_load((_Atomic bool *)arg))
		;
	return NULL;
}

/* Another thread of the process does not count. */
static void of_this_thread(void **state)
{
	_Atomic bool stop = false;
	double begin = thread_cpu_s();
	pthread_t other;
	struct account a;

	(void)state;
	account_start(&a);
	assert_int_equal(pthread_create(&other, NULL, spin, &stop), 0);
	poll(NULL, 0, 50);
	account_stop(&a);
	atomic_store(&stop, true);
	pthread_join(other, NULL);
	assert_true(a.cpu_s <= thread_cpu_s() - begin);
}

static void page_faults(void **state)
{
	char *page = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct account a;

	(void)state;
	assert_true(page != MAP_FAILED);
	madvise(page, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
	account_start(&a);
	account_stop(&a);
	assert_true(a.minor_faults < 50 && a.major_faults == 0);
	account_start(&a);
	for (int i = 0; i < PAGES; i++)
		*(volatile char *)(page + (size_t)i * PAGE) = 1;
	account_stop(&a);
	assert_true(a.minor_faults >= PAGES &&
		    a.minor_faults < 2 * PAGES); /* sanitizers have some */
	munmap(page, (size_t)PAGES * PAGE);
}

static void preemptions(void **state)
{
	struct rusage before, after;
	struct account a;

	(void)state;
	getrusage(RUSAGE_THREAD, &before);
	account_start(&a);
	work(0.02);
	account_stop(&a);
	getrusage(RUSAGE_THREAD, &after);
	assert_true(a.preempted <= (uint64_t)(after.ru_nivcsw - before.ru_nivcsw));
}

static void not_known(void **state)
{
	struct account a = {0};

	(void)state;
	assert_true(isnan(account_percent(&a)));
	a = (struct account){.known = true, .elapsed_s = 1, .cpu_s = 1.001};
	assert_true(account_percent(&a) == 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(share_of_the_cpu), cmocka_unit_test(of_this_thread),
		cmocka_unit_test(page_faults),      cmocka_unit_test(preemptions),
		cmocka_unit_test(not_known),
	};

	return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}

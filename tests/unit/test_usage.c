// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* usage: who works is seen, in whatever thread, and who waits is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "base/account.h"

/* Until the kernel says that so much CPU time was used, whatever the wall clock says. */
static void *work(void *arg)
{
	double least = *(const double *)arg;
	struct timespec t;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < least);
	return NULL;
}

static void work_is_counted(void **state)
{
	double mine = 0.1;
	struct usage u;
	struct timespec t;

	(void)state;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	mine += (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	usage_start(&u);
	work(&mine);
	usage_stop(&u);
	assert_true(u.user_s + u.system_s > 0.09 && u.user_s + u.system_s < 0.2);
	assert_true(u.elapsed_s > 0.09);
	assert_true(usage_percent(&u) > 0 && usage_percent(&u) < 120);
}

static void of_all_threads(void **state)
{
	double each = 0.1;
	pthread_t thread[2];
	struct usage u;

	(void)state;
	usage_start(&u);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, &each), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	usage_stop(&u);
	assert_true(u.user_s + u.system_s > 0.19 && u.user_s + u.system_s < 0.4);
}

static void waiting_costs_nothing(void **state)
{
	struct usage u;

	(void)state;
	usage_start(&u);
	poll(NULL, 0, 100); /* the time that goes by is what is tested */
	usage_stop(&u);
	assert_true(u.user_s + u.system_s < 0.05 && u.elapsed_s > 0.09);
	assert_true(usage_percent(&u) < 50);
}

static void percent(void **state)
{
	(void)state;
	assert_true(usage_percent(&(struct usage){1, 2, 4}) == 75);
	assert_true(usage_percent(&(struct usage){3, 3, 2}) == 300);
	assert_true(usage_percent(&(struct usage){0, 0, 0}) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_counted),
		cmocka_unit_test(of_all_threads),
		cmocka_unit_test(waiting_costs_nothing),
		cmocka_unit_test(percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

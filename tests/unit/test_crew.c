// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* crew: all hands do each job once, at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/crew.h"

#define HANDS 7

struct deck {
	struct crew crew;
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
	assert_int_equal(crew_init(&d.crew, HANDS, &f), 0);
	for (unsigned job = 1; job <= 100; job++) {
		assert_int_equal(crew_run(&d.crew, count, &d), 0);
		for (unsigned i = 0; i < HANDS; i++)
			assert_int_equal(d.done[i], job);
	}
	crew_release(&d.crew);
}

static void one_failure_is_the_crews(void **state)
{
	struct deck d = {0};
	struct fault f = {0};

	(void)state;
	assert_int_equal(crew_init(&d.crew, HANDS, &f), 0);
	for (d.fails = 0; d.fails < HANDS; d.fails++)
		assert_int_equal(crew_run(&d.crew, count, &d), -1);
	assert_int_equal(crew_run(&d.crew, count, &d), 0);
	crew_release(&d.crew);
}

/* Behind the meeting, everybody has come to it. */
static int meet(void *arg, unsigned i)
{
	struct deck *d = arg;

	(void)i;
	atomic_fetch_add(&d->arrived, 1);
	crew_meet(&d->crew);
	return atomic_load(&d->arrived) % HANDS ? -1 : 0;
}

static int meet_twice(void *arg, unsigned i)
{
	struct deck *d = arg;
	int rc = meet(arg, i);

	crew_meet(&d->crew); /* nobody goes on while another still looks */
	return rc;
}

static void a_meeting_waits_for_all(void **state)
{
	struct deck d = {0};
	struct fault f = {0};

	(void)state;
	assert_int_equal(crew_init(&d.crew, HANDS, &f), 0);
	for (int job = 0; job < 100; job++)
		assert_int_equal(crew_run(&d.crew, meet_twice, &d), 0);
	crew_release(&d.crew);
}

static void alone_it_is_a_call(void **state)
{
	struct deck d = {.fails = 1};
	struct fault f = {0};

	(void)state;
	assert_int_equal(crew_init(&d.crew, 1, &f), 0);
	assert_int_equal(crew_run(&d.crew, count, &d), 0);
	crew_meet(&d.crew);
	assert_int_equal(d.done[0], 1);
	crew_release(&d.crew);
	crew_release(&d.crew); /* nothing left, nothing done */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_hand_does_every_job_once),
		cmocka_unit_test(one_failure_is_the_crews),
		cmocka_unit_test(a_meeting_waits_for_all),
		cmocka_unit_test(alone_it_is_a_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* idle: pauses of a loop whose polls take a known time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/idle.h"

#define POLL 10

/* A loop: it works, then polls in vain. */
struct loop {
	struct idle_time idle;
	uint64_t now;
	bool each; /* it reads the clock at each poll */
};

static void start(struct loop *l, unsigned cqs)
{
	idle_start(&l->idle, cqs);
	l->now = 1000000;
	l->each = false;
}

/* WORK ticks, the poll that found it among them, and then EMPTY polls. */
static void turn(struct loop *l, uint64_t work, unsigned empty)
{
	l->now += work;
	for (unsigned i = 0; i < empty; i++) {
		l->now += POLL;
		if (idle_empty(&l->idle, i == 0) || l->each)
			idle_timed(&l->idle, l->now);
	}
}

static void check(const struct loop *l, double share)
{
	double is = idle_share(&l->idle, l->now - 1000000);

	assert_true(fabs(is - share) < 1e-9);
}

static void nobody_looks(void **state)
{
	struct idle_time never = {0};
	struct loop l;

	(void)state;
	assert_true(isnan(idle_share(&never, 100)));
	start(&l, 1);
	assert_true(isnan(idle_share(&l.idle, 0)));
	turn(&l, 500, 0);
	check(&l, 0);
}

static void every_empty_poll_counts(void **state)
{
	struct loop l;

	(void)state;
	start(&l, 1);
	for (int i = 0; i < 100; i++)
		turn(&l, 60, 4);
	check(&l, 0.4);
	/* the first one of each, too, though its beginning is not known */
	start(&l, 1);
	turn(&l, 80, 2);
	for (int i = 0; i < 999; i++)
		turn(&l, 90, 1);
	check(&l, (2. + 999) * POLL / (100 + 999 * 100));
}

static void work_between_two_pauses_is_not_idle(void **state)
{
	struct loop l;

	(void)state;
	start(&l, 1);
	turn(&l, 100000, 2);
	turn(&l, 100000, 2);
	check(&l, 40. / 200040);
}

/* Single empty polls alone: how long they are is not known, and they are left out. */
static void what_is_not_known_is_not_idle(void **state)
{
	struct loop l;

	(void)state;
	start(&l, 1);
	for (int i = 0; i < 10; i++)
		turn(&l, 90, 1);
	check(&l, 0);
}

/* The clock is read after 1, 2, 3, 4, 6, 8, 12 … polls: the others take as long as those. */
static void not_each_poll_reads_the_clock(void **state)
{
	struct loop l;
	unsigned read = 0;

	(void)state;
	for (unsigned polls = 1; polls <= 1000; polls++)
		for (int each = 0; each < 2; each++) {
			start(&l, 1);
			l.each = each;
			turn(&l, 60, 2);
			turn(&l, 60, polls);
			turn(&l, 60, polls);
			check(&l, (2. + 2 * polls) * POLL / (180 + (2. + 2 * polls) * POLL));
		}
	start(&l, 1);
	for (int i = 0; i < 1000; i++)
		read += idle_empty(&l.idle, i == 0);
	assert_int_equal(read, 19);
}

/* A poll that is held up is no shorter than the others. */
static void the_shortest_poll_is_the_measure(void **state)
{
	struct loop l;

	(void)state;
	start(&l, 1);
	turn(&l, 50, 1);
	l.now += 100000;
	assert_true(idle_empty(&l.idle, false));
	idle_timed(&l.idle, l.now);
	turn(&l, 50, 3);
	assert_int_equal(l.idle.least_ticks, POLL);
	assert_int_equal(l.idle.ticks, 100000);
}

/* With three CQs, one or two of them empty are no pause: the third may have something. */
static void all_cqs_are_empty(void **state)
{
	struct loop l;

	(void)state;
	start(&l, 3);
	for (int i = 0; i < 100; i++)
		turn(&l, 50, 2);
	check(&l, 0);
	turn(&l, 50, 5);
	turn(&l, 50, 0);
	check(&l, 3. * POLL / (100. * (50 + 2 * POLL) + 50 + 5 * POLL + 50));
}

static void the_last_pause_is_forgotten(void **state)
{
	struct loop l;
	uint64_t now;

	(void)state;
	start(&l, 1);
	turn(&l, 60, 4);
	now = l.now;
	turn(&l, 60, 1000);
	idle_end(&l.idle);
	l.now = now + 60;
	check(&l, 40. / 160);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_looks),
		cmocka_unit_test(every_empty_poll_counts),
		cmocka_unit_test(work_between_two_pauses_is_not_idle),
		cmocka_unit_test(what_is_not_known_is_not_idle),
		cmocka_unit_test(not_each_poll_reads_the_clock),
		cmocka_unit_test(the_shortest_poll_is_the_measure),
		cmocka_unit_test(all_cqs_are_empty),
		cmocka_unit_test(the_last_pause_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* paced: what is posted when, on QPs that only take notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "paced_bench.h"

static double ns_after_start(const struct bench *b, unsigned post)
{
	return clock_ticks_to_ns(&b->nic.clock,
				 (double)(b->nic.post[post].ticks - b->round.result.start_ticks));
}

/* Post k of BURST posts at once is not made before its burst is due, by the clock's tick. */
static void check_never_early(const struct bench *b, double ns_per_burst, unsigned posts_per_burst)
{
	for (unsigned k = 0; k < b->nic.posts; k++)
		assert_true(ns_after_start(b, k) >=
			    k / posts_per_burst * ns_per_burst - b->nic.clock.ns_per_tick - 2);
}

static void every_message_when_it_is_due(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 1, 1, 500);
	assert_int_equal(run(&b, 100000, 1), 0);
	assert_int_equal(b.nic.posts, 500);
	assert_int_equal(b.round.result.messages, 500);
	check_never_early(&b, 10000, 1);
}

static void qps_take_turns(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 3, 1, 100);
	assert_int_equal(run(&b, 1e6, 1), 0);
	assert_int_equal(b.nic.posts, 300);
	for (unsigned k = 0; k < b.nic.posts; k++)
		assert_int_equal(b.nic.post[k].qp, k % 3);
	check_never_early(&b, 1000, 1);
}

static void lists_and_bursts(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 2, 4, 80);
	assert_int_equal(run(&b, 1e6, 10), 0); /* three posts of four */
	assert_int_equal(b.paced.burst, 12);
	assert_int_equal(b.nic.posts, 40);
	for (unsigned k = 0; k < b.nic.posts; k++)
		assert_int_equal(b.nic.post[k].messages, 4);
	check_never_early(&b, 12000, 3);
}

/* What fills no list goes last, at its time of the schedule. */
static void odd_messages(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 2, 4, 11);
	assert_int_equal(run(&b, 1e6, 4), 0);
	assert_int_equal(b.round.result.messages, 22);
	assert_int_equal(b.nic.posts, 6);
	for (unsigned k = 0; k < 6; k++) {
		assert_int_equal(b.nic.post[k].messages, k < 4 ? 4 : 3);
		assert_int_equal(b.nic.post[k].qp, k % 2);
	}
	assert_true(ns_after_start(&b, 5) >= 5 * 4 * 1000 - b.nic.clock.ns_per_tick - 2);
}

/* A queue that is full delays what is due, and that is all: the schedule goes on. */
static void late_but_not_put_off(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 1, 1, 400);
	b.nic.hold = 200000; /* some milliseconds without a completion */
	assert_int_equal(run(&b, 1e6, 1), 0);
	assert_int_equal(b.round.result.messages, 400);
	assert_int_equal(b.nic.most, 128);
	/* The 272 that found no room, at least until the schedule was caught up with. */
	assert_true(b.paced.late > 100);
	assert_true(b.paced.latest_ticks > b.paced.late_ticks);
	check_never_early(&b, 1000, 1);
}

/* No more completions are under way than the CQ has places. */
static void as_many_as_the_cq_holds(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 2, 4, 400);
	b.qps.send.cqe = 12; /* six posts of each QP */
	b.nic.hold = 1000;
	assert_int_equal(run(&b, 1e9, 4), 0);
	assert_int_equal(b.round.result.messages, 800);
	assert_int_equal(b.nic.most, 24);
}

static void told_to_stop(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 2, 1, 0); /* before it began: only one is due at once */
	assert_int_equal(run(&b, 1e9, 1), 0);
	assert_int_equal(b.nic.posts, 1);
	set_up(&b, 1, 1, ROUND_ENDLESS);
	b.control.abort = true;
	assert_int_equal(run(&b, 0.001, 1), 0);
	assert_int_equal(b.nic.posts, 1);
}

/* So far apart that the time of the last place in the queue, if it were exact, would overflow. */
static void hardly_ever(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 1, 1, ROUND_ENDLESS);
	b.qps.tx_depth = 129;
	b.control.abort = true;
	assert_int_equal(run(&b, 1e-12, 1), 0);
	assert_int_equal(b.nic.posts, 1);
}

static void a_post_that_fails(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 1, 1, 10);
	b.nic.refuse = ENOMEM;
	assert_int_equal(run(&b, 1000, 1), -1);
	assert_int_equal(b.fault.errnum, ENOMEM);
	assert_string_equal(b.fault.call, "ibv_post_send");
}

/* Whether it ends with its target or is told to: the last message of each QP has a completion. */
static void a_completion_for_many(void **state)
{
	static const struct {
		unsigned qps, list, mod, burst;
	} row[] = {{1, 1, 8, 1}, {3, 1, 8, 1}, {1, 2, 8, 4}, {2, 2, 16, 1}, {1, 1, 48, 300}};
	struct bench b;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(row) / sizeof(row[0]); i++) {
		unsigned qps = row[i / 2].qps, mod = row[i / 2].mod;
		bool told = i % 2;

		set_up(&b, qps, row[i / 2].list, told ? ROUND_ENDLESS : 530);
		b.round.cq_mod = mod;
		b.nic.context.ops.poll_cq = told ? finish_on_poll : fake_poll;
		assert_int_equal(run(&b, 1e6, row[i / 2].burst), 0);
		check_never_early(&b, 1000.0 * b.paced.burst, b.paced.burst / row[i / 2].list);
		for (unsigned k = 0; k < qps; k++)
			assert_int_equal(b.nic.under_way[k], 0);
		if (told) /* each QP ends where one of its completions is due, not all with as many
			   */
			assert_int_equal(b.round.result.messages % mod, 0);
		else
			assert_int_equal(b.round.result.messages, 530 * qps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_when_it_is_due),
		cmocka_unit_test(qps_take_turns),
		cmocka_unit_test(lists_and_bursts),
		cmocka_unit_test(odd_messages),
		cmocka_unit_test(late_but_not_put_off),
		cmocka_unit_test(as_many_as_the_cq_holds),
		cmocka_unit_test(told_to_stop),
		cmocka_unit_test(hardly_ever),
		cmocka_unit_test(a_post_that_fails),
		cmocka_unit_test(a_completion_for_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * paced: a round ends so that its rate is the schedule's and never above it, and no rate that is
 * asked for is too much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "paced_bench.h"

static double rate_of(const struct bench *b)
{
	double ns = clock_ticks_to_ns(
		&b->nic.clock, (double)(b->round.result.end_ticks - b->round.result.start_ticks));

	return (double)b->round.result.timed_messages * 1e9 / ns;
}

/*
 * The rate is never above the schedule's. Returns whether it is the schedule's, with the last pause
 * as a part of it: no other task may have had the CPU meanwhile, so a caller tries TRIES times.
 */
#define TRIES 50

static bool keeps_rate(const struct bench *b, double rate)
{
	double ticks = (double)(b->round.result.end_ticks - b->round.result.start_ticks);

	assert_true(rate_of(b) <= rate * (1 + 1e-12));
	assert_true(clock_ticks(&b->nic.clock) >= b->round.result.end_ticks);
	/* the end is a whole tick, which may be long */
	return rate_of(b) >= rate * (0.9999 - 2 / ticks);
}

static void the_pause_of_the_last_burst_counts(void **state)
{
	static const struct {
		unsigned qps, list, burst;
		uint64_t target;
	} row[] = {
		{1, 1, 1, 2},   {1, 1, 100, 500}, {1, 1, 100, 450}, {1, 4, 100, 13},
		{2, 4, 10, 11}, {3, 1, 1, 1},     {1, 1, 100, 7},   {2, 8, 64, 200},
	};
	struct bench b;

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		bool kept = false;

		for (int try = 0; try < TRIES && !kept; try++) {
			set_up(&b, row[i].qps, row[i].list, row[i].target);
			assert_int_equal(run(&b, 1e4, row[i].burst), 0);
			assert_int_equal(b.round.result.messages, row[i].target * row[i].qps);
			kept = keeps_rate(&b, 1e4);
		}
		assert_true(kept);
	}
}

/* In the middle of a burst's time. */
static void told_to_finish_within_a_burst(void **state)
{
	struct bench b;
	bool kept = false;

	(void)state;
	for (int try = 0; try < TRIES && !kept; try++) {
		set_up(&b, 1, 1, ROUND_ENDLESS);
		b.nic.context.ops.poll_cq = finish_on_poll;
		assert_int_equal(run(&b, 1e5, 300), 0);
		assert_true(b.round.result.messages >= 700);
		kept = keeps_rate(&b, 1e5);
	}
	assert_true(kept);
}

/* What has to abort does not wait: it ends when it says. */
static void nobody_waits_for_it(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 1, 1, 1);
	b.control.abort = true;
	assert_int_equal(run(&b, 0.001, 1), 0);
	assert_int_equal(b.round.result.messages, 1);
	assert_true(b.round.result.end_ticks <= clock_ticks(&b.nic.clock));
}

/* Who receives such a stream has no rate above it, however the bursts come. */
static int arrive_at_once(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	struct nic *n = (struct nic *)(void *)cq->context;
	struct bench *b = (struct bench *)(void *)n;
	int count = 0;

	while (count < entries && n->taken < b->control.expected)
		wc[count++] = (struct ibv_wc){.status = IBV_WC_SUCCESS, .wr_id = 0}, n->taken++;
	return count;
}

static void the_receiver_s_rate(void **state)
{
	struct bench b;
	struct recv_qp qp = {0}; /* nothing is posted again */
	int left = 1000000;
	struct recv_queue queue = {.qp = &qp, .until_repost = &left, .count = 1, .batch = 1000000};
	bool kept = false;

	(void)state;
	for (int try = 0; try < TRIES && !kept; try++) {
		set_up(&b, 1, 1, 0);
		b.nic.context.ops.poll_cq = arrive_at_once;
		b.control.expected = 300;
		b.round.receives = &queue;
		b.qps.recv = b.qps.send;
		paced_init(&b.paced, 1e5, 300, 1, &b.nic.clock);
		assert_int_equal(stream_receive(&b.round), 0);
		assert_int_equal(b.round.result.messages, 300);
		kept = keeps_rate(&b, 1e5);
	}
	assert_true(kept);
}

/* No rate of a peer, however small or large, is beyond what an integer of ticks can be. */
static void rates_without_measure(void **state)
{
	static const double rates[] = {0, 0x1p-1074, 1e-300, 0x1p64, 1e300, INFINITY, NAN};
	struct bench b;

	(void)state;
	set_up(&b, 1, 1, 1);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		paced_init(&b.paced, rates[i], 1, 1, &b.nic.clock);
		assert_true(b.paced.step <= (unsigned __int128)1 << 126);
		assert_int_equal(b.paced.step == 0, rates[i] > 1e200);
	}
}

/* Take what is due at random moments, and compare with each message's own time. */
static void check_taken(unsigned burst, unsigned list)
{
	const struct clock clock = {.ns_per_tick = 1};
	const uint64_t start = 1000;
	uint64_t now = start, posted = 0, late = 0, latest = 0, random = 1;
	struct paced p;

	paced_init(&p, 3e7, burst, list, &clock); /* 33.3 ticks each */
	paced_start(&p, start);
	for (int k = 0; k < 4000; k++) {
		uint64_t most, n, by;

		random = random * 6364136223846793005 + 1442695040888963407;
		most = (1 + (random >> 60)) * list;
		now += (random >> 40) % (k & 512 ? 100 : 700) * list;
		for (n = 0; n < most; n++) {
			uint64_t j = (posted + n) / p.burst;

			by = now - start - (uint64_t)((p.burst_step * j) >> 64);
			if ((int64_t)by < 0)
				break;
			late += by > p.late_ticks;
			latest = by > latest ? by : latest;
		}
		posted += n;
		assert_int_equal(paced_take(&p, now, most), n);
		assert_int_equal(p.late, late);
		assert_int_equal(p.latest_ticks, latest);
	}
	assert_in_range(late, posted / 20, posted - posted / 20);
}

static void each_message_has_its_time(void **state)
{
	(void)state;
	check_taken(1, 1);
	check_taken(10, 1);
	check_taken(8, 8);
	check_taken(20, 8); /* three lists */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pause_of_the_last_burst_counts),
		cmocka_unit_test(told_to_finish_within_a_burst),
		cmocka_unit_test(nobody_waits_for_it),
		cmocka_unit_test(the_receiver_s_rate),
		cmocka_unit_test(rates_without_measure),
		cmocka_unit_test(each_message_has_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

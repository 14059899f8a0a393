// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* paced: what is posted when, on QPs that only take notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "loop/paced.h"
#include "loop/stream.h"
#include "verbs/transports.h"

#define QPS_MAX   4
#define POSTS_MAX 4096
#define SIZE      64

/* A NIC: completes what was posted when it is polled, and not before `hold` polls. */
struct nic {
	struct ibv_context context;
	struct ibv_qp qp[QPS_MAX];
	struct ibv_cq cq;
	struct clock clock;
	struct post {
		uint64_t ticks;
		unsigned qp, messages;
		unsigned completes; /* messages; 0: it has no completion */
	} post[POSTS_MAX];
	unsigned posts, taken;
	unsigned under_way[QPS_MAX], most;
	unsigned open[QPS_MAX]; /* messages since the last that was signalled */
	uint64_t hold;          /* polls that find nothing */
	int refuse;             /* errno of the next post */
};

static int fake_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct nic *n = (struct nic *)(void *)qp->context;
	struct post *p = &n->post[n->posts];
	unsigned i = (unsigned)(qp - n->qp);

	*bad = wr;
	if (n->refuse)
		return n->refuse;
	assert_true(n->posts < POSTS_MAX);
	*p = (struct post){.ticks = clock_ticks(&n->clock), .qp = i};
	for (; wr; wr = wr->next) {
		p->messages++;
		n->open[i]++;
		if (!(wr->send_flags & IBV_SEND_SIGNALED))
			continue;
		assert_null(wr->next);
		assert_int_equal(wr->wr_id, (uint64_t)n->open[i] << STREAM_QP_BITS | i);
		p->completes = n->open[i];
		n->open[i] = 0;
	}
	n->under_way[i] += p->messages;
	if (n->under_way[i] > n->most)
		n->most = n->under_way[i];
	n->posts++;
	return 0;
}

static int fake_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	struct nic *n = (struct nic *)(void *)cq->context;
	int count = 0;

	if (n->hold) {
		n->hold--;
		return 0;
	}
	while (count < entries && n->taken < n->posts) {
		const struct post *p = &n->post[n->taken++];

		if (!p->completes)
			continue;
		wc[count++] = (struct ibv_wc){
			.wr_id = (uint64_t)p->completes << STREAM_QP_BITS | p->qp,
			.status = IBV_WC_SUCCESS,
		};
		n->under_way[p->qp] -= p->completes;
	}
	return count;
}

/* All that a round needs. */
struct bench {
	struct nic nic;
	struct ibv_qp *qp[QPS_MAX];
	struct qp_set qps;
	struct cq_link link; /* a ring of one CQ */
	struct round_control control;
	struct fault fault;
	struct paced paced;
	struct round round;
};

static void set_up(struct bench *b, unsigned qps, unsigned list, uint64_t target)
{
	memset(b, 0, sizeof(*b));
	clock_init(&b->nic.clock, "/sys");
	clock_calibrate(&b->nic.clock);
	b->nic.context.ops.post_send = fake_post;
	b->nic.context.ops.poll_cq = fake_poll;
	b->nic.cq = (struct ibv_cq){.context = &b->nic.context, .cqe = 1024};
	for (unsigned i = 0; i < qps; i++) {
		b->nic.qp[i].context = &b->nic.context;
		b->qp[i] = &b->nic.qp[i];
	}
	b->link = (struct cq_link){&b->nic.cq, &b->link};
	b->qps = (struct qp_set){.transport = transport_rc(),
				 .qp = b->qp,
				 .count = qps,
				 .tx_depth = 128,
				 .send_cq = &b->nic.cq,
				 .send = {.link = &b->link, .count = 1, .cqe = 1024}};
	b->round = (struct round){
		.qps = &b->qps,
		.size_bytes = SIZE,
		.post_list = list,
		.cq_mod = list,
		.no_peak = true,
		.clock = &b->nic.clock,
		.control = &b->control,
		.fault = &b->fault,
		.paced = &b->paced,
	};
	b->control.target = target;
}

static int run(struct bench *b, double rate, unsigned burst)
{
	paced_init(&b->paced, rate, burst, b->round.post_list, &b->nic.clock);
	b->round.opcode = IBV_WR_RDMA_WRITE;
	return stream_run(&b->round);
}

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
	set_up(&b, 1, 1, 0);
	assert_int_equal(run(&b, 1, 1), 0);
	assert_int_equal(b.nic.posts, 0);
	set_up(&b, 1, 1, ROUND_ENDLESS);
	b.control.abort = true;
	assert_int_equal(run(&b, 0.001, 1), 0);
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

/* As the watch does when -D is over. */
static int finish_on_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	struct nic *n = (struct nic *)(void *)cq->context;
	struct bench *b = (struct bench *)(void *)n; /* its first member */

	if (n->posts >= 700)
		b->control.target = 0;
	return fake_poll(cq, entries, wc);
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
		if (told)
			assert_int_equal(b.round.result.messages % (mod * qps), 0);
		else
			assert_int_equal(b.round.result.messages, 530 * qps);
	}
}

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

/* What is in a hurry does not wait, nor does what has to abort: it ends when it says. */
static void nobody_waits_for_it(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 1, 1, 1);
	paced_init(&b.paced, 0.001, 1, 1, &b.nic.clock);
	b.paced.no_wait = true;
	assert_int_equal(stream_run(&b.round), 0);
	assert_true(b.round.result.end_ticks <= clock_ticks(&b.nic.clock));
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
		cmocka_unit_test(a_post_that_fails),
		cmocka_unit_test(a_completion_for_many),
		cmocka_unit_test(the_pause_of_the_last_burst_counts),
		cmocka_unit_test(told_to_finish_within_a_burst),
		cmocka_unit_test(nobody_waits_for_it),
		cmocka_unit_test(the_receiver_s_rate),
		cmocka_unit_test(rates_without_measure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

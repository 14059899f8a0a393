// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stream: the addresses and keys of what is posted, on QPs that only take notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "loop/alone.h"
#include "loop/paced.h"
#include "loop/loops.h"
#include "loop/stream.h"
#include "verbs/transports.h"

#define QPS_MAX  3
#define SENT_MAX 4096
#define OUT_ADDR UINT64_C(0x100000040)
#define IN_ADDR  UINT64_C(0x700000040)
#define OUT_EACH UINT64_C(0x1000000)
#define IN_EACH  UINT64_C(0x2000000)
#define PAGE     4096

/* Completes what is posted as soon as it is polled. */
struct nic {
	struct ibv_context context;
	struct ibv_qp qp[QPS_MAX];
	struct ibv_cq cq;
	struct sent {
		uint64_t from, to;
		uint32_t lkey, rkey;
	} sent[QPS_MAX][SENT_MAX];
	unsigned count[QPS_MAX], under_way[QPS_MAX], most;
	uint64_t signalled[SENT_MAX]; /* wr_id */
	unsigned begin, end;
};

static int fake_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct nic *n = (struct nic *)(void *)qp->context;
	unsigned i = (unsigned)(qp - n->qp);

	*bad = wr;
	for (; wr; wr = wr->next) {
		assert_true(n->count[i] < SENT_MAX);
		n->sent[i][n->count[i]++] =
			(struct sent){wr->sg_list->addr, wr->wr.rdma.remote_addr, wr->sg_list->lkey,
				      wr->wr.rdma.rkey};
		if (++n->under_way[i] > n->most)
			n->most = n->under_way[i];
		if (wr->send_flags & IBV_SEND_SIGNALED)
			n->signalled[n->end++ % SENT_MAX] = wr->wr_id;
	}
	return 0;
}

static int fake_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	struct nic *n = (struct nic *)(void *)cq->context;
	int count = 0;

	for (; count < entries && n->begin != n->end; count++) {
		uint64_t id = n->signalled[n->begin++ % SENT_MAX];

		wc[count] = (struct ibv_wc){.wr_id = id};
		n->under_way[(uint32_t)id] -= (unsigned)(id >> STREAM_QP_BITS);
	}
	return count;
}

struct bench {
	struct nic nic;
	struct ibv_qp *qp[QPS_MAX];
	struct qp_set qps;
	struct cq_link link; /* a ring of one CQ */
	struct round_control control;
	struct clock clock;
	struct fault fault;
	struct paced paced;
	struct round round;
};

static const uint32_t lkeys[QPS_MAX] = {11, 12, 13}, rkeys[QPS_MAX] = {21, 22, 23};

static void set_up(struct bench *b, uint64_t size, uint64_t target)
{
	memset(b, 0, sizeof(*b));
	clock_init(&b->clock, "/sys");
	b->nic.context.ops.post_send = fake_post;
	b->nic.context.ops.poll_cq = fake_poll;
	b->nic.cq = (struct ibv_cq){.context = &b->nic.context, .cqe = 1024};
	for (unsigned i = 0; i < QPS_MAX; i++) {
		b->nic.qp[i].context = &b->nic.context;
		b->qp[i] = &b->nic.qp[i];
	}
	b->link = (struct cq_link){&b->nic.cq, &b->link};
	b->qps = (struct qp_set){.transport = transport_rc(),
				 .qp = b->qp,
				 .count = QPS_MAX,
				 .tx_depth = 128,
				 .send_cq = &b->nic.cq,
				 .send = {.link = &b->link, .count = 1, .cqe = 1024}};
	b->round = (struct round){
		.qps = &b->qps,
		.size_bytes = size,
		.post_list = 4,
		.cq_mod = 16,
		.no_peak = true,
		.memory.from = {OUT_ADDR, OUT_EACH, 1, NULL},
		.memory.remote = {IN_ADDR, IN_EACH, 2, NULL},
		.clock = &b->clock,
		.control = &b->control,
		.fault = &b->fault,
	};
	b->control.target = target;
}

/* What QP I posts: its target; told to stop before it began, the first one a message. */
static uint64_t due(const struct bench *b, unsigned i)
{
	return b->control.target ? b->control.target : i == 0;
}

/* Every QP's messages walk by STEP through COUNT places, at both ends if WRITES. */
static void check_walk(const struct bench *b, uint64_t step, uint64_t places, bool writes)
{
	for (unsigned i = 0; i < b->qps.count; i++) {
		assert_int_equal(b->nic.count[i], due(b, i));
		for (unsigned k = 0; k < b->nic.count[i]; k++) {
			const struct sent *s = &b->nic.sent[i][k];
			uint64_t offset = k % places * step;

			assert_int_equal(s->from, OUT_ADDR + i * OUT_EACH + offset);
			assert_int_equal(s->to, writes ? IN_ADDR + i * IN_EACH + offset : 0);
		}
	}
}

static void run(struct bench *b, enum ibv_wr_opcode opcode)
{
	uint64_t all = 0;

	b->round.opcode = opcode;
	assert_int_equal(stream_run(&b->round), 0);
	for (unsigned i = 0; i < b->qps.count; i++)
		all += due(b, i);
	assert_int_equal(b->round.result.messages, all);
}

static void a_footprint_is_walked_through_and_begun_again(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 100, 1600);
	b.round.memory.walk_bytes =
		100000; /* 781 places of 128 bytes, and 32 bytes that are too few */
	run(&b, IBV_WR_RDMA_WRITE);
	check_walk(&b, 128, 781, true);
}

/* The last ones are fewer than a post; one QP has a loop of its own. */
static void with_messages_that_fill_no_post(void **state)
{
	struct bench b;

	(void)state;
	for (unsigned qps = 1; qps <= QPS_MAX; qps++) {
		set_up(&b, 65536, 1003);
		b.qps.count = qps;
		b.round.memory.walk_bytes = 10 * 65536;
		run(&b, IBV_WR_RDMA_WRITE);
		check_walk(&b, 65536, 10, true);
	}
}

/* Whatever divides what: each message once, in order, and the last one has a completion. */
static void every_shape_of_a_queue(void **state)
{
	static const unsigned shapes[][3] = {
		{1, 1, 1},     {5, 1, 4},    {7, 4, 4},   {100, 1, 24},  {192, 1, 48},
		{192, 32, 32}, {192, 8, 48}, {64, 64, 4}, {130, 64, 64}, {33, 1, 1}};
	struct bench b;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned qps = 1; qps <= QPS_MAX; qps++)
			for (uint64_t target = 0; target < 1000; target = target * 3 + 1) {
				set_up(&b, 64, target);
				b.qps.count = qps;
				b.qps.tx_depth = shapes[i][0];
				b.round.post_list = shapes[i][1];
				b.round.cq_mod = shapes[i][2];
				b.round.memory.walk_bytes = 6400;
				run(&b, IBV_WR_RDMA_WRITE);
				check_walk(&b, 64, 100, true);
				assert_true(b.nic.most <= shapes[i][0]);
			}
}

/* A SEND has no address at the other end; nor may one be written, where others have theirs. */
static void sends_walk_at_their_own_end(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 4000, 500);
	b.round.memory.walk_bytes = 1 << 20;
	run(&b, IBV_WR_SEND);
	check_walk(&b, 4032, (1 << 20) / 4032, false);
}

static void by_a_schedule_too(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 64, 1001);
	clock_calibrate(&b.clock);
	paced_init(&b.paced, 1e7, 4, 4, &b.clock);
	b.round.paced = &b.paced;
	b.round.cq_mod = b.round.post_list;
	b.round.memory.walk_bytes = 64000;
	run(&b, IBV_WR_RDMA_WRITE);
	check_walk(&b, 64, 1000, true);
}

static void no_room_for_a_second_one(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 65536, 64);
	b.round.memory.walk_bytes = 2 * 65536 - 1;
	run(&b, IBV_WR_RDMA_WRITE);
	check_walk(&b, 0, 1, true);
}

static void aligned_ones_go_from_page_to_page(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 100, 160);
	b.round.memory.unit_bytes = PAGE;
	run(&b, IBV_WR_RDMA_WRITE);
	check_walk(&b, 0, 1, true);
	set_up(&b, 5000, 160);
	b.round.memory.unit_bytes = PAGE;
	b.round.memory.walk_bytes = 9 * PAGE;
	run(&b, IBV_WR_RDMA_WRITE);
	check_walk(&b, 2 * PAGE, 4, true);
}

/* As ever: the ring's 16 messages walk through a page. */
static void without_a_footprint(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 64, 160);
	run(&b, IBV_WR_RDMA_WRITE);
	check_walk(&b, 64, 16, true);
	set_up(&b, 1000, 160);
	run(&b, IBV_WR_SEND);
	check_walk(&b, 1024, 4, false);
	set_up(&b, 2049, 160);
	run(&b, IBV_WR_RDMA_WRITE);
	check_walk(&b, 0, 1, true);
}

static void each_qp_has_its_keys(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, 64, 16);
	run(&b, IBV_WR_RDMA_WRITE);
	for (unsigned i = 0; i < QPS_MAX; i++) {
		assert_int_equal(b.nic.sent[i][5].lkey, 1);
		assert_int_equal(b.nic.sent[i][5].rkey, 2);
	}
	set_up(&b, 64, 16);
	b.round.memory.from.keys = lkeys;
	b.round.memory.remote.keys = rkeys;
	run(&b, IBV_WR_RDMA_WRITE);
	for (unsigned i = 0; i < QPS_MAX; i++) {
		assert_int_equal(b.nic.sent[i][5].lkey, lkeys[i]);
		assert_int_equal(b.nic.sent[i][5].rkey, rkeys[i]);
	}
}

/* Not silently another one. */
static void what_cannot_be_posted_is_a_fault(void **state)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_LOCAL_INV, IBV_WR_BIND_MW,
						     IBV_WR_SEND_WITH_INV};
	struct bench b;

	(void)state;
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		set_up(&b, 100, 0);
		b.round.opcode = opcodes[i];
		assert_int_equal(stream_run(&b.round), -1);
		assert_int_equal(b.round.fault->code, FAULT_LOCAL);
		assert_int_equal(b.round.result.messages, 0);
		fault_clear(b.round.fault);
	}
}

/* Lone messages first, then the rest: as many as there are, however they are posted. */
static void lone_ones_are_some_of_them(void **state)
{
	static const uint64_t targets[] = {0, 1, 2, 5, 16, 33, 100, 1003};
	static const unsigned shapes[][2] = {{1, 1}, {1, 16}, {4, 16}, {64, 4}};
	struct bench b;

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]) * 4; i++) {
		unsigned list = shapes[i % 4][0], mod = shapes[i % 4][1];
		uint64_t target = targets[i / 4];
		struct alone alone = {0};

		set_up(&b, 64, target);
		clock_calibrate(&b.clock);
		b.round.post_list = list;
		b.round.cq_mod = mod;
		b.round.alone = &alone;
		b.round.alone_first = true;
		run(&b, IBV_WR_SEND);
		for (unsigned k = 0; k < QPS_MAX; k++)
			assert_int_equal(b.nic.count[k], due(&b, k));
		assert_true(alone.over);
		assert_int_equal(alone.ticks > 0, target / 2 * QPS_MAX >= ALONE_LEAST);
	}
}

/* Another worker has measured: this one waits no more, and sends all as ever. */
static void another_one_sends_the_lone_ones(void **state)
{
	struct alone alone = {.over = 1, .ticks = 7};
	struct bench b;

	(void)state;
	set_up(&b, 64, 100);
	clock_calibrate(&b.clock);
	b.round.alone = &alone;
	run(&b, IBV_WR_SEND);
	assert_int_equal(alone.ticks, 7);
	/* nor for ever, if it fails */
	alone.over = 0;
	set_up(&b, 64, 0);
	clock_calibrate(&b.clock);
	b.round.alone = &alone;
	b.control.abort = true;
	assert_int_equal(stream_run(&b.round), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_footprint_is_walked_through_and_begun_again),
		cmocka_unit_test(with_messages_that_fill_no_post),
		cmocka_unit_test(every_shape_of_a_queue),
		cmocka_unit_test(sends_walk_at_their_own_end),
		cmocka_unit_test(by_a_schedule_too),
		cmocka_unit_test(no_room_for_a_second_one),
		cmocka_unit_test(aligned_ones_go_from_page_to_page),
		cmocka_unit_test(without_a_footprint),
		cmocka_unit_test(each_qp_has_its_keys),
		cmocka_unit_test(what_cannot_be_posted_is_a_fault),
		cmocka_unit_test(lone_ones_are_some_of_them),
		cmocka_unit_test(another_one_sends_the_lone_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

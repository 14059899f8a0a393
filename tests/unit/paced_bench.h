/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * paced_bench: a round by a schedule, on QPs that only take notes of what is posted when. Include
 * it after <cmocka.h>.
 */
#pragma once

#include <string.h>

#include "loop/paced.h"
#include "loop/loops.h"
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

/* As the watch does when -D is over. */
static int finish_on_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	struct nic *n = (struct nic *)(void *)cq->context;
	struct bench *b = (struct bench *)(void *)n; /* its first member */

	if (n->posts >= 700)
		b->control.target = 0;
	return fake_poll(cq, entries, wc);
}

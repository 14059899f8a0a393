// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/pingpong.h"

#include <string.h>

void pingpong_init(struct pingpong *p, struct round *r, enum ibv_wr_opcode opcode)
{
	uint64_t interval = 1;

	memset(p, 0, sizeof(*p));
	p->round = r;
	p->qp = r->qps->qp[0];
	p->send_cq = r->qps->send_cq;
	p->recv_cq = r->qps->recv_cq;
	p->sge = (struct ibv_sge){
		.addr = r->from.addr,
		.length = (uint32_t)r->size_bytes,
		.lkey = r->from.key,
	};
	p->plain = (struct ibv_send_wr){
		.opcode = opcode,
		.sg_list = &p->sge,
		.num_sge = 1,
		.send_flags = r->send_inline ? IBV_SEND_INLINE : 0,
	};
	qp_set_aim(r->qps, 0, &p->plain);
	if (opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM) {
		p->plain.wr.rdma.remote_addr = r->remote.addr;
		p->plain.wr.rdma.rkey = r->remote.key;
	}
	p->from_end = (char *)(uintptr_t)r->from.addr + r->size_bytes;
	p->into_end = (char *)(uintptr_t)r->into.addr + r->size_bytes;
	p->number_mask = r->size_bytes < 4 ? (1u << 8 * r->size_bytes) - 1 : UINT32_MAX;
	p->signalled = p->plain;
	p->signalled.send_flags |= IBV_SEND_SIGNALED;
	/* Two intervals must fit the send queue: one under way, one before its signal. */
	while (interval * 4 <= r->qps->tx_depth)
		interval *= 2;
	p->signal_mask = interval - 1;
	p->sent = r->qps->sent;
	p->signal_pending = r->qps->signal_pending;
	p->numbered = r->qps->numbered;
	r->lost = 0;
	bell_start(&r->qps->bell, NULL, &r->qps->recv);
}

void pingpong_leave(struct pingpong *p, uint64_t messages)
{
	p->round->messages = messages;
	p->round->qps->numbered += messages;
	p->round->qps->sent = p->sent;
	p->round->qps->signal_pending = p->signal_pending;
}

void pingpong_pause(const struct pingpong *p)
{
	const struct round *r = p->round;
	uint64_t until_ns = clock_raw_ns() + r->gap_ns;

	while (!round_quit(r) && round_target(r) && clock_raw_ns() < until_ns)
		;
}

int pingpong_reap(struct pingpong *p)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(p->send_cq, 1, &wc)) == 0)
		if (round_quit(p->round))
			return 0;
	if (n < 0)
		return round_verb_failed(p->round, n, "ibv_poll_cq");
	if (wc.status != IBV_WC_SUCCESS)
		return round_completion_failed(p->round, &wc, "request");
	p->signal_pending = false;
	return 0;
}

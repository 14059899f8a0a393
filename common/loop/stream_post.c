// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How requests of a ring get into the send queue: by ibv_post_send, or by the ibv_wr_* calls. */
#include "loop/stream.h"

static int failed(const struct stream *s, int rc, const char *verb)
{
	round_verb_failed(s->round, rc, verb);
	return -1;
}

/* One call for each CHAIN, which is linked. */
static int by_post_send(struct stream *s, struct stream_lane *l, struct ibv_send_wr *wr,
			const struct ibv_send_wr *end, unsigned chain)
{
	struct ibv_qp *qp = l->qp;

	do {
		int rc = ibv_post_send(qp, wr, &s->bad);

		if (UNLIKELY(rc))
			return failed(s, rc, "ibv_post_send");
		wr += chain;
	} while (wr != end);
	return 0;
}

/* The ring is one chain. */
static int by_one_post_send(struct stream *s, struct stream_lane *l, struct ibv_send_wr *wr,
			    const struct ibv_send_wr *end, unsigned chain)
{
	int rc = ibv_post_send(l->qp, wr, &s->bad);

	(void)end;
	(void)chain;
	return LIKELY(rc == 0) ? 0 : failed(s, rc, "ibv_post_send");
}

/* One request; OPCODE, INLINED and DATAGRAM are constants. */
static ALWAYS_INLINE void put(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
			      const enum ibv_wr_opcode opcode, const bool inlined,
			      const bool datagram)
{
	const struct ibv_sge *sge = wr->sg_list;

	qp->wr_id = wr->wr_id;
	qp->wr_flags = wr->send_flags; /* with "inline", which soft-RoCE asks for and none minds */
	if (opcode == IBV_WR_SEND)
		ibv_wr_send(qp);
	else if (opcode == IBV_WR_RDMA_WRITE)
		ibv_wr_rdma_write(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	else
		ibv_wr_rdma_write_imm(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data);
	if (datagram)
		ibv_wr_set_ud_addr(qp, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	if (inlined)
		ibv_wr_set_inline_data(qp, (void *)(uintptr_t)sge->addr, sge->length);
	else
		ibv_wr_set_sge(qp, sge->lkey, sge->addr, sge->length);
}

/* One doorbell for each CHAIN. */
static ALWAYS_INLINE int by_wr(struct stream *s, struct stream_lane *l, struct ibv_send_wr *wr,
			       const struct ibv_send_wr *end, unsigned chain,
			       const enum ibv_wr_opcode opcode, const bool inlined,
			       const bool datagram)
{
	struct ibv_qp_ex *qp = l->qp_ex;

	do {
		const struct ibv_send_wr *next = wr + chain;
		int rc;

		ibv_wr_start(qp);
		do {
			put(qp, wr++, opcode, inlined, datagram);
		} while (wr != next);
		rc = ibv_wr_complete(qp);
		if (UNLIKELY(rc))
			return failed(s, rc, "ibv_wr_complete");
	} while (wr != end);
	return 0;
}

/* One instance for each set of constants. */
#define BY_WR(name, opcode, inlined, datagram)                                           \
	static int name(struct stream *s, struct stream_lane *l, struct ibv_send_wr *wr, \
			const struct ibv_send_wr *end, unsigned chain)                   \
	{                                                                                \
		return by_wr(s, l, wr, end, chain, opcode, inlined, datagram);           \
	}
BY_WR(by_wr_send, IBV_WR_SEND, false, false)
BY_WR(by_wr_send_inline, IBV_WR_SEND, true, false)
BY_WR(by_wr_datagram, IBV_WR_SEND, false, true)
BY_WR(by_wr_datagram_inline, IBV_WR_SEND, true, true)
BY_WR(by_wr_write, IBV_WR_RDMA_WRITE, false, false)
BY_WR(by_wr_write_inline, IBV_WR_RDMA_WRITE, true, false)
BY_WR(by_wr_write_imm, IBV_WR_RDMA_WRITE_WITH_IMM, false, false)
BY_WR(by_wr_write_imm_inline, IBV_WR_RDMA_WRITE_WITH_IMM, true, false)

static stream_post *by_wr_for(const struct round *r, enum ibv_wr_opcode opcode)
{
	static stream_post *const send[] = {by_wr_send, by_wr_send_inline};
	static stream_post *const datagram[] = {by_wr_datagram, by_wr_datagram_inline};
	static stream_post *const write[] = {by_wr_write, by_wr_write_inline};
	static stream_post *const write_imm[] = {by_wr_write_imm, by_wr_write_imm_inline};

	if (opcode == IBV_WR_SEND)
		return (r->qps->type == IBV_QPT_UD ? datagram : send)[r->send_inline];
	return (opcode == IBV_WR_RDMA_WRITE ? write : write_imm)[r->send_inline];
}

/* Both in turns, each chain timed. */
static int by_trial(struct stream *s, struct stream_lane *l, struct ibv_send_wr *wr,
		    const struct ibv_send_wr *end, unsigned chain)
{
	const struct round *r = s->round;

	for (; wr != end; wr += chain) {
		unsigned way = trial_turn(r->trial);
		uint64_t before = clock_ticks(r->clock);

		if (s->way[way](s, l, wr, wr + chain, chain))
			return -1;
		trial_add(r->trial, way, clock_ticks(r->clock) - before, 1);
	}
	return 0;
}

void stream_choose_post(struct stream *s, enum ibv_wr_opcode opcode)
{
	const struct round *r = s->round;

	s->way[0] = s->chain == s->ring_count ? by_one_post_send : by_post_send;
	s->way[1] = by_wr_for(r, opcode);
	s->post = r->trial ? by_trial : s->way[r->extended];
}

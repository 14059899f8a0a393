// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The rings of a stream, and how their requests get into the send queue: by ibv_post_send, or by
 * the ibv_wr_* calls.
 */
#include "loop/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WALK_BYTES 4096 /* small messages use this much memory in turn, as perftest's do */
#define LINE_BYTES 64

/* Call ibv_post_send() once for each linked CHAIN. */
static int by_post_send(struct stream *s, struct stream_qp *l, struct ibv_send_wr *wr,
			const struct ibv_send_wr *end, unsigned chain)
{
	struct ibv_qp *qp = l->qp;

	do {
		int rc = ibv_post_send(qp, wr, &s->bad);

		if (UNLIKELY(rc))
			return round_verb_failed(s->round, rc, "ibv_post_send");
		wr += chain;
	} while (wr != end);
	return 0;
}

/* Like by_post_send(), where the ring is a single chain: no loop. */
static int by_one_post_send(struct stream *s, struct stream_qp *l, struct ibv_send_wr *wr,
			    const struct ibv_send_wr *end, unsigned chain)
{
	int rc = ibv_post_send(l->qp, wr, &s->bad);

	(void)end;
	(void)chain;
	return LIKELY(rc == 0) ? 0 : round_verb_failed(s->round, rc, "ibv_post_send");
}

/* Build request WR by the ibv_wr_* calls; OPCODE, INLINED and DATAGRAM are constants. */
static ALWAYS_INLINE void build_wr(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
				   const enum ibv_wr_opcode opcode, const bool inlined,
				   const bool datagram)
{
	const struct ibv_sge *sge = wr->sg_list;

	qp->wr_id = wr->wr_id;
	qp->wr_flags = wr->send_flags; /* soft-RoCE needs IBV_SEND_INLINE here, others ignore it */
	if (opcode == IBV_WR_SEND)
		ibv_wr_send(qp);
	else if (opcode == IBV_WR_RDMA_WRITE)
		ibv_wr_rdma_write(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	else if (opcode == IBV_WR_RDMA_READ)
		ibv_wr_rdma_read(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	else if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		ibv_wr_atomic_fetch_add(qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
	else if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		ibv_wr_atomic_cmp_swp(qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
	else
		ibv_wr_rdma_write_imm(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data);
	if (datagram)
		ibv_wr_set_ud_addr(qp, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	if (inlined)
		ibv_wr_set_inline_data(qp, (void *)(uintptr_t)sge->addr, sge->length);
	else
		ibv_wr_set_sge(qp, sge->lkey, sge->addr, sge->length);
}

/* Post by the ibv_wr_* calls, with one doorbell for each CHAIN. */
static ALWAYS_INLINE int by_wr(struct stream *s, struct stream_qp *l, struct ibv_send_wr *wr,
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
			build_wr(qp, wr++, opcode, inlined, datagram);
		} while (wr != next);
		rc = ibv_wr_complete(qp);
		if (UNLIKELY(rc))
			return round_verb_failed(s->round, rc, "ibv_wr_complete");
	} while (wr != end);
	return 0;
}

/* Define a function of this name: by_wr() with these constants. */
#define BY_WR(name, opcode, inlined, datagram)                                         \
	static int name(struct stream *s, struct stream_qp *l, struct ibv_send_wr *wr, \
			const struct ibv_send_wr *end, unsigned chain)                 \
	{                                                                              \
		return by_wr(s, l, wr, end, chain, opcode, inlined, datagram);         \
	}
BY_WR(by_wr_send, IBV_WR_SEND, false, false)
BY_WR(by_wr_send_inline, IBV_WR_SEND, true, false)
BY_WR(by_wr_datagram, IBV_WR_SEND, false, true)
BY_WR(by_wr_datagram_inline, IBV_WR_SEND, true, true)
BY_WR(by_wr_write, IBV_WR_RDMA_WRITE, false, false)
BY_WR(by_wr_write_inline, IBV_WR_RDMA_WRITE, true, false)
BY_WR(by_wr_write_imm, IBV_WR_RDMA_WRITE_WITH_IMM, false, false)
BY_WR(by_wr_write_imm_inline, IBV_WR_RDMA_WRITE_WITH_IMM, true, false)
BY_WR(by_wr_read, IBV_WR_RDMA_READ, false, false)
BY_WR(by_wr_add, IBV_WR_ATOMIC_FETCH_AND_ADD, false, false)
BY_WR(by_wr_swap, IBV_WR_ATOMIC_CMP_AND_SWP, false, false)

/* For each request that a stream can post, the function: not inline, inline (NULL: never). */
static const struct {
	enum ibv_wr_opcode opcode;
	bool datagram;
	stream_post *by_wr[2];
} posts[] = {
	{IBV_WR_SEND, false, {by_wr_send, by_wr_send_inline}},
	{IBV_WR_SEND, true, {by_wr_datagram, by_wr_datagram_inline}},
	{IBV_WR_RDMA_WRITE, false, {by_wr_write, by_wr_write_inline}},
	{IBV_WR_RDMA_WRITE_WITH_IMM, false, {by_wr_write_imm, by_wr_write_imm_inline}},
	{IBV_WR_RDMA_READ, false, {by_wr_read}},
	{IBV_WR_ATOMIC_FETCH_AND_ADD, false, {by_wr_add}},
	{IBV_WR_ATOMIC_CMP_AND_SWP, false, {by_wr_swap}},
};

/* The function that posts R's requests by the ibv_wr_* calls; NULL: there is none. */
static stream_post *by_wr_for(const struct round *r)
{
	for (size_t i = 0; i < sizeof(posts) / sizeof(posts[0]); i++)
		if (posts[i].opcode == r->opcode &&
		    posts[i].datagram == r->qps->transport->addressed)
			return posts[i].by_wr[r->send_inline];
	return NULL;
}

/* Choose the function to post with, as the round requests. */
static int choose_post(struct stream *s)
{
	const struct round *r = s->round;

	s->post = r->extended                 ? by_wr_for(r)
		  : s->chain == s->ring_count ? by_one_post_send
					      : by_post_send;
	if (by_wr_for(r))
		return 0;
	return fault_raise(r->fault, FAULT_LOCAL, EOPNOTSUPP, "a stream of operation %d",
			   (int)r->opcode);
}

/* Bytes from one message's offset to the next; 0 if WALK_BYTES has no room for a second one. */
static uint64_t footprint_step(const struct round *r, uint64_t walk_bytes)
{
	uint64_t unit = r->memory.unit_bytes ? r->memory.unit_bytes : LINE_BYTES;
	uint64_t step = (r->size_bytes + unit - 1) / unit * unit;

	return step > walk_bytes / 2 ? 0 : step;
}

/* Offset of message K of a ring in its slice; large messages all start at 0. */
static uint64_t footprint_offset(const struct round *r, uint64_t k)
{
	uint64_t step = footprint_step(r, WALK_BYTES);

	return step ? k % (WALK_BYTES / step) * step : 0;
}

/* Build COUNT requests for QP I at WR, linked in chains of CHAIN; every GROUPth is signalled. */
static void build_send(const struct stream *s, struct ibv_send_wr *wr, unsigned i, unsigned count,
		       unsigned chain, unsigned group)
{
	const struct round *r = s->round;
	struct ibv_sge *sge = s->sge + (wr - s->ring);

	for (unsigned k = 0; k < count; k++) {
		round_build(r, i, footprint_offset(r, k), &wr[k], &sge[k]);
		wr[k].wr_id = (uint64_t)group << STREAM_QP_BITS | i;
		wr[k].next = (k + 1) % chain && k + 1 < count ? &wr[k + 1] : NULL;
		wr[k].send_flags |= (k + 1) % group ? 0 : IBV_SEND_SIGNALED;
	}
}

int stream_init(struct stream *s, struct round *r)
{
	unsigned qps = r->qps->count, group = r->cq_mod, ring;
	uint64_t target = round_target(r);

	memset(s, 0, sizeof(*s));
	s->round = r;
	s->count = qps;
	/* One divides the other: a ring is a whole number of posts and of signalled groups. */
	s->chain = r->post_list;
	ring = group > s->chain ? group : s->chain;
	s->ring_count = ring;
	s->odd_count = target == ROUND_ENDLESS ? 0 : (unsigned)(target % ring);
	s->qp = calloc(qps, sizeof(*s->qp));
	s->ring = calloc((size_t)qps * (ring + s->odd_count), sizeof(*s->ring));
	s->sge = calloc((size_t)qps * (ring + s->odd_count), sizeof(*s->sge));
	if (!s->qp || !s->ring || !s->sge)
		return fault_raise(r->fault, FAULT_LOCAL, ENOMEM, "allocating requests for %u QPs",
				   qps);
	s->odd = s->ring + (size_t)qps * ring;
	s->step = r->memory.walk_bytes ? footprint_step(r, r->memory.walk_bytes) : 0;
	s->last = s->step ? (r->memory.walk_bytes / s->step - 1) * s->step : 0;
	for (unsigned i = 0; i < qps; i++) {
		struct ibv_send_wr *wr = s->ring + (size_t)i * ring;
		struct ibv_send_wr *odd = s->odd + (size_t)i * s->odd_count;

		build_send(s, wr, i, ring, s->chain, group);
		if (s->odd_count)
			build_send(s, odd, i, s->odd_count, s->odd_count, s->odd_count);
		s->qp[i] = (struct stream_qp){
			.qp = r->qps->qp[i],
			.qp_ex = r->qps->extended ? ibv_qp_to_qp_ex(r->qps->qp[i]) : NULL,
			.ring = wr,
			.room = r->qps->tx_depth,
			.from = r->memory.from.addr + i * r->memory.from.stride,
			.to = r->opcode == IBV_WR_SEND
				      ? 0
				      : r->memory.remote.addr + i * r->memory.remote.stride,
		};
	}
	return choose_post(s);
}

void stream_release(struct stream *s)
{
	free(s->qp);
	free(s->ring);
	free(s->sge);
	memset(s, 0, sizeof(*s));
}

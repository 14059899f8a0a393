// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How requests of a ring get into the send queue: by ibv_post_send, or by the ibv_wr_* calls. */
#include "loop/stream.h"

#include <errno.h>

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
		    posts[i].datagram == (r->qps->type == IBV_QPT_UD))
			return posts[i].by_wr[r->send_inline];
	return NULL;
}

static const char *opcode_name(enum ibv_wr_opcode opcode)
{
	static const char *const names[] = {
		[IBV_WR_SEND] = "SEND",
		[IBV_WR_RDMA_WRITE] = "WRITE",
		[IBV_WR_RDMA_WRITE_WITH_IMM] = "WRITE with immediate",
		[IBV_WR_RDMA_READ] = "READ",
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = "FETCH_AND_ADD",
		[IBV_WR_ATOMIC_CMP_AND_SWP] = "CMP_AND_SWP",
	};
	bool known = opcode < sizeof(names) / sizeof(names[0]) && names[opcode];

	return known ? names[opcode] : "unknown operation";
}

int stream_choose_post(struct stream *s)
{
	const struct round *r = s->round;

	s->post_by[0] = s->chain == s->ring_count ? by_one_post_send : by_post_send;
	s->post_by[1] = by_wr_for(r);
	s->post = s->post_by[r->extended];
	if (s->post_by[1])
		return 0;
	return fault_raise(r->fault, FAULT_LOCAL, EOPNOTSUPP, "%s%s on %s QPs",
			   r->send_inline ? "inline " : "", opcode_name(r->opcode),
			   r->qps->type == IBV_QPT_UD ? "UD" : "connected");
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/post.h"

#include <stddef.h>

/* Call ibv_post_send() once for each linked CHAIN. */
static int by_post_send(struct post_qp *to, struct ibv_send_wr *wr, const struct ibv_send_wr *end,
			unsigned chain)
{
	struct ibv_qp *qp = to->qp;

	do {
		int rc = ibv_post_send(qp, wr, &to->bad);

		if (UNLIKELY(rc))
			return rc;
		wr += chain;
	} while (wr != end);
	return 0;
}

/* Where the message after the one AT is. Hot. */
static ALWAYS_INLINE uint64_t next_address(const struct post_walk *w, uint64_t at)
{
	return UNLIKELY((at += w->step) > w->last) ? w->first : at;
}

/* The walk of single requests with a remote address, each just before ibv_post_send(). */
static int walk_by_post_send(struct post_qp *to, struct ibv_send_wr *wr,
			     const struct ibv_send_wr *end, unsigned chain)
{
	const uint64_t away = to->walk.away;
	uint64_t at = to->walk.at;

	(void)chain;
	for (; wr != end; wr++, at = next_address(&to->walk, at)) {
		int rc;

		wr->sg_list->addr = at;
		wr->wr.rdma.remote_addr = at + away;
		rc = ibv_post_send(to->qp, wr, &to->bad);
		if (UNLIKELY(rc))
			return rc;
	}
	to->walk.at = at;
	return 0;
}

/* Any walk. */
static int walk_then_post(struct post_qp *to, struct ibv_send_wr *wr, const struct ibv_send_wr *end,
			  unsigned chain)
{
	struct post_walk *w = &to->walk;

	for (struct ibv_send_wr *next = wr; next != end; next++, w->at = next_address(w, w->at)) {
		next->sg_list->addr = w->at;
		if (w->remote)
			next->wr.rdma.remote_addr = w->at + w->away;
	}
	return to->then(to, wr, end, chain);
}

/* Build request WR by the ibv_wr_* calls; OPCODE, INLINED and ADDRESSED are constants. */
static ALWAYS_INLINE void build_wr(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
				   const enum ibv_wr_opcode opcode, const bool inlined,
				   const bool addressed)
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
	if (addressed)
		ibv_wr_set_ud_addr(qp, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	if (inlined)
		ibv_wr_set_inline_data(qp, (void *)(uintptr_t)sge->addr, sge->length);
	else
		ibv_wr_set_sge(qp, sge->lkey, sge->addr, sge->length);
}

/* Post by the ibv_wr_* calls, with one doorbell for each CHAIN. */
static ALWAYS_INLINE int by_wr(struct post_qp *to, struct ibv_send_wr *wr,
			       const struct ibv_send_wr *end, unsigned chain,
			       const enum ibv_wr_opcode opcode, const bool inlined,
			       const bool addressed)
{
	struct ibv_qp_ex *qp = to->extended;

	do {
		const struct ibv_send_wr *next = wr + chain;
		int rc;

		ibv_wr_start(qp);
		do {
			build_wr(qp, wr++, opcode, inlined, addressed);
		} while (wr != next);
		rc = ibv_wr_complete(qp);
		if (UNLIKELY(rc))
			return rc;
	} while (wr != end);
	return 0;
}

/* Define a function of this name: by_wr() with these constants. */
#define BY_WR(name, opcode, inlined, addressed)                                                    \
	static int name(struct post_qp *to, struct ibv_send_wr *wr, const struct ibv_send_wr *end, \
			unsigned chain)                                                            \
	{                                                                                          \
		return by_wr(to, wr, end, chain, opcode, inlined, addressed);                      \
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

/* For each request that a stream can post, the calls: not inline, inline (NULL: never). */
static const struct {
	enum ibv_wr_opcode opcode;
	bool addressed;
	post_call *by_wr[2];
} posts[] = {
	{IBV_WR_SEND, false, {by_wr_send, by_wr_send_inline}},
	{IBV_WR_SEND, true, {by_wr_datagram, by_wr_datagram_inline}},
	{IBV_WR_RDMA_WRITE, false, {by_wr_write, by_wr_write_inline}},
	{IBV_WR_RDMA_WRITE_WITH_IMM, false, {by_wr_write_imm, by_wr_write_imm_inline}},
	{IBV_WR_RDMA_READ, false, {by_wr_read}},
	{IBV_WR_ATOMIC_FETCH_AND_ADD, false, {by_wr_add}},
	{IBV_WR_ATOMIC_CMP_AND_SWP, false, {by_wr_swap}},
};

post_call *post_find(const struct post_kind *kind)
{
	for (size_t i = 0; i < sizeof(posts) / sizeof(posts[0]); i++) {
		post_call *call = posts[i].by_wr[kind->inlined];

		if (posts[i].opcode == kind->opcode && posts[i].addressed == kind->addressed)
			return kind->extended || !call ? call : by_post_send;
	}
	return NULL;
}

post_call *post_find_walking(const struct post_kind *kind, unsigned chain)
{
	bool single = chain == 1 && !kind->extended && !kind->addressed;

	return single && kind->opcode != IBV_WR_SEND ? walk_by_post_send : walk_then_post;
}

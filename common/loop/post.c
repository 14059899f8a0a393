// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/post.h"

#include <stddef.h>

#include "verbs/qp.h"

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

/* The same for one chain: nothing has to be kept for a next one. */
static int by_one_post_send(struct post_qp *to, struct ibv_send_wr *wr,
			    const struct ibv_send_wr *end, unsigned chain)
{
	(void)end;
	(void)chain;
	return ibv_post_send(to->qp, wr, &to->bad);
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

/* Build request WR by the ibv_wr_* calls; OPCODE, INLINED and AIM are constants. */
static ALWAYS_INLINE void build_wr(const struct post_qp *to, const struct ibv_send_wr *wr,
				   const enum ibv_wr_opcode opcode, const bool inlined,
				   const enum post_aim aim)
{
	const struct ibv_sge *sge = wr->sg_list;
	struct ibv_qp_ex *qp = to->extended;

	qp->wr_id = wr->wr_id;
	qp->wr_flags = wr->send_flags; /* soft-RoCE needs IBV_SEND_INLINE here, others ignore it */
	if (opcode == IBV_WR_SEND)
		ibv_wr_send(qp);
	else if (opcode == IBV_WR_SEND_WITH_IMM)
		ibv_wr_send_imm(qp, wr->imm_data);
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
	if (aim == POST_TO_ADDRESS)
		ibv_wr_set_ud_addr(qp, to->aim->ah, to->aim->qpn, to->aim->qkey);
	else if (aim == POST_TO_SRQ)
		ibv_wr_set_xrc_srqn(qp, wr->qp_type.xrc.remote_srqn);
	if (inlined)
		ibv_wr_set_inline_data(qp, (void *)(uintptr_t)sge->addr, sge->length);
	else
		ibv_wr_set_sge(qp, sge->lkey, sge->addr, sge->length);
}

/* Post by the ibv_wr_* calls, with one doorbell for each CHAIN. */
static ALWAYS_INLINE int by_wr(struct post_qp *to, struct ibv_send_wr *wr,
			       const struct ibv_send_wr *end, unsigned chain,
			       const enum ibv_wr_opcode opcode, const bool inlined,
			       const enum post_aim aim)
{
	const struct post_qp mine = *to; /* which no store into a QP changes */
	struct ibv_qp_ex *qp = mine.extended;
	int rc;

	if (LIKELY(chain == 1)) {
		do {
			ibv_wr_start(qp);
			build_wr(&mine, wr, opcode, inlined, aim);
			rc = ibv_wr_complete(qp);
		} while (LIKELY(!rc) && ++wr != end);
		return rc;
	}
	do {
		const struct ibv_send_wr *next = wr + chain;

		ibv_wr_start(qp);
		do {
			build_wr(&mine, wr++, opcode, inlined, aim);
		} while (wr != next);
		rc = ibv_wr_complete(qp);
	} while (LIKELY(!rc) && wr != end);
	return rc;
}

/* Define a function of this name: by_wr() with these constants. */
#define BY_WR(name, opcode, inlined, aim)                                      \
	static int by_wr_##name(struct post_qp *to, struct ibv_send_wr *wr,    \
				const struct ibv_send_wr *end, unsigned chain) \
	{                                                                      \
		return by_wr(to, wr, end, chain, opcode, inlined, aim);        \
	}
/* Those of an opcode: for each aim, not inline and inline; and their place in the table. */
#define CALLS(name, opcode)                                \
	BY_WR(name##_peer, opcode, false, POST_TO_PEER)    \
	BY_WR(name##_peer_in, opcode, true, POST_TO_PEER)  \
	BY_WR(name##_to, opcode, false, POST_TO_ADDRESS)   \
	BY_WR(name##_to_in, opcode, true, POST_TO_ADDRESS) \
	BY_WR(name##_srq, opcode, false, POST_TO_SRQ)      \
	BY_WR(name##_srq_in, opcode, true, POST_TO_SRQ)
#define ROW(name)                                                    \
	{                                                            \
		{by_wr_##name##_peer, by_wr_##name##_peer_in},       \
			{by_wr_##name##_to, by_wr_##name##_to_in},   \
			{by_wr_##name##_srq, by_wr_##name##_srq_in}, \
	}
CALLS(send, IBV_WR_SEND)
CALLS(send_imm, IBV_WR_SEND_WITH_IMM)
CALLS(write, IBV_WR_RDMA_WRITE)
CALLS(write_imm, IBV_WR_RDMA_WRITE_WITH_IMM)
CALLS(read, IBV_WR_RDMA_READ)
CALLS(add, IBV_WR_ATOMIC_FETCH_AND_ADD)
CALLS(swap, IBV_WR_ATOMIC_CMP_AND_SWP)

/* By opcode, aim and inline: more than the transports have, so that the table has no holes. */
static post_call *const posts[][POST_AIMS][2] = {
	[IBV_WR_SEND] = ROW(send),
	[IBV_WR_SEND_WITH_IMM] = ROW(send_imm),
	[IBV_WR_RDMA_WRITE] = ROW(write),
	[IBV_WR_RDMA_WRITE_WITH_IMM] = ROW(write_imm),
	[IBV_WR_RDMA_READ] = ROW(read),
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = ROW(add),
	[IBV_WR_ATOMIC_CMP_AND_SWP] = ROW(swap),
};

post_call *post_find(const struct post_kind *kind)
{
	post_call *call = kind->opcode < sizeof(posts) / sizeof(posts[0])
				  ? posts[kind->opcode][kind->aim][kind->inlined]
				  : NULL;

	if (kind->extended || !call)
		return call;
	return kind->single ? by_one_post_send : by_post_send;
}

post_call *post_find_walking(const struct post_kind *kind, unsigned chain)
{
	bool single = chain == 1 && !kind->extended && kind->aim != POST_TO_ADDRESS;

	return single && !post_is_send(kind->opcode) ? walk_by_post_send : walk_then_post;
}

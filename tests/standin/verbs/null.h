/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* null - what both kinds of null mode share: null.c, and null_timed.c with a clock */
#ifndef SIMVERBS_NULL_H
#define SIMVERBS_NULL_H

#include "sim.h"

#include <errno.h>

/* null.c */
int null_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int null_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int null_post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int null_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc);
int null_req_notify(struct ibv_cq *ibv, int solicited_only);
int null_cq_init(struct sim_cq *cq);
void null_cq_hooks(struct sim_cq *cq);
void null_qp_hooks(struct sim_qp *qp);

/* null_timed.c: replaces these, or is added to the hooks */
void null_timed_init(void);
int null_timed_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int null_timed_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int null_timed_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc);
void null_timed_cq_hooks(struct sim_cq *cq);
void null_timed_qp_hooks(struct sim_qp *qp);

void null_wake(struct sim_cq *cq);

static inline void null_push(struct sim_cq *cq, uint64_t wr_id, uint32_t qp_num, uint32_t opcode)
{
	struct null_cqe *e = &cq->null_ring[cq->null_tail++ & cq->null_mask];

	e->wr_id = wr_id;
	e->qp_num = qp_num;
	e->opcode = opcode;
	if (unlikely(cq->null_armed))
		null_wake(cq);
}

/* enum ibv_wr_opcode to enum ibv_wc_opcode, four bits each */
static inline uint32_t null_opcode(uint32_t op)
{
	const uint64_t map = IBV_WC_RDMA_WRITE << 0 | IBV_WC_RDMA_WRITE << 4 | IBV_WC_SEND << 8 |
			     IBV_WC_SEND << 12 | IBV_WC_RDMA_READ << 16 | IBV_WC_COMP_SWAP << 20 |
			     IBV_WC_FETCH_ADD << 24;

	return map >> (op * 4) & 15;
}

static inline void null_report(const struct null_cqe *e, struct ibv_wc *wc)
{
	wc->wr_id = e->wr_id;
	wc->status = IBV_WC_SUCCESS;
	wc->opcode = e->opcode;
	wc->vendor_err = 0;
	wc->byte_len = 0;
	wc->qp_num = e->qp_num;
	wc->wc_flags = 0;
}

/* For ibv_start_poll and ibv_next_poll. */
static inline int null_next_entry(struct sim_cq *cq)
{
	const struct null_cqe *e = &cq->null_ring[cq->null_head & cq->null_mask];

	if (cq->null_head == cq->null_tail)
		return ENOENT;
	cq->null_head++;
	cq->ex.wr_id = e->wr_id;
	cq->ex.status = IBV_WC_SUCCESS;
	cq->cur.wc.qp_num = e->qp_num;
	cq->cur.wc.opcode = e->opcode;
	return 0;
}

static inline bool null_fetches(uint32_t opcode)
{
	return opcode == IBV_WC_RDMA_READ || opcode == IBV_WC_COMP_SWAP ||
	       opcode == IBV_WC_FETCH_ADD;
}

/* True if the request that ibv_wr_* builds is signalled. */
static inline bool null_signalled(const struct sim_qp *q)
{
	return (q->ex.wr_flags & IBV_SEND_SIGNALED) || q->sig_all;
}

#endif

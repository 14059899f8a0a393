// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Null mode: every request completes at once and nothing moves, so that what
 * a program costs by itself can be counted.  No locks, no checks: a work
 * request becomes at most one 16 byte entry in its CQ's ring.
 */
#include "null.h"

#include <stdlib.h>
#include <unistd.h>

int null_cq_init(struct sim_cq *cq)
{
	uint32_t ring = 1;

	while (ring < (uint32_t)cq->ex.cqe)
		ring <<= 1;
	cq->null_ring = calloc(ring, sizeof(*cq->null_ring));
	cq->null_mask = ring - 1;
	if (sim_conf()->timed)
		cq->null_due = calloc(ring, sizeof(*cq->null_due));
	if (cq->null_ring && (cq->null_due || !sim_conf()->timed))
		return 0;
	free(cq->null_ring);
	free(cq->null_due);
	return -1;
}

__attribute__((noinline, cold)) void null_wake(struct sim_cq *cq)
{
	uint64_t one = 1;

	cq->null_armed = 0;
	if (cq->ex.channel && write(cq->ex.channel->fd, &one, sizeof(one)) < 0)
		abort();
}

int null_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;

	(void)bad;
	for (; wr; wr = wr->next)
		if ((wr->send_flags & IBV_SEND_SIGNALED) || qp->sig_all)
			null_push(qp->scq, wr->wr_id, ibv->qp_num, null_opcode(wr->opcode));
	return 0;
}

int null_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;

	(void)bad;
	for (; wr; wr = wr->next)
		null_push(qp->rcq, wr->wr_id, ibv->qp_num, IBV_WC_RECV);
	return 0;
}

int null_post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)bad;
	for (; wr; wr = wr->next)
		null_push(((struct sim_srq *)ibv)->cq, wr->wr_id, 0, IBV_WC_RECV);
	return 0;
}

int null_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct sim_cq *cq = (struct sim_cq *)ibv;
	uint32_t head = cq->null_head, have = cq->null_tail - head;
	const struct null_cqe *e;
	int i;

	if ((uint32_t)n > have)
		n = have;
	for (i = 0; i < n; i++) {
		e = &cq->null_ring[head++ & cq->null_mask];
		null_report(e, &wc[i]);
	}
	cq->null_head = head;
	return n;
}

int null_req_notify(struct ibv_cq *ibv, int solicited_only)
{
	struct sim_cq *cq = (struct sim_cq *)ibv;

	(void)solicited_only;
	cq->null_armed = 1;
	/* receives come for ever: what is there counts as new */
	if (cq->null_head != cq->null_tail)
		null_wake(cq);
	return 0;
}

static int null_start(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	(void)attr;
	return null_next_entry((struct sim_cq *)cq);
}

static int null_next(struct ibv_cq_ex *cq)
{
	return null_next_entry((struct sim_cq *)cq);
}

static void null_end(struct ibv_cq_ex *cq)
{
	(void)cq;
}

void null_cq_hooks(struct sim_cq *cq)
{
	cq->ex.start_poll = null_start;
	cq->ex.next_poll = null_next;
	cq->ex.end_poll = null_end;
}

static inline void request(struct ibv_qp_ex *qp, uint32_t opcode)
{
	struct sim_qp *q = (struct sim_qp *)qp;

	if (null_signalled(q))
		null_push(q->scq, qp->wr_id, qp->qp_base.qp_num, opcode);
}

#include "null_requests.h"

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	(void)qp, (void)ah, (void)qpn, (void)qkey;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn)
{
	(void)qp, (void)srqn;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_sge *list)
{
	(void)qp, (void)n, (void)list;
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	(void)qp, (void)lkey, (void)addr, (void)length;
}

static void wr_set_inline(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	(void)qp, (void)addr, (void)length;
}

static void wr_set_inline_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_data_buf *list)
{
	(void)qp, (void)n, (void)list;
}

static void wr_start(struct ibv_qp_ex *qp)
{
	(void)qp;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	(void)qp;
	return 0;
}

void null_qp_hooks(struct sim_qp *q)
{
	struct ibv_qp_ex *qp = &q->ex;

	qp->wr_start = qp->wr_abort = wr_start;
	qp->wr_complete = wr_complete;
	set_requests(qp);
	qp->wr_set_ud_addr = wr_set_ud_addr;
	qp->wr_set_xrc_srqn = wr_set_xrc_srqn;
	qp->wr_set_sge = wr_set_sge;
	qp->wr_set_sge_list = wr_set_sge_list;
	qp->wr_set_inline_data = wr_set_inline;
	qp->wr_set_inline_data_list = wr_set_inline_list;
}

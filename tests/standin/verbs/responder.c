// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the target of a request does.  It runs in the requester, on the
 * target's shared state, with the target's shm_qp.lock held.
 */
#include "wire.h"

#include <string.h>

struct shm_rwqe *rq_next(struct shm_seg *seg, struct shm_rq *rq)
{
	uint32_t tail = atomic_load_explicit(&rq->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&rq->head, memory_order_acquire))
		return NULL;
	return shm_at(seg, rq->ring + (uint64_t)(tail & rq->mask) * rq->stride);
}

void rq_done(struct shm_rq *rq)
{
	atomic_fetch_add_explicit(&rq->tail, 1, memory_order_release);
}

void qp_event(struct peer *p, struct shm_qp *q, enum ibv_event_type type)
{
	struct pipe_msg m = {type, q->qpn, 0, 0};

	peer_notify(p, q->async_pipe, &m);
}

void qp_error(struct peer *p, struct shm_qp *q)
{
	struct shm_cqe e = {
		.wc =
			{
				.status = IBV_WC_WR_FLUSH_ERR,
				.opcode = IBV_WC_RECV,
				.qp_num = q->qpn,
				.vendor_err = SIM_VENDOR_FLUSH,
			},
	};
	struct shm_rwqe *w;

	if (atomic_exchange(&q->state, IBV_QPS_ERR) == IBV_QPS_ERR)
		return;
	while (q->rq.size && (w = rq_next(p->seg, &q->rq))) {
		e.wc.wr_id = w->wr_id;
		rq_done(&q->rq);
		cq_push(p, q->recv_cq, &e, false);
	}
	if (q->srq != SHM_NONE)
		qp_event(p, q, IBV_EVENT_QP_LAST_WQE_REACHED);
}

void qp_fatal(struct peer *p, struct shm_qp *q)
{
	if (atomic_load(&q->state) == IBV_QPS_ERR)
		return;
	qp_error(p, q);
	qp_event(p, q, IBV_EVENT_QP_FATAL);
}

static void srq_check_limit(struct peer *p, struct shm_srq *s, uint32_t idx)
{
	struct pipe_msg m = {IBV_EVENT_SRQ_LIMIT_REACHED, idx, s->gen, 0};

	if (!s->limit || atomic_load(&s->rq.head) - atomic_load(&s->rq.tail) >= s->limit)
		return;
	s->limit = 0;
	peer_notify(p, s->async_pipe, &m);
}

static bool take_from(struct wire_req *r, struct shm_rq *rq)
{
	struct shm_rwqe *w = rq->size ? rq_next(r->p->seg, rq) : NULL;

	if (!w)
		return false;
	memcpy(&r->rwqe, w, sizeof(*w) + w->num_sge * sizeof(*w->sge));
	rq_done(rq);
	return true;
}

uint16_t wire_srq(const struct wire_req *r)
{
	uint32_t n = r->wqe->remote_srqn;

	if (r->q->type != IBV_QPT_XRC_RECV)
		return r->q->srq;
	return n < SHM_SRQS && r->p->seg->srq[n].rq.size && r->p->seg->srq[n].cq != SHM_NONE &&
			       r->p->seg->srq[n].xrcd == r->q->xrcd
		       ? (uint16_t)n
		       : SHM_NONE;
}

bool recv_take(struct wire_req *r)
{
	uint16_t n = wire_srq(r);
	struct shm_srq *s;
	bool got;

	if (n == SHM_NONE)
		return take_from(r, &r->q->rq);
	s = &r->p->seg->srq[n];
	shm_lock(&s->lock);
	got = take_from(r, &s->rq);
	srq_check_limit(r->p, s, n);
	shm_unlock(&s->lock);
	return got;
}

enum ibv_wc_status recv_scatter(struct wire_req *r, uint64_t bytes)
{
	struct mr_ask ask = {
		.access = IBV_ACCESS_LOCAL_WRITE,
		.pd = wire_srq(r) == SHM_NONE ? r->q->pd : r->p->seg->srq[wire_srq(r)].pd,
	};
	struct shm_mr *mr;
	uint32_t i;
	void *at;

	r->nremote = 0;
	for (i = 0; i < r->rwqe.num_sge && bytes; i++) {
		const struct ibv_sge *sge = &r->rwqe.sge[i];

		if (!sge->length)
			continue;
		ask.key = sge->lkey;
		ask.addr = sge->addr;
		ask.len = sge->length < bytes ? sge->length : bytes;
		at = mr_get(r->p->seg, &ask, &mr);
		if (!at)
			return IBV_WC_LOC_PROT_ERR;
		r->held[r->nheld++] = mr;
		r->remote[r->nremote].iov_base = at;
		r->remote[r->nremote++].iov_len = ask.len;
		bytes -= ask.len;
	}
	return bytes ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

void recv_complete(struct wire_req *r, struct shm_cqe *e)
{
	uint16_t cq = r->q->recv_cq;

	e->wc.wr_id = r->rwqe.wr_id;
	e->wc.qp_num = r->q->qpn;
	e->wc.src_qp = r->qp->ex.qp_base.qp_num;
	e->wc.sl = r->wqe->av.sl;
	e->is_send = 0;
	e->time_ns = 0;
	if (r->q->type == IBV_QPT_XRC_RECV) {
		e->sq_end = wire_srq(r);
		cq = r->p->seg->srq[e->sq_end].cq;
	}
	if (!cq_push(r->p, cq, e, r->wqe->flags & IBV_SEND_SOLICITED))
		qp_fatal(r->p, r->q);
}

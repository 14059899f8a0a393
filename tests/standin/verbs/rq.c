// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Receive rings and shared receive queues. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int rq_make(struct shm_rq *rq, uint32_t depth, uint32_t max_sge)
{
	uint32_t ring = 1;

	while (ring < depth)
		ring <<= 1;
	memset(rq, 0, sizeof(*rq));
	if (!depth)
		return 0;
	rq->size = depth;
	rq->mask = ring - 1;
	rq->max_sge = max_sge;
	rq->stride = sizeof(struct shm_rwqe) + max_sge * sizeof(struct ibv_sge);
	rq->ring = shm_alloc((size_t)ring * rq->stride);
	return rq->ring ? 0 : ENOMEM;
}

void rq_free(struct shm_rq *rq)
{
	shm_free(rq->ring, (size_t)(rq->mask + 1) * rq->stride);
	memset(rq, 0, sizeof(*rq));
}

/* Append one request; the ring's lock held. */
static int rq_put(struct shm_rq *rq, uint32_t polled, struct ibv_recv_wr *wr)
{
	uint32_t head = atomic_load_explicit(&rq->head, memory_order_relaxed);
	struct shm_rwqe *e;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;
	if (head - polled >= rq->size)
		return ENOMEM;
	e = shm_at(shm_self(), rq->ring + (uint64_t)(head & rq->mask) * rq->stride);
	e->wr_id = wr->wr_id;
	e->num_sge = wr->num_sge;
	memcpy(e->sge, wr->sg_list, wr->num_sge * sizeof(*e->sge));
	atomic_store_explicit(&rq->head, head + 1, memory_order_release);
	return 0;
}

static void flush_recv(struct sim_qp *qp, uint64_t wr_id)
{
	struct shm_cqe e = {
		.wc =
			{
				.wr_id = wr_id,
				.status = IBV_WC_WR_FLUSH_ERR,
				.opcode = IBV_WC_RECV,
				.qp_num = qp->ex.qp_base.qp_num,
				.vendor_err = SIM_VENDOR_FLUSH,
			},
	};

	cq_push(peer_self(), qp->shm->recv_cq, &e, false);
}

static int post_one(struct sim_qp *qp, struct ibv_recv_wr *wr)
{
	struct shm_rq *rq = &qp->shm->rq;
	uint32_t state = atomic_load(&qp->shm->state);
	int err;

	if (state == IBV_QPS_RESET)
		return EINVAL;
	err = rq_put(rq, atomic_load_explicit(&qp->rq_polled, memory_order_acquire), wr);
	if (!err && unlikely(state == IBV_QPS_ERR)) {
		rq_done(rq);
		flush_recv(qp, wr->wr_id);
	}
	return err;
}

int sim_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;
	int err = 0;

	if (qp->srq) {
		*bad = wr;
		return EINVAL;
	}
	shm_lock(&qp->shm->lock);
	for (; wr; wr = wr->next) {
		err = post_one(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	shm_unlock(&qp->shm->lock);
	return err;
}

int sim_post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct sim_srq *srq = (struct sim_srq *)ibv;
	int err = 0;

	shm_lock(&srq->shm->lock);
	for (; wr; wr = wr->next) {
		err = rq_put(&srq->shm->rq, atomic_load(&srq->polled), wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	shm_unlock(&srq->shm->lock);
	return err;
}

static int srq_index(struct sim_srq *srq, int max)
{
	int i, found = -1;

	pthread_mutex_lock(&sim_tables.mutex);
	for (i = 0; i < SHM_SRQS && i < max && found < 0; i++)
		if (!sim_tables.srq[i])
			found = i;
	if (found >= 0)
		sim_tables.srq[found] = srq;
	pthread_mutex_unlock(&sim_tables.mutex);
	return found;
}

/* In null mode only those of XRC, which cannot do without. */
static int srq_check(const struct desc_dev *d, const struct ibv_srq_attr *a, bool xrc)
{
	if (!(d->features & DESC_SRQ) || (sim_conf()->null && !xrc))
		return EOPNOTSUPP;
	if (!a->max_wr || a->max_wr > (uint32_t)d->max_depth || a->max_sge > (uint32_t)d->max_sge)
		return EINVAL;
	return 0;
}

static struct ibv_srq *srq_make(struct ibv_pd *pd, void *srq_context, struct ibv_srq_attr *attr,
				const struct ibv_srq_init_attr_ex *xrc)
{
	struct sim_context *ctx = sim_ctx(pd->context);
	struct sim_srq *srq;
	int idx;

	errno = srq_check(ctx->desc, attr, xrc);
	if (errno)
		return NULL;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	idx = srq_index(srq, ctx->desc->max_srq);
	if (idx < 0)
		goto fail;
	srq->index = idx;
	srq->shm = sim_conf()->null ? calloc(1, sizeof(*srq->shm)) : &shm_self()->srq[idx];
	if (!srq->shm || (!sim_conf()->null && rq_make(&srq->shm->rq, attr->max_wr, attr->max_sge)))
		goto fail;
	srq->shm->gen++;
	srq->shm->pd = ((struct sim_pd *)pd)->id;
	srq->shm->limit = attr->srq_limit;
	srq->shm->cq = SHM_NONE;
	if (xrc) {
		srq->cq = (struct sim_cq *)xrc->cq;
		srq->xrcd = (struct sim_xrcd *)xrc->xrcd;
		srq->shm->cq = srq->cq->index;
		srq->shm->xrcd = srq->xrcd->id;
		atomic_fetch_add(&srq->cq->users, 1);
		atomic_fetch_add(&srq->xrcd->users, 1);
	}
	srq->shm->async_pipe = ctx->async_pipe;
	srq->ibv.context = pd->context;
	srq->ibv.srq_context = srq_context;
	srq->ibv.pd = pd;
	srq->ibv.handle = idx;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	atomic_fetch_add(&((struct sim_pd *)pd)->users, 1);
	return &srq->ibv;
fail:
	if (idx >= 0)
		sim_tables.srq[idx] = NULL;
	free(srq);
	errno = ENOMEM;
	return NULL;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *a)
{
	if (fault_call(FAULT_ibv_create_srq))
		return NULL;
	return srq_make(pd, a->srq_context, &a->attr, NULL);
}

/* For messages by number, whose completions go to a CQ of its own. */
static struct ibv_srq *srq_make_xrc(struct ibv_context *c, struct ibv_srq_init_attr_ex *a)
{
	const uint32_t need = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;

	errno = sim_ctx(c)->desc->features & DESC_XRC ? EINVAL : EOPNOTSUPP;
	if (errno == EOPNOTSUPP || (a->comp_mask & need) != need || !a->pd || !a->xrcd || !a->cq)
		return NULL;
	return srq_make(a->pd, a->srq_context, &a->attr, a);
}

struct ibv_srq *sim_create_srq_ex(struct ibv_context *c, struct ibv_srq_init_attr_ex *a)
{
	(void)c;
	if (fault_call(FAULT_ibv_create_srq))
		return NULL;
	if (a->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && a->srq_type == IBV_SRQT_XRC)
		return srq_make_xrc(c, a);
	if (!(a->comp_mask & IBV_SRQ_INIT_ATTR_PD) ||
	    ((a->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && a->srq_type != IBV_SRQT_BASIC)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return srq_make(a->pd, a->srq_context, &a->attr, NULL);
}

int sim_get_srq_num(struct ibv_srq *srq, uint32_t *num)
{
	*num = srq->handle;
	return 0;
}

int ibv_modify_srq(struct ibv_srq *ibv, struct ibv_srq_attr *a, int mask)
{
	struct sim_srq *srq = (struct sim_srq *)ibv;
	int err = fault_call(FAULT_ibv_modify_srq);

	if (err)
		return err;
	if (mask & ~IBV_SRQ_LIMIT || a->srq_limit > srq->shm->rq.size)
		return EINVAL;
	shm_lock(&srq->shm->lock);
	srq->shm->limit = a->srq_limit;
	shm_unlock(&srq->shm->lock);
	return 0;
}

int ibv_query_srq(struct ibv_srq *ibv, struct ibv_srq_attr *a)
{
	struct sim_srq *srq = (struct sim_srq *)ibv;
	int err = fault_call(FAULT_ibv_query_srq);

	if (err)
		return err;
	a->max_wr = srq->shm->rq.size;
	a->max_sge = srq->shm->rq.max_sge;
	a->srq_limit = srq->shm->limit;
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *ibv)
{
	struct sim_srq *srq = (struct sim_srq *)ibv;
	int err = fault_call(FAULT_ibv_destroy_srq);

	if (err)
		return err;
	if (atomic_load(&srq->users))
		return EBUSY;
	pthread_mutex_lock(&sim_tables.mutex);
	sim_tables.srq[srq->index] = NULL;
	pthread_mutex_unlock(&sim_tables.mutex);
	pthread_mutex_lock(&ibv->mutex);
	while (ibv->events_completed != srq->async_delivered)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
	srq->shm->gen++;
	if (srq->xrcd) {
		atomic_fetch_sub(&srq->cq->users, 1);
		atomic_fetch_sub(&srq->xrcd->users, 1);
	}
	if (sim_conf()->null)
		free(srq->shm);
	else
		rq_free(&srq->shm->rq);
	atomic_fetch_sub(&((struct sim_pd *)ibv->pd)->users, 1);
	free(srq);
	return 0;
}

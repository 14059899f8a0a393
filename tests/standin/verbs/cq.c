// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Completion queues: a ring in shared memory with many producers.
 *
 * A producer writes the entry under shm_cq.lock and then publishes the tail,
 * so a producer that dies half way leaves the ring whole.  Arming takes the
 * same lock: a completion is either seen by the poll after the arming or
 * makes an event.
 */
#include "null.h"
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t pow2_above(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

/* The ring is full: the CQ is lost, and with it what still wants to use it. */
static void cq_overrun(struct peer *p, uint16_t idx)
{
	struct shm_cq *cq = &p->seg->cq[idx];
	struct pipe_msg m = {IBV_EVENT_CQ_ERR, idx, cq->gen, 0};

	if (cq->overrun)
		return; /* known, or not to be minded */
	cq->overrun = 1;
	peer_notify(p, cq->async_pipe, &m);
}

bool cq_push(struct peer *p, uint16_t idx, const struct shm_cqe *cqe, bool solicited)
{
	struct shm_cq *cq = &p->seg->cq[idx];
	struct shm_cqe *ring = shm_at(p->seg, cq->ring);
	struct pipe_msg m = {0, idx, cq->gen, 0};
	bool wake = false, lost = false;
	uint32_t tail;

	shm_lock(&cq->lock);
	tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
	if (unlikely(tail - atomic_load_explicit(&cq->head, memory_order_acquire) >= cq->size)) {
		cq_overrun(p, idx);
		lost = cq->overrun == 1;
	} else {
		ring[tail & cq->mask] = *cqe;
		atomic_store_explicit(&cq->tail, tail + 1, memory_order_release);
		wake = cq->armed == 2 ||
		       (cq->armed == 1 && (solicited || cqe->wc.status != IBV_WC_SUCCESS));
		if (wake)
			cq->armed = 0;
	}
	shm_unlock(&cq->lock);
	if (unlikely(wake))
		peer_notify(p, cq->pipe, &m);
	return !lost;
}

/* As on hardware, only polling makes room in the work queues. */
static inline void free_slots(struct sim_qp *qp, const struct shm_cqe *e)
{
	if (!e->is_send && qp->xrcd) /* of the SRQ that it came to */
		atomic_fetch_add_explicit(&sim_tables.srq[e->sq_end]->polled, 1,
					  memory_order_release);
	else if (e->is_send && is_srd(qp)) /* in any order: by their number */
		atomic_fetch_add_explicit(&qp->sq_tail, 1, memory_order_release);
	else if (e->is_send)
		atomic_store_explicit(&qp->sq_tail, e->sq_end, memory_order_release);
	else
		atomic_fetch_add_explicit(qp->srq ? &qp->srq->polled : &qp->rq_polled, 1,
					  memory_order_release);
}

/* Take the oldest entry; 1, or 0 when there is none. Consumer lock held. */
static inline int take(struct sim_cq *cq, struct shm_cqe *out)
{
	uint32_t head = atomic_load_explicit(&cq->shm->head, memory_order_relaxed);
	struct sim_qp *qp;

	if (head == atomic_load_explicit(&cq->shm->tail, memory_order_acquire))
		return 0;
	*out = cq->ring[head & cq->shm->mask];
	atomic_store_explicit(&cq->shm->head, head + 1, memory_order_release);
	qp = sim_tables.qp[qpn_index(out->wc.qp_num)];
	if (likely(qp && qp->ex.qp_base.qp_num == out->wc.qp_num))
		free_slots(qp, out);
	return 1;
}

int cq_take(struct sim_cq *cq, struct shm_cqe *out)
{
	int n;

	if (unlikely(atomic_load_explicit(&engine_waiting, memory_order_relaxed)))
		engine_poll();
	if (atomic_load_explicit(&cq->shm->head, memory_order_relaxed) ==
	    atomic_load_explicit(&cq->shm->tail, memory_order_acquire)) {
		/* two spinning programs may share one core */
		if (unlikely((++cq->idle & 255) == 0))
			sched_yield();
		return 0;
	}
	spin_lock(&cq->busy);
	n = take(cq, out);
	spin_unlock(&cq->busy);
	if (unlikely(fault_on) && n)
		fault_completion(cq, out);
	return n;
}

int sim_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct sim_cq *cq = (struct sim_cq *)ibv;
	struct shm_cqe e;
	int got = 0;

	while (got < n && cq_take(cq, &e))
		wc[got++] = e.wc;
	return got;
}

int sim_req_notify(struct ibv_cq *ibv, int solicited_only)
{
	struct shm_cq *cq = ((struct sim_cq *)ibv)->shm;
	uint32_t want = solicited_only ? 1 : 2;

	shm_lock(&cq->lock);
	if (cq->armed < want)
		cq->armed = want;
	shm_unlock(&cq->lock);
	return 0;
}

/* A destroyed QP takes its completions with it, and their SRQ slots are free. */
void cq_purge(struct sim_cq *cq, struct sim_qp *qp)
{
	uint32_t from, to, tail;
	struct shm_cqe *e;

	if (!cq || !cq->shm)
		return;
	spin_lock(&cq->busy);
	shm_lock(&cq->shm->lock);
	tail = atomic_load(&cq->shm->tail);
	from = to = atomic_load(&cq->shm->head);
	for (; from != tail; from++) {
		e = &cq->ring[from & cq->shm->mask];
		if (e->wc.qp_num != qp->ex.qp_base.qp_num)
			cq->ring[to++ & cq->shm->mask] = *e;
		else
			free_slots(qp, e);
	}
	atomic_store(&cq->shm->tail, to);
	shm_unlock(&cq->shm->lock);
	spin_unlock(&cq->busy);
}

static int cq_index(struct sim_cq *cq, int max)
{
	static uint32_t next;
	int i, found = -1;

	pthread_mutex_lock(&sim_tables.mutex);
	for (i = 0; i < SHM_CQS && i < max && found < 0; i++)
		if (!sim_tables.cq[(next + i) % SHM_CQS])
			found = (next + i) % SHM_CQS;
	if (found >= 0) {
		sim_tables.cq[found] = cq;
		next = found + 1;
	}
	pthread_mutex_unlock(&sim_tables.mutex);
	errno = found < 0 ? ENOMEM : 0;
	return found;
}

static int cq_init_shm(struct sim_cq *cq, struct sim_context *ctx)
{
	uint32_t ring = pow2_above(cq->ex.cqe);
	struct shm_seg *seg = shm_self();
	struct shm_cq *s = &seg->cq[cq->index];

	cq->shm = s;
	s->ring = shm_alloc(ring * sizeof(struct shm_cqe));
	if (!s->ring) {
		errno = ENOMEM;
		return -1;
	}
	cq->ring = shm_at(seg, s->ring);
	s->size = cq->ex.cqe;
	s->mask = ring - 1;
	atomic_store(&s->head, 0);
	atomic_store(&s->tail, 0);
	s->armed = s->overrun = 0;
	s->gen++;
	s->async_pipe = ctx->async_pipe;
	s->pipe = cq->ex.channel ? ((struct sim_channel *)cq->ex.channel)->pipe : 0;
	return 0;
}

struct sim_cq *cq_make(struct ibv_context *c, const struct ibv_cq_init_attr_ex *attr)
{
	struct sim_context *ctx = sim_ctx(c);
	struct sim_cq *cq;
	int idx;

	if (!attr->cqe || attr->cqe > (uint32_t)ctx->desc->max_cqe ||
	    attr->comp_vector >= (uint32_t)ctx->desc->nvectors) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->ex.context = c;
	cq->ex.channel = attr->channel;
	cq->ex.cq_context = attr->cq_context;
	cq->ex.cqe = attr->cqe;
	cq->wc_flags = attr->wc_flags;
	pthread_mutex_init(&cq->ex.mutex, NULL);
	pthread_cond_init(&cq->ex.cond, NULL);
	idx = cq_index(cq, ctx->desc->max_cq);
	cq->index = idx;
	cq->ex.handle = idx;
	if (idx < 0 || (sim_conf()->null ? null_cq_init(cq) : cq_init_shm(cq, ctx))) {
		if (idx >= 0)
			sim_tables.cq[idx] = NULL;
		free(cq);
		return NULL;
	}
	if (attr->channel)
		attr->channel->refcnt++;
	atomic_fetch_add(&ctx->objects, 1);
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe < 0 ? 0 : cqe,
		.cq_context = cq_context,
		.channel = channel,
		.comp_vector = vector,
	};
	struct sim_cq *cq;

	if (fault_call(FAULT_ibv_create_cq))
		return NULL;
	cq = cq_make(c, &attr);
	return cq ? ibv_cq_ex_to_cq(&cq->ex) : NULL;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	int err = fault_call(FAULT_ibv_resize_cq);

	(void)cq, (void)cqe;
	return err ? err : EOPNOTSUPP;
}

int sim_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	(void)cq;
	return attr->attr_mask >= IBV_CQ_ATTR_RESERVED ? EINVAL : 0;
}

int ibv_destroy_cq(struct ibv_cq *ibv)
{
	struct sim_cq *cq = (struct sim_cq *)ibv;
	int err = fault_call(FAULT_ibv_destroy_cq);

	if (err)
		return err;
	if (atomic_load(&cq->users))
		return EBUSY;
	pthread_mutex_lock(&sim_tables.mutex);
	sim_tables.cq[cq->index] = NULL;
	pthread_mutex_unlock(&sim_tables.mutex);
	/* as the manual says: wait until all events are acknowledged */
	pthread_mutex_lock(&ibv->mutex);
	while (ibv->comp_events_completed != cq->comp_delivered ||
	       ibv->async_events_completed != cq->async_delivered)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
	if (ibv->channel)
		ibv->channel->refcnt--;
	if (cq->shm) {
		cq->shm->gen++;
		shm_free(cq->shm->ring, (cq->shm->mask + 1) * sizeof(struct shm_cqe));
	}
	free(cq->null_ring);
	free(cq->null_due);
	atomic_fetch_sub(&sim_ctx(ibv->context)->objects, 1);
	free(cq);
	return 0;
}

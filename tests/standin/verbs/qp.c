// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Queue pairs: creation, query, destruction. */
#include "null.h"
#include "fault.h"
#include "script.h"
#include "steps.h"
#include "td.h"
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The ibv_wr_* operations of a transport. */
static uint64_t known_ops(const struct desc_dev *d, enum ibv_qp_type type)
{
	uint64_t ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

	if (type == IBV_QPT_DRIVER)
		return srd_ops(d);
	if (type == IBV_QPT_UD)
		return ops;
	ops |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	if (type == IBV_QPT_UC)
		return ops;
	ops |= IBV_QP_EX_WITH_RDMA_READ;
	if (d->features & DESC_ATOMICS)
		ops |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	return ops;
}

/* The types that a device has; SRD only if the call is libefa's. */
static bool has_type(const struct desc_dev *d, enum ibv_qp_type type)
{
	if (d->features & DESC_EFA)
		return type == IBV_QPT_UD || type == IBV_QPT_DRIVER;
	if (d->features & DESC_IWARP)
		return type == IBV_QPT_RC;
	if (type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV)
		return d->features & DESC_XRC;
	return type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_UD;
}

static int check_caps(const struct desc_dev *d, const struct ibv_qp_init_attr_ex *a)
{
	const struct ibv_qp_cap *c = &a->cap;
	uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (!has_type(d, a->qp_type))
		return EOPNOTSUPP;
	if (a->qp_type == IBV_QPT_XRC_RECV)
		return a->comp_mask == IBV_QP_INIT_ATTR_XRCD && a->xrcd ? 0 : EINVAL;
	if ((a->comp_mask & ~known) || !(a->comp_mask & IBV_QP_INIT_ATTR_PD))
		return EOPNOTSUPP;
	if ((a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
	    (!(d->features & DESC_QPEX) || (a->send_ops_flags & ~known_ops(d, a->qp_type))))
		return EOPNOTSUPP;
	if (!a->send_cq || !a->pd || (!a->recv_cq && a->qp_type != IBV_QPT_XRC_SEND))
		return EINVAL;
	if (c->max_send_wr > (uint32_t)d->max_depth || c->max_recv_wr > (uint32_t)d->max_depth ||
	    c->max_send_sge > (uint32_t)d->max_sge || c->max_recv_sge > (uint32_t)d->max_sge ||
	    c->max_inline_data > (uint32_t)d->max_inline)
		return EINVAL;
	return 0;
}

/* Claim an index and make a number of it that differs from the last one's. */
static int assign_number(struct sim_qp *qp, int max)
{
	static uint32_t next, used, gen[SHM_QPS];
	uint32_t slot = sim_conf()->null ? 0 : shm_self()->slot;
	uint32_t i, idx;
	int err = ENOMEM;

	pthread_mutex_lock(&sim_tables.mutex);
	if (used >= (uint32_t)max)
		goto out;
	for (i = 0; i < SHM_QPS; i++) {
		idx = (next + i) % SHM_QPS;
		if (sim_tables.qp[idx])
			continue;
		sim_tables.qp[idx] = qp;
		next = idx + 1;
		gen[idx] = (gen[idx] + 1) & 3;
		qp->ex.qp_base.qp_num = (slot + 1) << 16 | gen[idx] << SHM_QP_BITS | idx;
		qp->ex.qp_base.handle = idx;
		err = 0;
		break;
	}
out:
	pthread_mutex_unlock(&sim_tables.mutex);
	return err;
}

static int make_sq(struct sim_qp *qp)
{
	size_t payload = qp->cap.max_send_sge * sizeof(struct ibv_sge);
	uint32_t ring = 1;

	if (payload < qp->cap.max_inline_data)
		payload = qp->cap.max_inline_data;
	if (payload < sizeof(struct ibv_sge))
		payload = sizeof(struct ibv_sge);
	while (ring < qp->cap.max_send_wr + qp->shuffle)
		ring <<= 1;
	qp->sq_size = qp->cap.max_send_wr;
	qp->sq_mask = ring - 1;
	qp->sq_stride = (sizeof(struct sq_wqe) + payload + 63) & ~63u;
	qp->sq = calloc(ring, qp->sq_stride);
	return qp->sq ? 0 : ENOMEM;
}

static int make_shm(struct sim_qp *qp)
{
	struct ibv_qp *ibv = &qp->ex.qp_base;
	struct sim_context *ctx = sim_ctx(ibv->context);
	struct shm_seg *seg = shm_self();
	struct shm_qp *s = &seg->qp[ibv->handle];

	memset(s, 0, sizeof(*s));
	qp->shm = s;
	s->type = ibv->qp_type;
	s->dev = ctx->index;
	s->pd = ibv->pd ? ((struct sim_pd *)ibv->pd)->id : 0;
	s->xrcd = qp->xrcd ? qp->xrcd->id : 0;
	s->async_pipe = ctx->async_pipe;
	s->send_cq = qp->scq ? qp->scq->index : SHM_NONE;
	s->recv_cq = qp->rcq ? qp->rcq->index : SHM_NONE;
	s->srq = qp->srq ? qp->srq->index : SHM_NONE;
	if (rq_make(&s->rq, qp->srq || !qp->rcq ? 0 : qp->cap.max_recv_wr, qp->cap.max_recv_sge))
		return ENOMEM;
	atomic_store(&s->state, IBV_QPS_RESET);
	s->qpn = ibv->qp_num;
	return 0;
}

static void qp_count(struct sim_qp *qp, int by)
{
	struct sim_pd *pd = (struct sim_pd *)qp->ex.qp_base.pd;

	if (pd)
		atomic_fetch_add(&pd->users, by);
	if (qp->scq)
		atomic_fetch_add(&qp->scq->users, by);
	if (qp->rcq)
		atomic_fetch_add(&qp->rcq->users, by);
	xrc_count(qp, by);
	if (qp->srq)
		atomic_fetch_add(&qp->srq->users, by);
}

static struct ibv_context *context_of(const struct ibv_qp_init_attr_ex *a)
{
	return a->qp_type == IBV_QPT_XRC_RECV ? a->xrcd->context : a->pd->context;
}

static void qp_fill(struct sim_qp *qp, const struct ibv_qp_init_attr_ex *a)
{
	struct ibv_qp *ibv = &qp->ex.qp_base;

	ibv->context = context_of(a);
	ibv->qp_context = a->qp_context;
	ibv->pd = a->qp_type == IBV_QPT_XRC_RECV ? NULL : a->pd;
	ibv->send_cq = a->send_cq;
	ibv->recv_cq = a->recv_cq;
	ibv->srq = a->srq;
	ibv->qp_type = a->qp_type;
	ibv->state = IBV_QPS_RESET;
	pthread_mutex_init(&ibv->mutex, NULL);
	pthread_cond_init(&ibv->cond, NULL);
	qp->scq = (struct sim_cq *)a->send_cq;
	qp->rcq = (struct sim_cq *)a->recv_cq;
	qp->srq = (struct sim_srq *)a->srq;
	if (a->qp_type == IBV_QPT_XRC_RECV)
		qp->xrcd = (struct sim_xrcd *)a->xrcd;
	qp->cap = a->cap;
	qp->sig_all = a->sq_sig_all;
	if (is_srd(qp))
		qp->shuffle = sim_ctx(context_of(a))->desc->shuffle;
	if (qp->shuffle > SIM_SHUFFLE_MOST)
		qp->shuffle = SIM_SHUFFLE_MOST;
	qp->extended = a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	qp->send_ops = qp->extended ? a->send_ops_flags : 0;
}

struct ibv_qp *qp_make(const struct ibv_qp_init_attr_ex *a)
{
	struct sim_context *ctx = sim_ctx(context_of(a));
	struct sim_qp *qp;

	errno = check_caps(ctx->desc, a);
	if (errno)
		return NULL;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	qp_fill(qp, a);
	errno = assign_number(qp, ctx->desc->max_qp);
	if (errno) {
		free(qp);
		return NULL;
	}
	errno = make_sq(qp);
	if (!errno && !sim_conf()->null)
		errno = make_shm(qp);
	if (errno) {
		sim_tables.qp[qp->ex.qp_base.handle] = NULL;
		free(qp->sq);
		free(qp);
		errno = ENOMEM;
		return NULL;
	}
	qp_count(qp, 1);
	if (sim_conf()->null)
		null_qp_hooks(qp);
	else
		qp_ex_hooks(qp);
	if (sim_conf()->scripted)
		null_scripted_qp_hooks(qp);
	else if (sim_conf()->timed)
		null_timed_qp_hooks(qp);
	fault_wrap_qp(qp);
	steps_wrap_qp(qp);
	trace_wrap_qp(qp);
	td_wrap_qp(qp);
	return &qp->ex.qp_base;
}

struct ibv_qp *sim_create_qp_ex(struct ibv_context *c, struct ibv_qp_init_attr_ex *attr)
{
	(void)c;
	if (fault_call(FAULT_ibv_create_qp_ex))
		return NULL;
	if (attr->qp_type == IBV_QPT_DRIVER) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return qp_make(attr);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};

	if (fault_call(FAULT_ibv_create_qp))
		return NULL;
	if (attr->qp_type == IBV_QPT_DRIVER) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return qp_make(&ex);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return ((struct sim_qp *)qp)->extended ? (struct ibv_qp_ex *)qp : NULL;
}

int ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	int err = fault_call(FAULT_ibv_modify_qp);

	if (!err)
		err = qp_change((struct sim_qp *)ibv, attr, mask);
	if (!err && (mask & IBV_QP_STATE))
		ibv->state = attr->qp_state;
	errno = err;
	return err;
}

int ibv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;
	int err = fault_call(FAULT_ibv_query_qp);

	(void)mask;
	if (err)
		return err;
	*attr = qp->attr;
	attr->qp_state = qp->shm ? atomic_load(&qp->shm->state) : ibv->state;
	attr->cur_qp_state = attr->qp_state;
	attr->cap = qp->cap;
	ibv->state = attr->qp_state;
	*init = (struct ibv_qp_init_attr){
		.qp_context = ibv->qp_context,
		.send_cq = ibv->send_cq,
		.recv_cq = ibv->recv_cq,
		.srq = ibv->srq,
		.cap = qp->cap,
		.qp_type = ibv->qp_type,
		.sq_sig_all = qp->sig_all,
	};
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *ibv)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;
	int err = fault_call(FAULT_ibv_destroy_qp);

	if (err)
		return err;
	if (qp->shm) {
		shm_lock(&qp->shm->lock);
		qp->shm->qpn = 0;
		atomic_store(&qp->shm->state, IBV_QPS_RESET);
		shm_unlock(&qp->shm->lock);
		engine_remove(qp);
		cq_purge(qp->scq, qp);
		cq_purge(qp->rcq, qp);
	}
	pthread_mutex_lock(&sim_tables.mutex);
	sim_tables.qp[ibv->handle] = NULL;
	pthread_mutex_unlock(&sim_tables.mutex);
	pthread_mutex_lock(&ibv->mutex);
	while (ibv->events_completed != qp->async_delivered)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
	if (qp->shm)
		rq_free(&qp->shm->rq);
	qp_count(qp, -1);
	free(qp->sq);
	free(qp->fetch_due);
	peer_put(qp->peer);
	free(qp);
	return 0;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	int err = fault_call(FAULT_ibv_query_ece);

	(void)qp;
	memset(ece, 0, sizeof(*ece));
	return err;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	return ece->vendor_id || ece->options ? EOPNOTSUPP : 0;
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp, (void)op, (void)flags;
	return 0;
}

/* On Ethernet only, since no subnet manager is here; a QP is in one group at most. */
int ibv_attach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;
	struct shm_seg *seg = shm_self();
	int err = fault_call(FAULT_ibv_attach_mcast);

	if (err)
		return err;
	if (ibv->qp_type != IBV_QPT_UD || lid ||
	    seg->port[qp->shm->dev][qp->shm->port - 1].link != IBV_LINK_LAYER_ETHERNET)
		return EINVAL;
	for (int i = 0; i < SHM_MCASTS; i++) {
		uint32_t none = 0;

		memcpy(qp->shm->mgid, gid->raw, sizeof(qp->shm->mgid));
		if (atomic_compare_exchange_strong(&seg->mcast[i], &none,
						   (uint32_t)(qp->shm - seg->qp) + 1))
			return 0;
	}
	return ENOMEM;
}

int ibv_detach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;
	struct shm_seg *seg = shm_self();

	(void)lid;
	for (int i = 0; i < SHM_MCASTS; i++) {
		uint32_t mine = (uint32_t)(qp->shm - seg->qp) + 1;

		if (!memcmp(qp->shm->mgid, gid->raw, sizeof(qp->shm->mgid)) &&
		    atomic_compare_exchange_strong(&seg->mcast[i], &mine, 0))
			return 0;
	}
	return EINVAL;
}

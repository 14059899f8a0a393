// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The queue pair state machine.  A transition names the attributes it needs
 * and those it may take besides; anything else is EINVAL, as on hardware.
 */
#include "sim.h"

#include <errno.h>
#include <infiniband/efadv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	RC_RTR = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	UC_RTR = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	RC_RTS = IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		 IBV_QP_MAX_QP_RD_ATOMIC,
	C_INIT = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	D_INIT = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
	C_MIG = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE,
	C_OPT = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | C_MIG | IBV_QP_RATE_LIMIT,
	RC_OPT = C_OPT | IBV_QP_MIN_RNR_TIMER,
	UD_OPT = IBV_QP_CUR_STATE | IBV_QP_QKEY | IBV_QP_RATE_LIMIT,
};

static const struct transition {
	enum ibv_qp_state from, to;
	int need_rc, need_uc, need_ud;
	int may_rc, may_uc, may_ud;
} transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, C_INIT, C_INIT, D_INIT, 0, 0, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, 0, 0, C_INIT, C_INIT, D_INIT},
	{IBV_QPS_INIT, IBV_QPS_RTR, RC_RTR, UC_RTR, 0,
	 IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
	 IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
	 IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
	{IBV_QPS_RTR, IBV_QPS_RTS, RC_RTS, IBV_QP_SQ_PSN, IBV_QP_SQ_PSN, RC_OPT, C_OPT, UD_OPT},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0, 0, 0, RC_OPT, C_OPT, UD_OPT},
	{IBV_QPS_RTS, IBV_QPS_SQD, 0, 0, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QP_EN_SQD_ASYNC_NOTIFY,
	 IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQD, IBV_QPS_RTS, 0, 0, 0, RC_OPT, C_OPT, UD_OPT},
	{IBV_QPS_SQD, IBV_QPS_SQD, 0, 0, 0,
	 RC_OPT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		 IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_PKEY_INDEX | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_PORT,
	 C_OPT | IBV_QP_AV | IBV_QP_PKEY_INDEX, UD_OPT | IBV_QP_PKEY_INDEX},
	{IBV_QPS_SQE, IBV_QPS_RTS, 0, 0, 0, 0, C_OPT, UD_OPT},
};

/* SRD is UD to those who bring it up; what is missing is tried again for those who ask for it. */
static int may_srd(const struct desc_dev *d, enum ibv_qp_state to)
{
	return to == IBV_QPS_RTS && d->efa_caps & EFADV_DEVICE_ATTR_CAPS_RNR_RETRY
		       ? IBV_QP_RNR_RETRY
		       : 0;
}

static int check_mask(const struct sim_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to,
		      int mask)
{
	const struct transition *t = transitions;
	size_t n = sizeof(transitions) / sizeof(*t);
	int need, may;
	bool rc;

	enum ibv_qp_type type = qp->ex.qp_base.qp_type;

	mask &= ~IBV_QP_STATE;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return mask & ~IBV_QP_CUR_STATE ? EINVAL : 0;
	for (; n; n--, t++) {
		if (t->from != from || t->to != to)
			continue;
		rc = is_reliable(type) && !(type == IBV_QPT_XRC_SEND && to == IBV_QPS_RTR);
		need = rc                                               ? t->need_rc
		       : type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND ? t->need_uc
									: t->need_ud;
		/* an XRC QP has the half of RC that it needs: the receiver the responder's */
		if (type == IBV_QPT_XRC_RECV && to == IBV_QPS_RTS)
			need = IBV_QP_TIMEOUT | IBV_QP_SQ_PSN;
		may = is_reliable(type)    ? t->may_rc | t->need_rc
		      : type == IBV_QPT_UC ? t->may_uc
					   : t->may_ud;
		if (type == IBV_QPT_DRIVER)
			may |= may_srd(sim_ctx(qp->ex.qp_base.context)->desc, to);
		if (type == IBV_QPT_DRIVER && mask & IBV_QP_ACCESS_FLAGS)
			return EOPNOTSUPP;
		return (mask & need) != need || (mask & ~(need | may)) ? EINVAL : 0;
	}
	return EINVAL;
}

static int check_values(struct sim_qp *qp, const struct ibv_qp_attr *a, int m)
{
	const struct desc_dev *d = sim_ctx(qp->ex.qp_base.context)->desc;
	int port = m & IBV_QP_PORT ? a->port_num : qp->attr.port_num;

	if ((m & IBV_QP_PORT) && (port < 1 || port > d->nports))
		return EINVAL;
	if ((m & IBV_QP_PKEY_INDEX) &&
	    (a->pkey_index > 1 || (a->pkey_index && !d->port[port - 1].pkey1)))
		return EINVAL;
	if ((m & IBV_QP_AV) && ah_check(qp->ex.qp_base.context, &a->ah_attr))
		return EINVAL;
	if ((m & IBV_QP_PATH_MTU) && (a->path_mtu < IBV_MTU_256 || a->path_mtu > IBV_MTU_4096 ||
				      (128 << a->path_mtu) > d->port[port - 1].mtu))
		return EINVAL;
	if ((m & IBV_QP_TIMEOUT && a->timeout > 31) || (m & IBV_QP_RETRY_CNT && a->retry_cnt > 7) ||
	    (m & IBV_QP_RNR_RETRY && a->rnr_retry > 7) ||
	    (m & IBV_QP_MIN_RNR_TIMER && a->min_rnr_timer > 31) ||
	    (m & IBV_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic > d->max_init_rd) ||
	    (m & IBV_QP_MAX_DEST_RD_ATOMIC && a->max_dest_rd_atomic > d->max_rd) ||
	    (m & IBV_QP_DEST_QPN && a->dest_qp_num >> 24) ||
	    (m & IBV_QP_RQ_PSN && a->rq_psn >> 24) || (m & IBV_QP_SQ_PSN && a->sq_psn >> 24))
		return EINVAL;
	return 0;
}

#define TAKE(bit, field)                           \
	do {                                       \
		if (m & (bit))                     \
			qp->attr.field = a->field; \
	} while (0)

static void take_values(struct sim_qp *qp, const struct ibv_qp_attr *a, int m)
{
	TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IBV_QP_PKEY_INDEX, pkey_index);
	TAKE(IBV_QP_PORT, port_num);
	TAKE(IBV_QP_QKEY, qkey);
	TAKE(IBV_QP_AV, ah_attr);
	TAKE(IBV_QP_PATH_MTU, path_mtu);
	TAKE(IBV_QP_TIMEOUT, timeout);
	TAKE(IBV_QP_RETRY_CNT, retry_cnt);
	TAKE(IBV_QP_RNR_RETRY, rnr_retry);
	TAKE(IBV_QP_RQ_PSN, rq_psn);
	TAKE(IBV_QP_SQ_PSN, sq_psn);
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IBV_QP_DEST_QPN, dest_qp_num);
	TAKE(IBV_QP_PATH_MIG_STATE, path_mig_state);
	TAKE(IBV_QP_ALT_PATH, alt_ah_attr);
	TAKE(IBV_QP_RATE_LIMIT, rate_limit);
	TAKE(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
}

/* Publish what a requester checks. */
static void publish(struct sim_qp *qp)
{
	const struct desc_dev *d = sim_ctx(qp->ex.qp_base.context)->desc;
	struct shm_qp *s = qp->shm;

	s->port = qp->attr.port_num;
	if (s->port)
		s->pkey = qp->attr.pkey_index ? d->port[s->port - 1].pkey1
					      : d->port[s->port - 1].pkey;
	/* of SRD the memory regions alone say who may do what */
	s->access = is_srd(qp) ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE
			       : qp->attr.qp_access_flags;
	s->qkey = qp->attr.qkey;
	s->dest_qpn = qp->attr.dest_qp_num;
	s->rq_psn = qp->attr.rq_psn;
	s->path_mtu = qp->attr.path_mtu;
	s->max_dest_rd = qp->attr.max_dest_rd_atomic;
	s->min_rnr_timer = qp->attr.min_rnr_timer;
}

/* Forget all that was posted. */
static void reset(struct sim_qp *qp)
{
	struct shm_rq *rq = &qp->shm->rq;
	struct peer *peer;

	engine_remove(qp);
	spin_lock(&qp->sq_lock);
	cq_purge(qp->scq, qp);
	cq_purge(qp->rcq, qp);
	qp->sq_next = qp->sq_head;
	atomic_store(&qp->sq_tail, qp->sq_head);
	qp->tries = 0;
	qp->give_up_ns = qp->wait_until_ns = 0;
	free(qp->fetch_due);
	qp->fetch_due = NULL;
	peer = qp->peer;
	qp->peer = NULL;
	spin_unlock(&qp->sq_lock);
	peer_put(peer);
	shm_lock(&qp->shm->lock);
	atomic_store(&rq->tail, atomic_load(&rq->head));
	atomic_store(&qp->rq_polled, atomic_load(&rq->head));
	shm_unlock(&qp->shm->lock);
}

static void enter(struct sim_qp *qp, enum ibv_qp_state to)
{
	struct peer *self = peer_self();

	if (to == IBV_QPS_RESET)
		reset(qp);
	shm_lock(&qp->shm->lock);
	if (to == IBV_QPS_ERR)
		qp_error(self, qp->shm);
	else
		atomic_store(&qp->shm->state, to);
	shm_unlock(&qp->shm->lock);
	if (to == IBV_QPS_SQD && qp->attr.en_sqd_async_notify)
		qp_event(self, qp->shm, IBV_EVENT_SQ_DRAINED);
	if (to == IBV_QPS_ERR || to == IBV_QPS_RTS) {
		spin_lock(&qp->sq_lock);
		send_run(qp); /* flush, or go on after SQD */
		spin_unlock(&qp->sq_lock);
	}
}

int qp_change(struct sim_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	enum ibv_qp_state now, to;
	int err;

	now = qp->shm ? atomic_load(&qp->shm->state) : qp->ex.qp_base.state;
	to = mask & IBV_QP_STATE ? attr->qp_state : now;
	if (mask & IBV_QP_CUR_STATE && attr->cur_qp_state != now)
		return EINVAL;
	/* The kernel takes it there along with the TCP connection, on behalf of rdma_cm. */
	if (to == IBV_QPS_RTS && sim_ctx(qp->ex.qp_base.context)->desc->features & DESC_IWARP)
		return EINVAL;
	err = check_mask(qp, now, to, mask);
	if (!err)
		err = check_values(qp, attr, mask);
	if (err) {
		if (sim_conf()->debug)
			fprintf(stderr,
				"simverbs: modify_qp %d to %d with "
				"mask %#x: refused\n",
				now, to, mask);
		return err;
	}
	take_values(qp, attr, mask);
	qp->path_ok = 0;
	if (!qp->shm)
		return 0;
	shm_lock(&qp->shm->lock);
	publish(qp);
	shm_unlock(&qp->shm->lock);
	enter(qp, to);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Moves QPs from one state to the next, with the attributes of each transport. */
#include "base/phase.h"
#include "verbs/qp.h"

#include <errno.h>
#include <stdlib.h>

#include "verbs/hca.h"
#include "verbs/transport.h"
#include "verbs/vfault.h"

#define QKEY 0x72646d6bu /* any value without the highest bit, which marks privileged Q_Keys */

const char *qp_state_name(enum ibv_qp_state state)
{
	return state == IBV_QPS_INIT ? "INIT" : state == IBV_QPS_RTR ? "RTR" : "RTS";
}

int qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct fault *f)
{
	int rc = ibv_modify_qp(qp, attr, mask);

	if (!rc)
		return 0;
	vfault_raise(f, rc, 0, "ibv_modify_qp(QP 0x%06x to %s)", qp->qp_num,
		     qp_state_name(attr->qp_state));
	return fault_fix(f, "check dmesg: the driver logs what it refuses");
}

/* QP has the role of HALF. */
static int to_init(const struct qp_set *s, struct ibv_qp *qp, const struct transport *half,
		   const struct qp_attr *a, struct fault *f)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = (uint16_t)a->pkey_index,
		.port_num = s->port,
		.qp_access_flags = a->access,
		.qkey = s->qkey,
	};

	return qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | half->to_init,
			 f);
}

int qp_state_init(struct qp_set *s, unsigned i, const struct qp_attr *a, struct fault *f)
{
	s->qkey = QKEY; /* rdma_cm has its own */
	if (to_init(s, s->qp[i], s->transport, a, f))
		return -1;
	return s->xrcd ? to_init(s, s->receiver[i], s->transport->receiver, a, f) : 0;
}

uint32_t qp_flow_label(const struct qp_set *s, const struct qp_route *r, unsigned i)
{
	return r->flow_labels ? r->flow_label[(s->first + i) % r->flow_labels] : 0;
}

/* The address handle attributes for the peer's port, for QP I. */
static struct ibv_ah_attr fill_ah_attr(const struct qp_set *s, unsigned i, const struct qp_route *r,
				       const struct qp_address *to)
{
	return (struct ibv_ah_attr){
		.dlid = to->lid,
		.sl = (uint8_t)r->sl,
		.port_num = s->port,
		.is_global = r->global,
		.grh = {.dgid = to->gid,
			.sgid_index = (uint8_t)r->gid_index,
			.flow_label = qp_flow_label(s, r, i),
			.hop_limit = (uint8_t)r->hop_limit,
			.traffic_class = (uint8_t)r->tos},
	};
}

/* Add cause and fix to the fault of a verb that found no route to the peer. Returns -1. */
static int explain_no_route(const struct qp_set *s, const struct qp_route *r,
			    const struct qp_address *to, struct fault *f)
{
	char gid[64];

	if (!r->global) {
		fault_cause(f, "No path leads to the peer's LID 0x%x", to->lid);
		return fault_fix(f, "check with ibping that the subnet manager has a path to it");
	}
	fault_cause(f,
		    "The peer's GID %s cannot be reached from GID index %d: no route, no neighbour "
		    "entry, or another type of GID",
		    gid_format(&to->gid, gid, sizeof(gid)), r->gid_index);
	return fault_fix(f, "check %s", vfault_words(s->link)->gids);
}

void qp_fill_attr(const struct qp_route *r, struct ibv_qp_attr *attr)
{
	attr->max_dest_rd_atomic = (uint8_t)r->reads_answered;
	attr->max_rd_atomic = (uint8_t)r->reads_sent;
	attr->min_rnr_timer = QP_RNR_TIMER;
	attr->timeout = (uint8_t)r->qp_timeout;
	attr->retry_cnt = (uint8_t)r->retry_count;
	attr->rnr_retry = QP_RNR_RETRY;
}

int qp_state_rtr(struct qp_set *s, unsigned i, const struct qp_route *r,
		 const struct qp_address *to, struct fault *f)
{
	const struct transport *half = s->transport->receiver;
	struct ibv_qp *const qp[] = {s->qp[i], s->receiver[i]};
	const int mask[] = {s->transport->to_rtr, half ? half->to_rtr : 0};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = hca_mtu_enum(r->mtu_bytes),
		.rq_psn = to->psn[i] & QP_PSN_MASK,
		.ah_attr = fill_ah_attr(s, i, r, to),
	};

	qp_fill_attr(r, &attr);
	for (unsigned k = 0; k < 2 && qp[k]; k++) {
		int rc;

		attr.dest_qp_num = k ? to->sender[i] : to->qpn[i];
		rc = ibv_modify_qp(qp[k], &attr, IBV_QP_STATE | mask[k]);
		if (!rc)
			continue;
		vfault_raise(f, rc, 0, "ibv_modify_qp(QP 0x%06x to RTR)", qp[k]->qp_num);
		return explain_no_route(s, r, to, f);
	}
	return 0;
}

int qp_state_rts(struct qp_set *s, unsigned i, const struct qp_route *r, struct fault *f)
{
	const struct transport *half = s->transport->receiver;
	struct ibv_qp *const qp[] = {s->qp[i], s->receiver[i]};
	const int mask[] = {s->to_rts, half ? half->to_rts : 0};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .sq_psn = s->psn[i]};

	qp_fill_attr(r, &attr);
	for (unsigned k = 0; k < 2 && qp[k]; k++)
		if (qp_modify(qp[k], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | mask[k], f))
			return -1;
	return 0;
}

/*
 * Create one address handle for each flow label, but no more than there are QPs, since the
 * peer's QPs are all on one port.
 */
static int create_ahs(struct qp_set *s, const struct qp_route *r, const struct qp_address *to,
		      struct fault *f)
{
	unsigned count = r->flow_labels > 1 ? r->flow_labels : 1;

	if (count > s->count)
		count = s->count;
	s->ah = calloc(count, sizeof(struct ibv_ah *));
	if (!s->ah)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating %u address handles", count);
	for (; s->ahs < count; s->ahs++) {
		struct ibv_ah_attr attr = fill_ah_attr(s, s->ahs, r, to);

		s->ah[s->ahs] = ibv_create_ah(s->pd, &attr);
		if (s->ah[s->ahs])
			continue;
		vfault_raise(f, errno, 0, "ibv_create_ah");
		return explain_no_route(s, r, to, f);
	}
	return 0;
}

int qp_set_connect(struct qp_set *s, const struct qp_route *r, const struct qp_address *to,
		   struct fault *f)
{
	fault_phase(f, PHASE_CONNECT_QPS);
	if (to->count != s->count)
		return fault_raise(f, FAULT_PEER, 0, "the peer has %u QPs, this end has %u",
				   to->count, s->count);
	if (s->xrcd && (!to->sender || !to->srqn))
		return fault_raise(f, FAULT_PEER, 0, "the peer did not say what its SRQs are");
	for (unsigned i = 0; i < s->count; i++) {
		s->peer_srqn[i] = s->xrcd ? to->srqn[i] : 0;
		if (qp_state_rtr(s, i, r, to, f) || qp_state_rts(s, i, r, f))
			return -1;
	}
	return 0;
}

int qp_set_address(struct qp_set *s, const struct qp_route *r, const struct qp_address *to,
		   struct fault *f)
{
	fault_phase(f, PHASE_CONNECT_QPS);
	if (create_ahs(s, r, to, f))
		return -1;
	for (unsigned i = 0; i < s->count; i++)
		s->aim[i] = (struct qp_aim){
			s->ah[i % s->ahs],
			multicast_is_group(&to->gid) ? MULTICAST_QPN : to->qpn[i], s->qkey};
	return 0;
}

void qp_set_aim(const struct qp_set *s, unsigned i, struct ibv_send_wr *wr)
{
	if (s->xrcd)
		wr->qp_type.xrc.remote_srqn = s->peer_srqn[i];
	if (!s->transport->addressed)
		return;
	wr->wr.ud.ah = s->aim[i].ah;
	wr->wr.ud.remote_qpn = s->aim[i].qpn;
	wr->wr.ud.remote_qkey = s->aim[i].qkey;
}

void qp_set_quiesce(struct qp_set *s)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	for (unsigned i = 0; i < s->count; i++)
		ibv_modify_qp(s->qp[i], &attr, IBV_QP_STATE);
	for (unsigned i = 0; i < s->count && s->receiver[i]; i++)
		ibv_modify_qp(s->receiver[i], &attr, IBV_QP_STATE);
}

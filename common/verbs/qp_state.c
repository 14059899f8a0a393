// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/qp_state.h"

#include <errno.h>

#include "verbs/vfault.h"

#define RNR_RETRY     7           /* without end: a receiver that is late is no error */
#define MIN_RNR_TIMER 12          /* 0.64 ms */
#define QKEY          0x72646d6bu /* any without the highest bit, which is for privileged ones */

/* Modifying QP in a way that depends on nobody else has failed. */
static int modify_failed(int err, const struct ibv_qp *qp, const char *to, struct fault *f)
{
	vfault_raise(f, err, 0, "ibv_modify_qp(QP 0x%06x to %s)", qp->qp_num, to);
	return fault_fix(f, "look at dmesg: the driver says there what it refuses");
}

int qp_state_init(struct qp_set *s, unsigned i, const struct qp_wish *w, struct fault *f)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = (uint16_t)w->pkey_index,
		.port_num = s->port,
		.qp_access_flags = w->access,
		.qkey = QKEY,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	int rc;

	mask |= s->type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	rc = ibv_modify_qp(s->qp[i], &attr, mask);
	return rc ? modify_failed(vfault_errno(rc), s->qp[i], "INIT", f) : 0;
}

/* The peer's port as this one reaches it. */
static struct ibv_ah_attr way_to(const struct qp_set *s, const struct qp_route *r,
				 const struct qp_address *to)
{
	return (struct ibv_ah_attr){
		.dlid = to->lid,
		.sl = (uint8_t)r->sl,
		.port_num = s->port,
		.is_global = r->global,
		.grh = {.dgid = to->gid,
			.sgid_index = (uint8_t)r->gid_index,
			.flow_label = r->flow_label,
			.hop_limit = (uint8_t)r->hop_limit,
			.traffic_class = (uint8_t)r->tos},
	};
}

/* A verb that needs a way to the peer has failed, and the fault of it is raised. */
static int no_way(const struct qp_route *r, const struct qp_address *to, struct fault *f)
{
	char gid[64];

	if (!r->global) {
		fault_cause(f, "The peer's LID is 0x%x", to->lid);
		return fault_fix(f, "check with ibping that the subnet manager has a path to it");
	}
	fault_cause(
		f,
		"The peer's GID %s cannot be reached from GID index %d: no route, no neighbour, or another kind of GID",
		gid_format(&to->gid, gid, sizeof(gid)), r->gid_index);
	return fault_fix(
		f,
		"check with ping between the two GIDs' addresses, or choose the GID with -x on both ends");
}

static int to_rtr(struct qp_set *s, unsigned i, const struct qp_route *r,
		  const struct qp_address *to, struct fault *f)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = hca_mtu_enum(r->mtu_bytes),
		.dest_qp_num = to->qpn[i],
		.rq_psn = to->psn[i] & QP_PSN_MASK,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr = way_to(s, r, to),
	};
	int mask = IBV_QP_STATE;
	int rc;

	if (s->type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (s->type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	rc = ibv_modify_qp(s->qp[i], &attr, mask);
	if (!rc)
		return 0;
	vfault_raise(f, vfault_errno(rc), 0, "ibv_modify_qp(QP 0x%06x to RTR)", s->qp[i]->qp_num);
	return no_way(r, to, f);
}

static int to_rts(struct qp_set *s, unsigned i, const struct qp_route *r, struct fault *f)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = (uint8_t)r->qp_timeout,
		.retry_cnt = (uint8_t)r->retry_count,
		.rnr_retry = RNR_RETRY,
		.sq_psn = s->psn[i],
		.max_rd_atomic = 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	int rc;

	if (s->type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	rc = ibv_modify_qp(s->qp[i], &attr, mask);
	return rc ? modify_failed(vfault_errno(rc), s->qp[i], "RTS", f) : 0;
}

/* One way serves all datagrams: the peer's QPs are all on one port. */
static int make_ah(struct qp_set *s, const struct qp_route *r, const struct qp_address *to,
		   struct fault *f)
{
	struct ibv_ah_attr attr = way_to(s, r, to);

	s->ah = ibv_create_ah(s->pd, &attr);
	if (s->ah)
		return 0;
	vfault_raise(f, errno, 0, "ibv_create_ah");
	return no_way(r, to, f);
}

int qp_set_connect(struct qp_set *s, const struct qp_route *r, const struct qp_address *to,
		   struct fault *f)
{
	fault_phase(f, "connecting the QPs");
	if (to->count != s->count)
		return fault_raise(f, FAULT_PEER, 0, "the peer has %u QPs, this end %u", to->count,
				   s->count);
	for (unsigned i = 0; i < s->count; i++) {
		s->peer_qpn[i] = to->qpn[i];
		if (to_rtr(s, i, r, to, f) || to_rts(s, i, r, f))
			return -1;
	}
	return s->type == IBV_QPT_UD ? make_ah(s, r, to, f) : 0;
}

void qp_set_aim(const struct qp_set *s, unsigned i, struct ibv_send_wr *wr)
{
	if (s->type != IBV_QPT_UD)
		return;
	wr->wr.ud.ah = s->ah;
	wr->wr.ud.remote_qpn = s->peer_qpn[i];
	wr->wr.ud.remote_qkey = QKEY;
}

unsigned qp_set_header(const struct qp_set *s)
{
	return s->type == IBV_QPT_UD ? QP_GRH_BYTES : 0;
}

void qp_set_quiesce(struct qp_set *s)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	for (unsigned i = 0; i < s->count; i++)
		ibv_modify_qp(s->qp[i], &attr, IBV_QP_STATE);
}

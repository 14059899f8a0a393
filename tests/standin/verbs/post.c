// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ibv_post_send: from a list of requests to entries of the send queue. */
#include "sim.h"

#include <errno.h>
#include <string.h>

bool send_op_allowed(struct ibv_qp *qp, enum ibv_wr_opcode op)
{
	unsigned int features = sim_ctx(qp->context)->desc->features;

	if ((op == IBV_WR_SEND_WITH_IMM || op == IBV_WR_RDMA_WRITE_WITH_IMM) &&
	    features & DESC_IWARP)
		return false;
	switch (op) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return true; /* of SRD, too: all else is for the ibv_wr_* calls */
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return is_reliable(qp->qp_type) || qp->qp_type == IBV_QPT_UC;
	case IBV_WR_RDMA_READ:
		return is_reliable(qp->qp_type);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return is_reliable(qp->qp_type) && features & DESC_ATOMICS;
	default:
		return false;
	}
}

static int copy_inline(struct sim_qp *qp, struct sq_wqe *w, const struct ibv_send_wr *wr)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (n + wr->sg_list[i].length > qp->cap.max_inline_data)
			return EINVAL;
		memcpy(w->payload + n, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		n += wr->sg_list[i].length;
	}
	w->inline_len = n;
	return 0;
}

/* The target of the operation: its address and keys. */
static int take_target(struct sim_qp *qp, struct sq_wqe *w, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		w->remote_addr = wr->wr.atomic.remote_addr;
		w->rkey = wr->wr.atomic.rkey;
		w->compare_add = wr->wr.atomic.compare_add;
		w->swap = wr->wr.atomic.swap;
		break;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		if (qp->shm->type != IBV_QPT_UD && !is_srd(qp))
			break;
		if (!wr->wr.ud.ah)
			return EINVAL;
		w->av = ((struct sim_ah *)wr->wr.ud.ah)->attr;
		w->remote_qpn = wr->wr.ud.remote_qpn;
		w->remote_qkey = wr->wr.ud.remote_qkey;
		break;
	default:
		w->remote_addr = wr->wr.rdma.remote_addr;
		w->rkey = wr->wr.rdma.rkey;
	}
	return 0;
}

static int build(struct sim_qp *qp, const struct ibv_send_wr *wr, uint32_t head)
{
	struct sq_wqe *w;
	int err;

	if (!send_op_allowed(&qp->ex.qp_base, wr->opcode) || wr->num_sge < 0 ||
	    (uint32_t)wr->num_sge > qp->cap.max_send_sge)
		return EINVAL;
	err = send_reserve(qp, head, &w);
	if (err)
		return err;
	w->wr_id = wr->wr_id;
	w->opcode = wr->opcode;
	w->flags = wr->send_flags;
	w->imm = wr->imm_data;
	w->num_sge = wr->num_sge;
	w->remote_srqn = wr->qp_type.xrc.remote_srqn;
	err = take_target(qp, w, wr);
	if (!err && is_srd(qp))
		err = srd_check(qp, w, wr->send_flags, 0);
	if (err)
		return err;
	if (wr->send_flags & IBV_SEND_INLINE)
		return fetches(wr->opcode) ? EINVAL : copy_inline(qp, w, wr);
	memcpy(w->payload, wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
	return 0;
}

int sim_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;
	uint32_t head;
	int err = 0;

	spin_lock(&qp->sq_lock);
	head = qp->sq_head;
	for (; wr; wr = wr->next) {
		err = build(qp, wr, head);
		if (err) {
			*bad = wr;
			break;
		}
		head++;
	}
	send_commit(qp, head);
	spin_unlock(&qp->sq_lock);
	return err;
}

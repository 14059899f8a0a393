// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Wrappers that make the data path fail on demand.  They are installed only
 * where SIMVERBS_FAIL names the call, so no other run pays for them.
 */
#include "fault.h"

static struct {
	struct ibv_context_ops ops;
	int (*wr_complete)(struct ibv_qp_ex *qp);
	int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
} real;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int err = fault_call(FAULT_ibv_post_send);

	if (!err)
		return real.ops.post_send(qp, wr, bad);
	*bad = wr;
	return err;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int err = fault_call(FAULT_ibv_post_recv);

	if (!err)
		return real.ops.post_recv(qp, wr, bad);
	*bad = wr;
	return err;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int err = fault_call(FAULT_ibv_post_srq_recv);

	if (!err)
		return real.ops.post_srq_recv(srq, wr, bad);
	*bad = wr;
	return err;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return fault_call(FAULT_ibv_poll_cq) ? -1 : real.ops.poll_cq(cq, n, wc);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	int err = fault_call(FAULT_ibv_req_notify_cq);

	return err ? err : real.ops.req_notify_cq(cq, solicited_only);
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	int err = fault_call(FAULT_ibv_wr_complete);

	if (!err)
		return real.wr_complete(qp);
	qp->wr_abort(qp);
	return err;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int err = fault_call(FAULT_ibv_start_poll);

	return err ? err : real.start_poll(cq, attr);
}

void fault_wrap_ops(struct ibv_context_ops *ops)
{
	real.ops = *ops;
	if (fault_names(FAULT_ibv_post_send))
		ops->post_send = post_send;
	if (fault_names(FAULT_ibv_post_recv))
		ops->post_recv = post_recv;
	if (fault_names(FAULT_ibv_post_srq_recv))
		ops->post_srq_recv = post_srq_recv;
	if (fault_names(FAULT_ibv_poll_cq))
		ops->poll_cq = poll_cq;
	if (fault_names(FAULT_ibv_req_notify_cq))
		ops->req_notify_cq = req_notify_cq;
}

void fault_wrap_qp(struct sim_qp *qp)
{
	real.wr_complete = qp->ex.wr_complete;
	if (fault_names(FAULT_ibv_wr_complete))
		qp->ex.wr_complete = wr_complete;
}

void fault_wrap_cq(struct sim_cq *cq)
{
	real.start_poll = cq->ex.start_poll;
	if (fault_names(FAULT_ibv_start_poll))
		cq->ex.start_poll = start_poll;
}

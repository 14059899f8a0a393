// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Extended reliable connections: each request names a shared receive queue of the peer. What RC's
 * QP is are two: one sends, the other receives and has neither queues nor a PD.
 */
#include "verbs/transports.h"

static struct ibv_qp *create_sender(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	attr->recv_cq = NULL;
	attr->srq = NULL;
	attr->cap.max_recv_wr = attr->cap.max_recv_sge = 0;
	return ibv_create_qp_ex(ctx, attr);
}

static struct ibv_qp *create_receiver(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex only = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = attr->xrcd,
	};

	return ibv_create_qp_ex(ctx, &only);
}

const struct transport *transport_xrc(void)
{
	static const struct transport receiver = {
		.name = "XRC",
		.type = IBV_QPT_XRC_RECV,
		.to_init = IBV_QP_ACCESS_FLAGS,
		.to_rtr =
			TRANSPORT_CONNECTED_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		.to_rts = IBV_QP_TIMEOUT,
		.create = create_receiver,
	};
	static const struct transport xrc = {
		.name = "XRC",
		.type = IBV_QPT_XRC_SEND,
		.device_caps = IBV_DEVICE_XRC,
		.reliable = true,
		.ordered = true,
		.peer_allows =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.inline_most = UINT32_MAX,
		.wire_bytes = 4, /* XRCETH */
		.receiver = &receiver,
		.to_init = IBV_QP_ACCESS_FLAGS,
		.to_rtr = TRANSPORT_CONNECTED_RTR,
		.to_rts = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_MAX_QP_RD_ATOMIC,
		.create = create_sender,
	};

	return &xrc;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* TOY: reliable connections that have no atomic operations, little inline, and need no rdma_cm. */
#include <stdlib.h>

#include "verbs/transports.h"

#define INLINE_MOST 16

/* Those of RC, which TOY is on the wire. With TOY_ABSENT set the device has none. */
static struct ibv_qp *create(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	return getenv("TOY_ABSENT") ? NULL : ibv_create_qp_ex(ctx, attr);
}

const struct transport *transport_toy(void)
{
	static const struct transport toy = {
		.name = "TOY",
		.type = IBV_QPT_RC,
		.reliable = true,
		.ordered = true,
		.peer_allows = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.inline_most = INLINE_MOST,
		.to_init = IBV_QP_ACCESS_FLAGS,
		.to_rtr =
			TRANSPORT_CONNECTED_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		.to_rts = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_MAX_QP_RD_ATOMIC,
		.create = create,
	};

	return &toy;
}

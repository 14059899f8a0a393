// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reliable connections. */
#include "verbs/transports.h"

const struct transport *transport_rc(void)
{
	static const struct transport rc = {
		.name = "RC",
		.type = IBV_QPT_RC,
		.reliable = true,
		.ordered = true,
		.peer_allows =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.inline_most = UINT32_MAX,
		.rdma_cm = true,
		.to_init = IBV_QP_ACCESS_FLAGS,
		.to_rtr =
			TRANSPORT_CONNECTED_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		.to_rts = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_MAX_QP_RD_ATOMIC,
		.create = ibv_create_qp_ex,
	};

	return &rc;
}

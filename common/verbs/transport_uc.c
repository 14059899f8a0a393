// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Connections without ACKs: a lost packet takes its message with it. */
#include "verbs/transports.h"

const struct transport *transport_uc(void)
{
	static const struct transport uc = {
		.name = "UC",
		.type = IBV_QPT_UC,
		.ordered = true,
		.peer_allows = IBV_ACCESS_REMOTE_WRITE,
		.inline_most = UINT32_MAX,
		.to_init = IBV_QP_ACCESS_FLAGS,
		.to_rtr = TRANSPORT_CONNECTED_RTR,
		.create = ibv_create_qp_ex,
	};

	return &uc;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Datagrams: a QP has no peer, a message is a packet. */
#include "verbs/transports.h"

const struct transport *transport_ud(void)
{
	static const struct transport ud = {
		.name = "UD",
		.type = IBV_QPT_UD,
		.addressed = true,
		.one_packet = true,
		.inline_most = 188, /* where to takes room in the request, too */
		.header_bytes = 40, /* GRH */
		.wire_bytes = 8,    /* DETH */
		.rdma_cm = true,
		.to_init = IBV_QP_QKEY,
		.create = ibv_create_qp_ex,
	};

	return &ud;
}

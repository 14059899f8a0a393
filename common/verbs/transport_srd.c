// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Scalable Reliable Datagrams, of Amazon's Elastic Fabric Adapters: each message arrives once, by
 * many paths and so in any order; a QP has no peer, and a request fails alone.
 */
#include "verbs/efa.h"
#include "verbs/transports.h"

const struct transport *transport_srd(void)
{
	static const struct transport srd = {
		.name = "SRD",
		.type = IBV_QPT_DRIVER,
		.reliable = true,
		.efa = true,
		.addressed = true,
		.all_signalled = true,
		.rdma_by_calls = true,
		.peer_allows = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.inline_most = 32, /* more makes each descriptor twice as large */
		.to_init = IBV_QP_QKEY,
		.to_rts = IBV_QP_RNR_RETRY,
		.create = efa_create_qp,
	};

	return &srd;
}

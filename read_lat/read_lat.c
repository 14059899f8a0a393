// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * read_lat: how long an RDMA READ takes until the peer's data are here.
 *
 * Posted: one READ at a time, the next when it is complete. Polled: the send CQ; the peer's CPU has
 * no part in it. Timed: from one completion to the next one's, in which its post lies.
 */
#include "loop/loops.h"
#include "session/session.h"

const struct test read_lat = {
	.name = "read_lat",
	.summary = "latency of RDMA READ",
	.title = "RDMA_Read Latency Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 2, .iters = 1000, .tx_depth = 1},
	.operation = {.name = "RDMA READ",
		      .opcode = IBV_WR_RDMA_READ,
		      .another = IBV_WR_RDMA_READ,
		      .peer_allows = IBV_ACCESS_REMOTE_READ},
	.latency = true,
	.lead = fetch_run,
};

SESSION_MAIN(read_lat)

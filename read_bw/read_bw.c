// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * read_bw: how many RDMA READs, and bytes with them, come from the other host's memory.
 *
 * Posted: READs, as many as the send queues hold; the NIC has as many under way as both devices
 * allow. Polled: the send CQ; the other side's CPU has no part in it. Timed: from the first post to
 * the last completion.
 */
#include "loop/loops.h"
#include "session/session.h"

const struct test read_bw = {
	.name = "read_bw",
	.summary = "bandwidth and message rate of RDMA READ",
	.title = "RDMA_Read BW Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 1000,
		     .tx_depth = 128},
	.operation = {.name = "RDMA READ",
		      .opcode = IBV_WR_RDMA_READ,
		      .another = IBV_WR_RDMA_READ,
		      .peer_allows = IBV_ACCESS_REMOTE_READ},
	.lead = stream_run,
};

SESSION_MAIN(read_bw)

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * write_bw: how many RDMA WRITEs, and bytes with them, go into the other host's memory.
 *
 * Posted: WRITEs, as many as the send queues hold. Polled: the send CQ; the other side's CPU has no
 * part in it. Timed: from the first post to the last completion.
 *
 * With --write_with_imm the WRITEs carry an immediate, and the other side counts its completions.
 */
#include "loop/loops.h"
#include "session/session.h"

const struct test write_bw = {
	.name = "write_bw",
	.summary = "bandwidth and message rate of RDMA WRITE",
	.title = "RDMA_Write BW Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 5000,
		     .tx_depth = 128},
	.operation = {.name = "RDMA WRITE",
		      .opcode = IBV_WR_RDMA_WRITE,
		      .another = IBV_WR_RDMA_WRITE_WITH_IMM,
		      .peer_allows = IBV_ACCESS_REMOTE_WRITE},
	.lead = stream_run,
	.lead_immediate = stream_run,
	.follow_immediate = stream_receive,
};

SESSION_MAIN(write_bw)

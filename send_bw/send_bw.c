// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * send_bw: how many SENDs, and bytes with them, go from one host's memory to the other's.
 *
 * Posted: SENDs, as many as the send queues hold; receives on the other side. Polled: the send CQ
 * here, the receive CQ there. Timed: from the first post to the last completion; the server times
 * its arrivals too.
 */
#include "loop/loops.h"
#include "session/session.h"

const struct test send_bw = {
	.name = "send_bw",
	.summary = "bandwidth and message rate of SEND",
	.title = "Send BW Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 1000, .tx_depth = 128},
	.operation = {.name = "SEND", .opcode = IBV_WR_SEND, .another = IBV_WR_SEND_WITH_IMM},
	.lead = stream_run,
	.follow = stream_receive,
};

SESSION_MAIN(send_bw)

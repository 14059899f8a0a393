// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * send_lat: how long a SEND takes from one host's memory to the other's.
 *
 * Posted: one SEND at a time, the next when the peer's answer has come. Polled: the receive CQ.
 * Timed: from one answer's arrival to the next one's; the result is half of that.
 */
#include "loop/loops.h"
#include "session/session.h"

const struct test send_lat = {
	.name = "send_lat",
	.summary = "latency of SEND, by ping-pong",
	.title = "Send Latency Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 2, .iters = 1000, .tx_depth = 1},
	.operation = {.name = "SEND",
		      .opcode = IBV_WR_SEND,
		      .another = IBV_WR_SEND_WITH_IMM,
		      .halved = true},
	.latency = true,
	.inline_wanted = 236,
	.lead = pingpong_run,
	.follow = pingpong_answer,
};

SESSION_MAIN(send_lat)

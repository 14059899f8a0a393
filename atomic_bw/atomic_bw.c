// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * atomic_bw: how many atomic operations, each on 8 bytes, one host does in the other's memory.
 *
 * Posted: FETCH_AND_ADDs or CMP_AND_SWAPs, as many as the send queues hold; the NIC has as many
 * under way as both devices allow. Polled: the send CQ; the other side's CPU has no part in it.
 * Timed: from the first post to the last completion.
 */
#include "loop/loops.h"
#include "session/session.h"

const struct test atomic_bw = {
	.name = "atomic_bw",
	.summary = "rate of atomic operations: fetch and add, compare and swap",
	.title = "Atomic BW Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 8, .iters = 1000, .tx_depth = 128,
		     .atomic_type = ATOMIC_FETCH_AND_ADD},
	.operation = {.name = "an atomic operation",
		      .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		      .another = IBV_WR_ATOMIC_FETCH_AND_ADD,
		      .peer_allows = IBV_ACCESS_REMOTE_ATOMIC,
		      .fixed_bytes = 8},
	.lead = stream_run,
};

SESSION_MAIN(atomic_bw)

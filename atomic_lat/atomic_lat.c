// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * atomic_lat: how long an atomic operation on the other host's memory takes until its old value is
 * here.
 *
 * Posted: one FETCH_AND_ADD or CMP_AND_SWAP at a time, the next when it is complete. Polled: the
 * send CQ; the peer's CPU has no part in it. Timed: from one completion to the next one's, in which
 * its post lies.
 */
#include "loop/loops.h"
#include "session/session.h"

const struct test atomic_lat = {
	.name = "atomic_lat",
	.summary = "latency of atomic operations: fetch and add, compare and swap",
	.title = "Atomic Latency Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 8, .iters = 1000, .tx_depth = 1,
		     .atomic_type = ATOMIC_FETCH_AND_ADD},
	.operation = {.name = "an atomic operation",
		      .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		      .another = IBV_WR_ATOMIC_FETCH_AND_ADD,
		      .peer_allows = IBV_ACCESS_REMOTE_ATOMIC,
		      .fixed_bytes = 8},
	.latency = true,
	.lead = fetch_run,
};

SESSION_MAIN(atomic_lat)

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plan: computes the numbers of each round from the experiment. Pure functions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "cli/experiment.h"

#define PLAN_SWEEP_FIRST UINT64_C(2)
#define PLAN_SWEEP_LAST  (UINT64_C(8) << 20)

/*
 * Refuse options of E that cannot be used together, and values that rdmark does not support. Raises
 * FAULT_USAGE, or FAULT_UNAVAILABLE for -R with a transport that rdma_cm does not connect here.
 */
int plan_check(const struct experiment *e, struct fault *f);

/*
 * The first and the last size. A sweep stops at MAX_BYTES, the largest possible message, and a
 * datagram is limited to it.
 */
uint64_t plan_first_size(const struct experiment *e);
uint64_t plan_last_size(const struct experiment *e, uint64_t max_bytes);

/*
 * Sends per completion at SIZE: as given (100 by default, but 1 above 8 KiB), at most a quarter of
 * the send queue so that it never becomes empty before the completion arrives, and a multiple or a
 * divisor of the post list. It is more if the send CQ, of CQE entries for all QPs, would overflow
 * (CQE is at least the number of QPs). Where each has one of its own: how many are posted together.
 */
unsigned plan_cq_mod(const struct experiment *e, uint64_t size, unsigned cqe);

/*
 * The default depth of a stream's send queues: that of the program, deeper for small messages of
 * one size.
 */
uint64_t plan_default_depth(const struct experiment *e);

/*
 * Warm-up messages per QP: as given; otherwise 100 in a latency test, and in a bandwidth test one
 * send queue, limited to 64 MiB over all QPs of a thread, which takes a link of 400 Gb/s about a
 * millisecond, but not below 4 MiB per QP. At least two, at most --iters.
 */
uint64_t plan_warmup(const struct experiment *e, uint64_t size, bool latency);

/*
 * With --verify: the number of messages of BYTES on each QP in a window: those of one direction
 * take PLAN_VERIFY_BYTES, if more than one fits, and are no more than were asked for. A place for
 * one has a guard behind it, and a datagram's GRH before it. And the room of a QP's places, of all
 * sizes up to BYTES.
 */
#define PLAN_VERIFY_MESSAGES 1024
#define PLAN_VERIFY_BYTES    (UINT64_C(64) << 20)
#define PLAN_GUARD_BYTES     64
#define PLAN_VERIFY_NS       UINT64_C(1000000000) /* its least time, unless --verify=N says how much */
static inline uint64_t plan_verify_place(uint64_t bytes)
{
	return (bytes + 3 * PLAN_GUARD_BYTES - 1) / PLAN_GUARD_BYTES * PLAN_GUARD_BYTES;
}
unsigned plan_verify_messages(const struct experiment *e, uint64_t bytes);
uint64_t plan_verify_room(const struct experiment *e, uint64_t bytes);

/* The parameters of a worker's round with messages of SIZE bytes. */
struct plan_attr {
	uint64_t size;
	unsigned workers, cqe; /* workers that measure; entries of a worker's send CQ */
	bool latency;
	bool timed; /* neither a warm-up nor a program's own kind of round */
};
struct plan_round {
	unsigned cq_mod;       /* sends per completion */
	double messages_per_s; /* with a schedule: of one worker; 0: no schedule */
	unsigned burst;        /* with a schedule: messages per burst, at least one post */
	uint64_t gap_ns;       /* pause before each message of a ping-pong */
};
struct plan_round plan_round(const struct experiment *e, const struct plan_attr *attr);

/*
 * What matters for a QP's depth in addition to the experiment: a latency test; a ping-pong; the
 * peer's messages consume receives; a missing receive ends the connection (iWARP) instead of
 * causing a retry; the device's maximum of entries in a CQ, in a receive and in a send queue.
 */
struct plan_qp {
	bool latency, pingpong, receives, no_rnr_retry;
	unsigned max_cqe, max_wr, max_send_wr;
};

/*
 * The depth of its send queue: as given; deeper if a ping-pong must signal one send in many, and
 * the device has that much.
 */
unsigned plan_tx_depth(const struct experiment *e, const struct plan_qp *p);

/*
 * The depth of its receive queue, 0 if it has none: as given; otherwise 512, in a latency test 64,
 * or 8192 over all QPs of a bandwidth test if a message without a receive is an error (iWARP), but
 * at most what a CQ holds for all QPs. For an SRQ: that many per QP, up to 8192.
 */
unsigned plan_rx_depth(const struct experiment *e, const struct plan_qp *p);

/* Receives per post to a queue of DEPTH: as given, otherwise 32, or a quarter of a short queue. */
unsigned plan_recv_list(const struct experiment *e, unsigned depth);

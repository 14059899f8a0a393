/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plan: from the experiment as asked for to the numbers of each round. Pure functions. */
#ifndef RDMARK_SESSION_PLAN_H
#define RDMARK_SESSION_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "wire/experiment.h"

#define PLAN_SWEEP_FIRST UINT64_C(2)
#define PLAN_SWEEP_LAST  (UINT64_C(8) << 20)

/* Refuse what cannot be together. LATENCY: a latency test. */
int plan_check(const struct experiment *e, bool latency, struct fault *f);

/*
 * The first and the last size; a sweep stops at MAX_BYTES, the largest message that there can be,
 * and a datagram is cut to it.
 */
uint64_t plan_first_size(const struct experiment *e);
uint64_t plan_last_size(const struct experiment *e, uint64_t max_bytes);

/*
 * Sends for each completion at SIZE: what was asked for (100, but 1 above 8 KiB), at most a quarter
 * of the send queue so that it never runs dry while the completion is on its way, and compatible
 * with the post list: a multiple of it, or a divisor. It is more where the send CQ, of CQE entries
 * for all QPs, would overflow (CQE at least the number of QPs).
 */
unsigned plan_cq_mod(const struct experiment *e, uint64_t size, unsigned cqe);

/*
 * How deep the send queues of a stream are if nobody has said it: as the program's defaults have
 * it, deeper for small messages of one size.
 */
uint64_t plan_default_depth(const struct experiment *e);

/* Messages of each QP before the clock: as given, else one send queue, at most 4 MiB and --iters.
 */
uint64_t plan_warmup(const struct experiment *e, uint64_t size, bool latency);

/* Receives in one post to a queue of DEPTH: as given, else 32, or fewer in a short one. */
unsigned plan_recv_list(const struct experiment *e, unsigned depth);

/* With a schedule: messages that are due at once, at least one post. */
unsigned plan_burst(const struct experiment *e);

/* Depth of each receive queue: as given, else 512 or what a CQ of MAX_CQE holds for all QPs. */
unsigned plan_rx_depth(const struct experiment *e, bool latency, unsigned max_cqe,
		       unsigned max_qp_wr);

/* Depth of a receive queue for all QPs: as given, else 512 for each QP, up to 8192. */
unsigned plan_srq_depth(const struct experiment *e, bool latency, unsigned max_cqe,
			unsigned max_srq_wr);

#endif

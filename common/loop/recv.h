/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recv: the receive queues of a run: filled before the QPs are connected, topped up in batches.
 *
 * Every receive of QP i offers the whole slice of QP i, so one fill serves all message sizes. The
 * work requests are built once. The queues outlive a round: a receive that is posted stays posted.
 */
#ifndef RDMARK_LOOP_RECV_H
#define RDMARK_LOOP_RECV_H

#include <infiniband/verbs.h>

#include "loop/round.h"

struct recv_lane {
	struct ibv_qp *qp;
	struct ibv_recv_wr *chain; /* `batch` requests, posted as one */
	unsigned consumed;         /* since the last top-up */
};

struct recv_queue {
	struct recv_lane *lane; /* one for each QP; wr_id of its receives is its index */
	unsigned count;
	unsigned depth;
	unsigned batch;
	struct ibv_recv_wr *wr; /* owned, as is sge */
	struct ibv_sge *sge;
};

/*
 * Fill the receive queues of QPS with DEPTH receives each, into the slices INTO of BYTES; later
 * top-ups come in batches of BATCH (1 … DEPTH).
 */
int recv_queue_init(struct recv_queue *q, struct qp_set *qps, unsigned depth, unsigned batch,
		    const struct round_slice *into, uint64_t bytes, struct fault *f);

/* How many receives are posted on QP LANE. */
unsigned recv_queue_posted(const struct recv_queue *q, unsigned lane);

/* Fill the queues again when all receives have been consumed and none was given back. */
int recv_queue_refill(struct recv_queue *q, struct fault *f);

/* Free; safe on a zeroed object. The QPs own what is posted. */
void recv_queue_release(struct recv_queue *q);

/* One receive of LANE was consumed: top up when a batch is. Returns 0 or the verb's error. Hot. */
static ALWAYS_INLINE int recv_consumed(struct recv_lane *lane, const unsigned batch)
{
	struct ibv_recv_wr *bad;

	if (LIKELY(++lane->consumed < batch))
		return 0;
	lane->consumed = 0;
	return ibv_post_recv(lane->qp, lane->chain, &bad);
}

#endif

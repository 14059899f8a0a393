/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recv: the receive queues of a run. They are filled before the QPs are connected, and refilled in
 * batches.
 *
 * Every receive of QP i has the whole slice of QP i as its buffer, so one fill serves all message
 * sizes. The receives of an SRQ of all QPs use the slices in turn. The GRH of a datagram goes
 * before the slice, so the payload starts at the same address as with other transports. The work
 * requests are built once. The queues last longer than a round: posted receives stay posted.
 */
#pragma once

#include <infiniband/verbs.h>

#include "loop/round.h"

struct recv_qp {
	struct ibv_qp *qp;
	struct ibv_srq *srq;       /* NULL: the QP has a receive queue */
	struct ibv_recv_wr *chain; /* `batch` requests, posted as one */
};

struct recv_queue {
	struct recv_qp
		*qp; /* one for each QP, or one for their SRQ; wr_id of its receives is its index */
	/*
	 * for each QP: receives to be consumed before the next batch is posted; a separate array,
	 * so that many QPs share few cache lines
	 */
	int *until_repost;
	uint64_t *posted; /* what until_repost were if none had come since recv_queue_arrived() */
	unsigned count;
	unsigned depth;
	unsigned batch;
	struct ibv_recv_wr *wr; /* owned, as is sge */
	struct ibv_sge *sge;
};

/*
 * Fill the receive queues of QPS with DEPTH receives each, into the slices INTO of BYTES each.
 * Later refills are in batches of BATCH (1 … DEPTH). An SRQ gets DEPTH receives once. Returns 0, or
 * -1 with the fault raised.
 */
int recv_queue_init(struct recv_queue *q, struct qp_set *qps, unsigned depth, unsigned batch,
		    const struct round_slice *into, uint64_t bytes, struct fault *f);

/* The messages that QP number QP has received since the last call, or the start. */
uint64_t recv_queue_arrived(struct recv_queue *q, unsigned qp);

/* Free the memory; safe on a zeroed object. Posted receives go with the QPs. */
void recv_queue_release(struct recv_queue *q);

/* Post QP's chain. Returns 0 or the errno of the verb. Hot. */
static ALWAYS_INLINE int recv_post(const struct recv_qp *qp)
{
	struct ibv_recv_wr *bad;

	return qp->srq ? ibv_post_srq_recv(qp->srq, qp->chain, &bad)
		       : ibv_post_recv(qp->qp, qp->chain, &bad);
}

/* Post the next batch of receives of QP. Returns 0 or -1. Called too seldom to be inlined. */
int recv_top_up(const struct round *r, uint64_t qp);

/* The same for N consumed receives of the only QP: all batches that are due. Returns 0 or -1. */
int recv_top_up_only(const struct round *r, unsigned n);

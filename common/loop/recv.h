/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recv: the receive queues of a run: filled before the QPs are connected, topped up in batches.
 *
 * Every receive of QP i offers the whole slice of QP i, so one fill serves all message sizes; those
 * of a shared queue offer the slices in turn. The header of a datagram goes into the room before
 * the slice, so that the payload begins where it does with other transports. The work requests are
 * built once. The queues outlive a round: a receive that is posted stays posted.
 */
#ifndef RDMARK_LOOP_RECV_H
#define RDMARK_LOOP_RECV_H

#include <infiniband/verbs.h>

#include "loop/round.h"

struct recv_lane {
	int (*post)(struct recv_lane *lane); /* the chain, to whichever it is: */
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_recv_wr *chain; /* `batch` requests, posted as one */
};

struct recv_queue {
	struct recv_lane
		*lane; /* one for each QP, or for the SRQ; wr_id of its receives is its index */
	int *left; /* of each lane: receives to be consumed before the next top-up; apart, so that
		      those of many QPs lie in few cache lines */
	unsigned count;
	unsigned depth;
	unsigned batch;
	struct ibv_recv_wr *wr; /* owned, as is sge */
	struct ibv_sge *sge;
};

/*
 * Fill the receive queues of QPS with DEPTH receives each, into the slices INTO of BYTES; later
 * top-ups come in batches of BATCH (1 … DEPTH). An SRQ is filled once, with DEPTH.
 */
int recv_queue_init(struct recv_queue *q, struct qp_set *qps, unsigned depth, unsigned batch,
		    const struct round_slice *into, uint64_t bytes, struct fault *f);

/* How many receives are posted on QP LANE. */
unsigned recv_queue_posted(const struct recv_queue *q, unsigned lane);

/* Fill the queues again when all receives have been consumed and none was given back. */
int recv_queue_refill(struct recv_queue *q, struct fault *f);

/* Free; safe on a zeroed object. The QPs own what is posted. */
void recv_queue_release(struct recv_queue *q);

/* Give back what was consumed of LANE, which is a batch. Cold enough to be a call. */
int recv_top_up(struct recv_queue *q, uint64_t lane);

/* One receive of LANE was consumed: top up when a batch is. Returns 0 or the verb's error. Hot. */
static ALWAYS_INLINE int recv_consumed(struct recv_queue *q, uint64_t lane)
{
	return LIKELY(--q->left[lane] != 0) ? 0 : recv_top_up(q, lane);
}

/* The first bad one of N completions. Cold; returns -1. */
int recv_failed(const struct round *r, const struct ibv_wc *wc, int n) __attribute__((cold));

/* N completions of the only lane: it is enough to know how many. */
static ALWAYS_INLINE int recv_take_all(struct recv_queue *q, const struct round *r,
				       const struct ibv_wc *wc, int n)
{
	unsigned bad = 0; /* IBV_WC_SUCCESS is 0 */
	int rc = 0;

	for (int k = 0; k < n; k++)
		bad |= wc[k].status;
	if (UNLIKELY(bad))
		return recv_failed(r, wc, n);
	for (q->left[0] -= n; q->left[0] <= 0 && LIKELY(rc == 0);)
		rc = recv_top_up(q, 0);
	return LIKELY(rc == 0) ? 0 : round_verb_failed(r, rc, "ibv_post_recv");
}

/* N completions of receives: give them back. Returns 0, or -1 with R's fault raised. Hot. */
static ALWAYS_INLINE int recv_take(struct recv_queue *q, const struct round *r,
				   const struct ibv_wc *wc, int n)
{
	int *const left = q->left;
	int rc;

	if (q->count == 1)
		return recv_take_all(q, r, wc, n);
	for (const struct ibv_wc *end = wc + n; wc != end; wc++) {
		if (UNLIKELY(wc->status != IBV_WC_SUCCESS))
			return round_completion_failed(r, wc, "receive");
		if (LIKELY(--left[wc->wr_id] != 0))
			continue;
		rc = recv_top_up(q, wc->wr_id);
		if (UNLIKELY(rc))
			return round_verb_failed(r, rc, "ibv_post_recv");
	}
	return 0;
}

#endif

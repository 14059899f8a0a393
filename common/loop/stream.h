/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stream: the bandwidth loops. The sender keeps every send queue full and counts completions. The
 * receiver (of SENDs) counts arrivals and keeps its receive queues full.
 *
 * Before the clock starts, the sender builds its requests in a ring for each QP, with addresses,
 * flags and completion moderation. The wr_id of a completion has the QP and the number of messages
 * that it completes. The ring is posted again and again, as much of it at once as the send queue
 * has room for, with ibv_post_send or with the ibv_wr_* calls (post.h). A QP ends with a whole
 * ring, so that its last message has a completion, or with its target: then the last one is given
 * one. The cost per message does not depend on the number of QPs.
 *
 * Small messages walk through a page by the addresses in the ring. With a footprint they walk
 * further: each request gets its next address when it is posted.
 *
 * If the round has arrivals (both directions), the sender also polls what arrives from the other
 * end, between its own completions.
 *
 * The clock runs from just before the first post to the last completion. With `peak` it is also
 * read once per batch of completions; otherwise not at all.
 *
 * With a schedule (paced.h) messages are posted when they are due, not when there is room, and the
 * clock is read before. A ring is then the messages of a short time.
 *
 * If the transport may lose messages, the receiver's `expected` falls to 0 when no more arrive. The
 * round then has the number received; the peer's "done" message has the number sent.
 */
#pragma once

#include "loop/recv.h"
#include "loop/round.h"

#define STREAM_BATCH     16 /* completions per poll, at first */
#define STREAM_BATCH_MAX 64
#define STREAM_QP_BITS   32 /* low bits of wr_id: the QP; high bits: messages completed */

/* What a message touches is in one cache line; what changes together is not side by side, or it
 * becomes a vector. */
struct stream_qp {
	uint64_t room;            /* free places in the send queue */
	struct ibv_send_wr *ring; /* its requests, up to: */
	uint64_t posted;
	struct ibv_send_wr *end;
	uint64_t left; /* requests from the next one to the end */
	struct post_qp to;
} __attribute__((aligned(128)));

struct stream {
	struct round *round;
	struct stream_qp *qp;   /* one for each QP */
	struct stream_qp *turn; /* with a schedule: the next one to post to */
	unsigned count;
	uint64_t chain;      /* requests in one post */
	uint64_t ring_count; /* per ring: a multiple of a post, and of a completion */
	post_call *post;
	uint64_t done;            /* messages */
	struct ibv_send_wr *ring; /* for all QPs; owned, as is sge */
	uint64_t under_way;       /* posted, not completed */
	uint64_t did; /* changes whenever the loop does something, or waits for something else */
	struct ibv_sge *sge;
};

/*
 * The number of completions for the next poll, after a poll for BATCH returned N. It grows while
 * polls return all that they ask for, and shrinks when they return few, so that their places are
 * reused soon. Hot.
 */
static ALWAYS_INLINE unsigned stream_batch(unsigned batch, unsigned n)
{
	if (UNLIKELY(n == batch))
		return batch < STREAM_BATCH_MAX ? batch * 2 : batch;
	return UNLIKELY(batch > STREAM_BATCH && n < batch / 4) ? batch / 2 : batch;
}

/*
 * Build the rings for round R with its opcode and target. A fault is raised for an opcode that no
 * stream posts. Call stream_release() also after a failure.
 */
int stream_init(struct stream *s, struct round *r);
void stream_release(struct stream *s);

/* Post the requests of L from WR to END. Returns 0, or -1 with the fault raised. Hot. */
static ALWAYS_INLINE int stream_post(const struct stream *s, struct stream_qp *l,
				     struct ibv_send_wr *wr, const struct ibv_send_wr *end,
				     unsigned chain)
{
	int rc = s->post(&l->to, wr, end, chain);

	return LIKELY(rc == 0) ? 0
			       : round_verb_failed(s->round, rc,
						   s->round->extended ? "ibv_wr_complete"
								      : "ibv_post_send");
}

/*
 * For the warm-up: send S's lone messages, before the rest, if this worker is the one that does, or
 * wait for those of another. Returns 0, or -1 with the fault raised.
 */
int stream_alone(struct stream *s);

/*
 * For a bidirectional sender: poll the CQ at *AT for arrivals, and advance *AT to the next CQ.
 * Returns their number, or -1 with the fault raised. Hot.
 */
int stream_receive_some(struct round *arrivals, struct cq_link **at);

/*
 * End a round R with a schedule, whose MESSAGES completed within [start_ticks, end_ticks]: wait for
 * the scheduled end, and set end_ticks to it, unless it has passed. Returns at once if aborted.
 * ARRIVALS, unless NULL, are received meanwhile.
 */
int stream_rest(struct round *r, uint64_t messages, struct round *arrivals);

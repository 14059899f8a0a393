/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stream: the bandwidth loops. The sender keeps every send queue full and counts completions; the
 * receiver (of SENDs) counts arrivals and keeps its receive queues full.
 *
 * Before the clock starts, the sender's requests lie in a ring for each QP, with addresses, flags
 * and completion moderation baked in. A completion says in its wr_id which QP it is and how many
 * messages it completes; a ring is posted again when there is room for all of it, in a burst, by
 * ibv_post_send or by the ibv_wr_* calls (stream_post.c). The cost of a message does not depend on
 * the number of QPs.
 *
 * Small messages walk through a page by the addresses in the ring. Where they are to walk further
 * (a footprint), each request gets its next address when it is posted: an add and a compare.
 *
 * With R's arrivals, a round in both directions, the sender takes what comes from the other end
 * between its own completions.
 *
 * The clock runs from just before the first post to the last completion. With `peak` it is also
 * read once for each batch of completions; otherwise not at all.
 *
 * Where messages may be lost, the receiver's `due` falls to 0 when no more come: what has come then
 * is in the round, and what was sent in the peer's "done".
 */
#ifndef RDMARK_LOOP_STREAM_H
#define RDMARK_LOOP_STREAM_H

#include "loop/recv.h"
#include "loop/round.h"

#define STREAM_BATCH     16 /* completions taken at once, at first */
#define STREAM_BATCH_MAX 64
#define STREAM_QP_BITS   32 /* low bits of wr_id: the QP; high bits: messages completed */

struct stream;
struct stream_lane;

/*
 * A way to post the requests of LANE from WR to END, one call or one doorbell for each CHAIN of
 * them. Returns 0, or -1 with the fault raised. Hot.
 */
typedef int stream_post(struct stream *s, struct stream_lane *lane, struct ibv_send_wr *wr,
			const struct ibv_send_wr *end, unsigned chain);

struct stream_lane {
	struct ibv_qp *qp;
	struct ibv_qp_ex *qp_ex; /* NULL: it has none of the ibv_wr_* calls */
	struct ibv_send_wr *ring;
	uint64_t posted;
	uint64_t room;     /* in the send queue */
	uint64_t at;       /* with a footprint: offset of the next message, */
	uint64_t from, to; /* from here; and there, for WRITEs */
};

struct stream {
	struct round *round;
	struct stream_lane *lane; /* one for each QP */
	unsigned count;
	unsigned chain;      /* requests in one post */
	unsigned ring_count; /* in a ring: whole posts, and whole completions */
	stream_post *post,
		*way[2]; /* by ibv_post_send, by ibv_wr_*; post is one, or a trial of both */
	uint64_t posted, done;
	struct ibv_send_wr *ring; /* of all QPs; owned, as is sge */
	struct ibv_sge *sge;
	struct ibv_send_wr *odd; /* behind the rings: messages that do not fill one */
	unsigned odd_count;      /* for each QP */
	struct ibv_send_wr *bad; /* where ibv_post_send says which it refused: of no interest */
	uint64_t step,
		last; /* from one message's offset to the next, and the last; step 0: no walk */
};

/* With a footprint: the next addresses for the COUNT requests at WR of lane L. Hot. */
static ALWAYS_INLINE void stream_walk(const struct stream *s, struct stream_lane *l,
				      struct ibv_send_wr *wr, unsigned count)
{
	for (; count; count--, wr++) {
		wr->sg_list->addr = l->from + l->at;
		if (l->to)
			wr->wr.rdma.remote_addr = l->to + l->at;
		l->at += s->step;
		if (l->at > s->last)
			l->at = 0;
	}
}

/*
 * How many completions to ask for next, when N of BATCH have come: more while a poll finds all that
 * it asks for, fewer when it finds little, so that what they free is posted soon. Hot.
 */
static ALWAYS_INLINE unsigned stream_batch(unsigned batch, unsigned n)
{
	if (UNLIKELY(n == batch))
		return batch < STREAM_BATCH_MAX ? batch * 2 : batch;
	return UNLIKELY(batch > STREAM_BATCH && n < batch / 4) ? batch / 2 : batch;
}

/* Build the rings of OPCODE for round R with its target. Release also after a failure. */
int stream_init(struct stream *s, struct round *r, enum ibv_wr_opcode opcode);
void stream_release(struct stream *s);

/* Choose S's way to post requests of OPCODE, as its round says. */
void stream_choose_post(struct stream *s, enum ibv_wr_opcode opcode);

/* Run the sender: all of it. Returns 0 or -1 with the fault raised. */
int stream_send(struct stream *s);

/*
 * All of it: build the rings of OPCODE, run the sender (by the round's schedule, if it has one:
 * paced.h), free. For programs whose round is that.
 */
int stream_run(struct round *r, enum ibv_wr_opcode opcode);

/*
 * For a sender of both directions: take what has come from the other end by the CQ at *AT, which
 * goes on to the next one. Returns how much, or -1 with the fault raised. Hot.
 */
int stream_receive_some(struct round *arrivals, struct cq_link **at);

/*
 * Run the receiver until what is due has come, beginning with R's messages: those that a sender of
 * both directions has received already.
 */
int stream_receive(struct round *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * volley: messages between slots (base/slots.h) over the QPs of a round, outside any timed part.
 *
 * The messages of a window are posted as the round's are: its opcode, inline, chains of its post
 * list; as many at once as a send queue holds, the last of them signalled. What comes from the
 * other end meanwhile is counted.
 *
 * SENDs want receives of their own, into the slots, but the timed ones are posted already and are
 * consumed in order. So the other end sends as many empty messages first (volley_empty()) as
 * volley_waiting() says here; afterwards the same with those of the slots that are left.
 *
 * A strand's, used by its thread alone. Every spin looks at the round's quit and has a deadline.
 */
#ifndef RDMARK_LOOP_VOLLEY_H
#define RDMARK_LOOP_VOLLEY_H

#include "base/slots.h"
#include "loop/recv.h"
#include "loop/round.h"

#define VOLLEY_GRACE_NS UINT64_C(100000000) /* what was sent has come by then, or is lost */

/* What an arrival consumes. */
enum volley_receives {
	VOLLEY_NOTHING, /* WRITEs */
	VOLLEY_TIMED,   /* the round's receives, which are not given back */
	VOLLEY_GIVEN,   /* the round's, given back: WRITEs with immediate */
	VOLLEY_SLOTS    /* those into the slots */
};

struct volley_lane {
	unsigned todo, next; /* messages to post; number of the next one */
	unsigned under_way;
	unsigned room; /* in the send queue: 1 until it is known what else is in there */
};

struct volley {
	/* what the caller sets */
	struct round *round;
	enum ibv_wr_opcode opcode;
	struct slots *out, *in;                /* NULL: nothing is sent, or received */
	struct round_slice from, into, remote; /* of slot 0: as NICs know them */
	enum volley_receives receives;         /* changes while it goes on */
	uint64_t patience_ns;                  /* without any progress */
	/* its own */
	struct volley_lane *lane;
	struct ibv_send_wr *wr; /* one chain */
	struct ibv_sge *sge;
	struct cq_link *send_at, *recv_at; /* the CQs to poll next; NULL: the first */
	uint64_t moved_ns;                 /* when something last came or was completed */
	uint64_t arrived;                  /* VOLLEY_GIVEN: messages */
};

/* Make what is its own. Release also after a failure. */
int volley_init(struct volley *v);
void volley_release(struct volley *v);

/* Post receives into all slots; later: into those that have been used. */
int volley_post_receives(struct volley *v, bool all);

/* Send all messages of the window, and wait until they are complete. */
int volley_send(struct volley *v);

/* Send COUNTS[i] messages without data on QP i. */
int volley_empty(struct volley *v, const unsigned *counts);

/* How many receives are posted on QP LANE of those that `receives` says. */
unsigned volley_waiting(const struct volley *v, unsigned lane);

/*
 * The other end has sent all: wait until the window's messages have come, or with EMPTY until no
 * receive is left, or nothing comes any more. WRITEs leave no trace but the data: at once.
 */
int volley_await(struct volley *v, bool empty);

#endif

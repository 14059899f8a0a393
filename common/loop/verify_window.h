/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify_window: sends messages from slots to slots (base/slots.h) over the QPs of a round, outside
 * the timed part.
 *
 * The messages are posted like those of the round: with its opcode, inline, in chains of its post
 * list. As many are posted at once as a send queue holds, and the last of them is signalled.
 * Messages that arrive from the other end meanwhile are counted.
 *
 * SENDs need receives into the slots, but the receives for timed messages are already posted and
 * are consumed in order. So the other end first sends empty messages (verify_window_empty()), as
 * many as verify_window_waiting() returns here. After the window the remaining receives into slots
 * are consumed in the same way.
 *
 * READs fetch the messages: at the requester `out` has the slots to read into, and `remote` the
 * slots of the responder. Atomics return the old values of counters (base/tickets.h) into `out`.
 *
 * One worker's thread uses an object. Every spin checks the round's abort flag and has a deadline.
 */
#pragma once

#include "base/slots.h"
#include "loop/recv.h"
#include "loop/round.h"

#define VERIFY_WINDOW_GRACE_NS UINT64_C(100000000) /* a later message counts as lost */

struct verify_window_qp {
	unsigned todo, next; /* messages left to post; number of the next one */
	unsigned under_way;
	unsigned posted; /* receives, of which in->arrived[] are consumed */
	unsigned room;   /* free places in the send queue: 1 until it is known what else is in
			    there */
};

struct verify_window {
	/* what the caller sets */
	struct round *round;
	enum ibv_wr_opcode opcode;
	struct slots *out, *in;                /* NULL: it sends nothing, or receives nothing */
	struct round_slice from, into, remote; /* address and key of slot 0 */
	uint64_t first;                        /* atomics: the first value of the counters */
	uint64_t patience_ns;                  /* time limit without progress */
	/* private, but for qp[].todo before verify_window_empty() */
	struct verify_window_qp *qp;
	struct ibv_send_wr *wr; /* one chain */
	struct ibv_sge *sge;
	struct cq_link *send_at, *recv_at; /* the CQs to poll next; NULL: the first */
	uint64_t moved_ns;                 /* time of the last arrival or completion */
};

/*
 * Allocate the private fields. Returns 0, or -1 with the fault raised. Call verify_window_release()
 * also after a failure.
 */
int verify_window_init(struct verify_window *v);
void verify_window_release(struct verify_window *v);

/* Before a window of SENDs: post receives into the slots that have none. */
int verify_window_post_receives(struct verify_window *v);

/* Post all messages of the window, and wait for their completions. */
int verify_window_send(struct verify_window *v);

/* Send as many messages without data on each QP as `todo` has. */
int verify_window_empty(struct verify_window *v);

/* The number of posted receives on QP number QP: those of the timed part, or into slots. */
unsigned verify_window_waiting(const struct verify_window *v, unsigned qp);

/*
 * The time after which a message that has not arrived is lost, from when the other end has sent
 * everything: VERIFY_WINDOW_GRACE_NS, but the whole of patience_ns if TCP may still hold it
 * (iWARP).
 */
uint64_t verify_window_grace_ns(const struct verify_window *v);

/*
 * After the other end has sent everything: wait until the window's messages have arrived, or with
 * EMPTY until no receive is left, or until the time limit. Returns at once for messages that
 * consume no receive.
 */
int verify_window_await(struct verify_window *v, bool empty);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify: --verify: after each measured size, sends windows of messages and checks every byte, on
 * the same QPs, with the same operation, inline size, post list, directions and threads, for as
 * long as the measurement took, or the number of messages that is asked for. The messages are in
 * memory of their own, so the timed part is the same as without --verify. For atomics it checks the
 * values that they return and leave (base/tickets.h).
 *
 * Both ends proceed in steps: each end does its part of a step with all threads, reports that out
 * of band, and waits for the other's report. Wrong data do not end the run; they become a fault
 * (FAULT_DATA) at its end.
 */
#pragma once

#include "loop/round.h"
#include "measure/measure.h"
#include "verbs/mem.h"

struct verify_qp {
	unsigned todo, next; /* messages left to post; number of the next one */
	unsigned under_way;  /* completions that are due */
	unsigned waiting; /* SENDs: receives that are posted, and not consumed */
	unsigned room;    /* free places in the send queue: 1 until it is known what else is in
			     there */
};

/* A worker's data for it. */
struct verify {
	/* for the whole run */
	enum ibv_wr_opcode opcode;
	bool sends, receives; /* messages leave its slots; arrive there, also by READs. Atomics:
				 `out` has the returned values, `in` has the counters */
	struct slots *posts;  /* what its requests use: `out`, or READs `in`; NULL: it posts none */
	struct mem mem;       /* the slots to send from, then those to receive into */
	uint8_t *image; /* a host copy of GPU memory; NULL for host memory */
	uint64_t out_bytes, in_bytes;
	struct verify_qp *qp;
	struct ibv_send_wr *wr; /* one chain */
	struct ibv_sge *sge;
	struct cq_link *send_at, *recv_at; /* the CQs to poll next; NULL: the first */
	uint64_t moved_ns;                 /* time of the last arrival or completion */
	uint32_t windows;                  /* number so far */
	bool empty; /* messages have no data now: they are to consume receives */
	/* for one message size */
	struct slots out, in;
	struct round_slice remote; /* the other end's slots */
	struct slots_tally tally;
	struct slots_tally returned; /* atomics: the result for values that this end's operations
					returned */
};

/*
 * verify_worker.c: one worker's part, with faults in the worker. verify_make() allocates and
 * registers, if the experiment verifies; call verify_release() before releasing the QPs.
 */
int verify_make(struct meter *t);
void verify_release(struct meter *t);

/* The maximum number of messages of BYTES per QP in a window. */
unsigned verify_room(const struct meter *t, uint64_t bytes);

/* Create slots for COUNT messages of BYTES on each QP. */
int verify_begin(struct meter *t, uint64_t bytes, unsigned count);
int verify_prepare(struct meter *t); /* start the next window: fill, poison, post receives */
int verify_collect(struct meter *t); /* wait for the messages, and check them */

/*
 * verify_window.c: the same worker's requests. Every spin checks the round's abort flag and has a
 * deadline.
 */
int verify_post_receives(struct meter *t); /* SENDs: into all slots */
int verify_send(struct meter *t);          /* post qp[].todo messages, wait for completions */
int verify_refill(struct meter *t);        /* post the timed receives again */

/*
 * After the other end has sent everything: wait until the window's messages have arrived, or empty
 * ones until no receive is left, or until a message that has not arrived is lost: after a grace,
 * which is the whole time limit if TCP may still hold it (iWARP). Returns at once for messages that
 * consume no receive.
 */
int verify_await(struct meter *t);
uint64_t verify_grace_ns(const struct meter *t);

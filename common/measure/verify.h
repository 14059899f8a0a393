/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify: --verify: after each measured size, sends windows of messages and checks every byte, on
 * the same QPs, with the same opcode, inline size, post list, directions and threads. The messages
 * are in memory of their own, so the timed part is the same as without --verify. For atomics it
 * checks the values that they return and leave (base/tickets.h).
 *
 * Both ends proceed in steps: each end does its part of a step with all threads, reports that out
 * of band, and waits for the other's report. Wrong data do not end the run; they become a fault
 * (FAULT_DATA) at its end.
 */
#pragma once

#include "base/slots.h"
#include "loop/verify_window.h"
#include "measure/measure.h"

/* A worker's data for it. */
struct verify {
	struct mem mem; /* the slots to send from, then those to receive into */
	uint64_t gpu_buffer;
	uint8_t *image; /* a host copy of GPU memory; NULL for host memory */
	uint64_t out_bytes, in_bytes;
	struct slots out, in;
	struct verify_window verify_window;
	uint64_t peer_addr; /* address of the other end's slots */
	uint32_t peer_rkey;
	uint32_t windows; /* number so far */
	uint64_t message_bytes;
	unsigned count; /* messages per QP in a window, agreed by both ends */
	struct slots_tally tally;
	struct slots_tally returned; /* atomics: the result for values that this end's operations
					returned */
};

/* Both ends, after a round: verify its size. MEAS gets what was found; wrong data are no failure. */
int verify_round(struct measurement *meas);

/* At the end of the run: raise the fault for wrong data. */
int verify_verdict(struct measure *ms);

/* What was found in DIRECTION: without messages if nothing was verified. */
struct slots_tally verify_tally(const struct measurement *meas, enum result_direction direction);

/*
 * verify_worker.c: one worker's part, with faults in the worker. verify_make() allocates and
 * registers, if the experiment verifies; call verify_release() before releasing the QPs. One thread
 * at a time may use GPU memory: see verify_prepare() and verify_collect().
 */
int verify_make(struct meter *t);
void verify_release(struct meter *t);

/*
 * True if this end posts; if messages go out of its slots; if they arrive in its slots, whichever
 * end posts. Atomics: `out` has the returned values, `in` has the counters.
 */
bool verify_posts(const struct measure *ms);
bool verify_sends(const struct measure *ms);
bool verify_receives(const struct measure *ms);
enum ibv_wr_opcode verify_opcode(const struct measure *ms);

/* The maximum number of messages of BYTES per QP that fit the memory. */
unsigned verify_room(const struct meter *t, uint64_t bytes);

int verify_begin(struct meter *t); /* create slots for count messages of message_bytes */
void verify_end(struct meter *t);
int verify_empty(struct meter *t);       /* send as many empty messages as the peer has receives
					    waiting */
int verify_await_empty(struct meter *t); /* wait for those of the peer */
int verify_refill(struct meter *t);      /* post the timed receives again */
int verify_prepare(struct meter *t);     /* start the next window: fill, poison, post receives */
int verify_send(struct meter *t);
int verify_collect(struct meter *t); /* wait for the messages, and check them */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify: --verify: after each size that was measured, windows of messages of which every byte is
 * checked, over the same QPs, with the same opcode, inline, post list, directions and threads. They
 * go between slots in memory of their own, so that what is timed is as it is without.
 *
 * Both ends go step by step: each does its part of a step with all threads, says so over TCP, and
 * waits for the other's word. Wrong data is no failure of the run: it goes on, and is a fault
 * (FAULT_DATA) at its end.
 */
#ifndef RDMARK_SESSION_VERIFY_H
#define RDMARK_SESSION_VERIFY_H

#include "base/slots.h"
#include "loop/volley.h"
#include "session/state.h"

/* What a strand has for it. */
struct verify {
	struct mem mem; /* the slots to send from, behind them those to receive into */
	uint64_t gpu_buffer;
	uint8_t *image; /* what the CPU sees of GPU memory; NULL for the host's */
	uint64_t out_bytes, in_bytes;
	struct slots out, in;
	struct volley volley;
	uint64_t peer_addr; /* of the other end's slots */
	uint32_t peer_rkey;
	uint32_t windows;  /* so far */
	unsigned count;    /* messages of each QP in a window, as both ends have agreed */
	unsigned *waiting; /* receives of the other end's QPs that are to be emptied */
	struct slots_tally tally;
};

/* Both ends, after a round: verify its size. Results are in SR. Returns -1 if that failed. */
int verify_round(struct session *s, struct session_round *sr);

/* The run is over: raise what was wrong. */
int verify_verdict(struct session *s);

/* The results of SR in DIRECTION for the document; NULL: nothing was verified. */
json_t *verify_json(const struct session_round *sr, enum report_direction direction);

/*
 * verify_strand.c: one strand's part. Faults are the strand's. Make allocates and registers if the
 * experiment has it; release comes before the QPs'. A GPU's memory is for one thread at a time:
 * verify_prepare() and verify_collect().
 */
int verify_make(struct strand *t);
void verify_release(struct strand *t);

bool verify_sends(const struct session *s);
bool verify_receives(const struct session *s);
bool verify_lossy(const struct session *s);
enum ibv_wr_opcode verify_opcode(const struct session *s);

/* The most messages of BYTES of each QP that there is room for. */
unsigned verify_room(const struct strand *t, uint64_t bytes);

int verify_begin(struct strand *t, uint64_t message_bytes); /* slots for count messages */
void verify_end(struct strand *t);
int verify_empty(struct strand *t);       /* the peer's receives: as many as are waiting */
int verify_await_empty(struct strand *t); /* this end's */
int verify_post_all(struct strand *t);    /* receives into the slots */
int verify_refill(struct strand *t);      /* the timed ones again */
int verify_prepare(struct strand *t);     /* the next window: fill, poison, receives */
int verify_send(struct strand *t);
int verify_collect(struct strand *t); /* what has come, and judge it */

#endif

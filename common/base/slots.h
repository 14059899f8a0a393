/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slots: memory for the messages that --verify checks byte by byte, and the checks. Plain memory,
 * no RDMA.
 *
 * A window is COUNT messages on each of several QPs. Message K of a QP is in the sender's slot K
 * and identifies itself (pattern.h). The receiver poisons its slots first, and a guard of poison
 * follows each. A WRITE goes to its own slot (in_place). SENDs go to a ring of slots in order of
 * arrival: `head` is the slot of the next one, `arrived` counts them. A few slots more than
 * messages catch those that arrive more than once.
 *
 * One thread uses an object. A message is lost if nothing of it, or only a part of it, arrived, or
 * its receive never completed; any other difference is an error.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/pattern.h"

#define SLOTS_GUARD_BYTES 64 /* minimum size of the guard after each slot, and their alignment */

/* The first error. */
struct slots_finding {
	struct pattern_name name; /* of the expected message */
	uint64_t byte;            /* offset in that message; past its end: in the guard */
	uint8_t is, should_be;    /* equal: the data are in memory, but no completion came */
};

struct slots_tally {
	uint64_t messages, bytes; /* checked */
	uint64_t errors;          /* wrong messages; lost ones, where none may be lost */
	uint64_t lost;
	bool found; /* an error was found: */
	struct slots_finding first;
};

struct slots {
	/* what the caller sets */
	uint8_t *data; /* slots_bytes() bytes */
	uint64_t message_bytes;
	uint64_t before_bytes; /* in each slot, before the payload: a datagram's GRH */
	unsigned qps;
	unsigned first_qp; /* number of this object's QP 0 within the run */
	unsigned per_qp;   /* slots: at least as many as messages */
	unsigned count;    /* messages of each QP in a window */
	bool from_server;  /* which end sent these messages */
	bool in_place;
	bool unreliable; /* the transport may lose messages: these are counted, but are no error */
	uint32_t window; /* counted over the whole run */
	/* set by slots_init() */
	unsigned *head, *arrived; /* of each QP */
};

/* Bytes from one slot to the next, and of all slots. */
uint64_t slots_stride(const struct slots *s);
uint64_t slots_bytes(const struct slots *s);

/* The offset of slot K of QP; its payload starts before_bytes later. */
uint64_t slots_offset(const struct slots *s, unsigned qp, unsigned k);

/* The slot payload for message N of QP, if all messages arrive in order. */
uint8_t *slots_payload(const struct slots *s, unsigned qp, unsigned n);

/* The name of message NUMBER of QP in this window, and the seed of its pattern. */
struct pattern_name slots_name(const struct slots *s, unsigned qp, unsigned number);
uint64_t slots_seed(const struct slots *s, unsigned qp, unsigned number);

/*
 * Allocate head and arrived. Returns 0 or -ENOMEM. slots_release() is safe on a zeroed
 * object.
 */
int slots_init(struct slots *s);
void slots_release(struct slots *s); /* `data` stays the caller's */

/* Fill the sender's slots with the window's messages; poison the receiver's slots for them. */
void slots_fill(struct slots *s);
void slots_poison(struct slots *s);

/* Check every message, and add the result to T. */
void slots_check(const struct slots *s, struct slots_tally *t);

/* Count an error in T; the first one is kept. */
void slots_record(struct slots_tally *t, const struct slots_finding *error);

/* Add the counts of FROM to TO. */
void slots_add(struct slots_tally *to, const struct slots_tally *from);

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
 * One thread uses an object. Each wrong message is in one class:
 *
 *	lost		all or some of its bytes never arrived, or its receive never completed
 *	stale		bytes of an earlier window arrived
 *	duplicate	the message arrived twice, or a WRITE also at another one's slot
 *	reordered	it arrived after a later one; two WRITEs: each at the other's slot
 *	misplaced	bytes of another QP or direction, or at another position
 *	corrupt		anything else
 *
 * A message of less than 8 bytes has too little data to be certain of the class, but a wrong one is
 * always found.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/pattern.h"

#define SLOTS_GUARD_BYTES 64 /* minimum size of the guard after each slot, and their alignment */

enum slots_wrong {
	SLOTS_LOST,
	SLOTS_STALE,
	SLOTS_DUPLICATE,
	SLOTS_REORDERED,
	SLOTS_MISPLACED,
	SLOTS_CORRUPT,
	SLOTS_CLASSES
};

/* The first error. */
struct slots_finding {
	enum slots_wrong wrong;
	struct pattern_name name; /* of the expected message */
	uint64_t byte;            /* offset in that message; past its end: in the guard */
	uint8_t is, should_be;    /* equal: the data are in memory, but no completion came */
};

struct slots_tally {
	uint64_t messages, bytes; /* checked */
	uint64_t wrong[SLOTS_CLASSES];
	bool found; /* an error was found: */
	struct slots_finding first;
};

struct slots {
	/* what the caller sets */
	uint8_t *data; /* slots_bytes() bytes */
	uint64_t message_bytes;
	uint64_t before_bytes; /* in each slot, before the payload: a datagram's GRH */
	unsigned qps;
	unsigned first_qp, all_qps;     /* number of this object's QP 0 within the run; QPs of
					   the run */
	unsigned per_qp;                /* slots: at least as many as messages */
	unsigned count;                 /* messages of each QP in a window */
	bool from_server;               /* which end sent these messages */
	bool in_place;
	bool unreliable; /* the transport may lose messages: these are counted, but are no error */
	uint32_t window; /* counted over the whole run */
	/* set by slots_init() */
	unsigned *head, *arrived; /* of each QP */
	bool *seen;
};

/* Bytes from one slot to the next, and of all slots. */
uint64_t slots_stride(const struct slots *s);
uint64_t slots_bytes(const struct slots *s);

/* The offset of slot K of QP; its payload starts before_bytes later. */
uint64_t slots_offset(const struct slots *s, unsigned qp, unsigned k);

/* The slot payload for message N of QP, if all messages arrive in order. */
uint8_t *slots_payload(const struct slots *s, unsigned qp, unsigned n);

/* Bytes of a payload and its guard. */
uint64_t slots_area_bytes(const struct slots *s);

/* The name of message NUMBER of QP in this window, and the seed of its pattern. */
struct pattern_name slots_name(const struct slots *s, unsigned qp, unsigned number);
uint64_t slots_seed(const struct slots *s, unsigned qp, unsigned number);

/*
 * Allocate head, arrived and seen. Returns 0 or -ENOMEM. slots_release() is safe on a zeroed
 * object.
 */
int slots_init(struct slots *s);
void slots_release(struct slots *s); /* `data` stays the caller's */

/* Fill the sender's slots with the window's messages; poison the receiver's slots for them. */
void slots_fill(struct slots *s);
void slots_poison(struct slots *s);

/* True if slots_check() would find no wrong message; a lost one is wrong on any transport. */
bool slots_are_right(const struct slots *s);

/* Check and classify every message, and add the result to T. */
void slots_check(const struct slots *s, struct slots_tally *t);

/* The number of wrong messages. UNRELIABLE: lost ones are no error. */
uint64_t slots_errors(const struct slots_tally *t, bool unreliable);

/* Add the counts of FROM to TO. */
void slots_add(struct slots_tally *to, const struct slots_tally *from);

/* "lost", "stale", … Static storage. */
const char *slots_wrong_name(enum slots_wrong wrong);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slots: places in memory for messages of which every byte is checked, and the judgement of what
 * came: plain memory, no RDMA.
 *
 * A window is COUNT messages on each of some lanes (QPs). The sender's message K of a lane lies in
 * slot K and says which it is (pattern.h). The receiver's slots are poisoned before; a guard of
 * poison stands behind each. A WRITE has its own place (in_place). SENDs go into a ring of slots in
 * order of arrival: `head` is where the next one goes, `arrived` how many have come; a few slots
 * more than messages take what comes too often.
 *
 * An object is one thread's. What is wrong is in one class for each message:
 *
 *	lost		its bytes, or some of them, never came
 *	stale		those of an earlier window came
 *	duplicate	the message came again, or a WRITE also to another one's place
 *	reordered	it came after a later one; two WRITEs: each to the other's place
 *	misplaced	bytes of another QP or direction, or at another position
 *	corrupt		anything else
 *
 * Messages of less than 8 bytes hold too little to be sure of the class; wrong is wrong.
 */
#ifndef RDMARK_BASE_SLOTS_H
#define RDMARK_BASE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pattern.h"

#define SLOTS_GUARD_BYTES 64 /* at least, behind each slot; and their alignment */

enum slots_wrong {
	SLOTS_LOST,
	SLOTS_STALE,
	SLOTS_DUPLICATE,
	SLOTS_REORDERED,
	SLOTS_MISPLACED,
	SLOTS_CORRUPT,
	SLOTS_CLASSES
};

/* The first thing that is wrong. */
struct slots_finding {
	enum slots_wrong wrong;
	struct pattern_name name; /* of the message that should be there */
	uint64_t byte;            /* of that message; from its end on: of the guard */
	uint8_t is, should_be;
};

struct slots_tally {
	uint64_t messages, bytes; /* checked */
	uint64_t wrong[SLOTS_CLASSES];
	bool found; /* of those that are errors: */
	struct slots_finding first;
};

struct slots {
	/* what the caller sets */
	uint8_t *data; /* slots_bytes() of them */
	uint64_t message_bytes;
	uint64_t before_bytes; /* of each slot, before the payload: a datagram's GRH */
	unsigned lanes;
	unsigned first_lane, all_lanes; /* lane 0's number among all of the run */
	unsigned per_lane;              /* slots: at least as many as messages */
	unsigned count;                 /* messages of each lane in a window */
	bool from_server;               /* whose messages these are */
	bool in_place;
	bool lossy;      /* the transport may lose messages: that is counted, and no error */
	uint32_t window; /* of all that the run has had */
	/* its own */
	unsigned *head, *arrived; /* of each lane */
	bool *seen;
};

/* From one slot to the next, and of all. */
uint64_t slots_stride(const struct slots *s);
uint64_t slots_bytes(const struct slots *s);

/* Offset of slot K of LANE; its payload begins before_bytes further on. */
uint64_t slots_offset(const struct slots *s, unsigned lane, unsigned k);

/* The payload that the Nth message of LANE has its place in, if all come in order. */
uint8_t *slots_payload(const struct slots *s, unsigned lane, unsigned n);

/* The payload with its guard. */
uint64_t slots_area_bytes(const struct slots *s);

/* Message NUMBER of LANE in this window, and its pattern. */
struct pattern_name slots_name(const struct slots *s, unsigned lane, unsigned number);
uint64_t slots_seed(const struct slots *s, unsigned lane, unsigned number);

/* Make what is its own. Returns 0 or -ENOMEM. Release is safe on a zeroed object. */
int slots_init(struct slots *s);
void slots_release(struct slots *s); /* `data` is the caller's */

/* The sender's: the messages of the window. The receiver's: poison for them. */
void slots_fill(struct slots *s);
void slots_poison(struct slots *s);

/* Is everything as it must be? */
bool slots_are_right(const struct slots *s);

/* Judge all, and add what is found to T. */
void slots_check(const struct slots *s, struct slots_tally *t);

/* How many messages are wrong: LOSSY as above. */
uint64_t slots_errors(const struct slots_tally *t, bool lossy);

/* Add what FROM has. */
void slots_add(struct slots_tally *to, const struct slots_tally *from);

/* "lost", "stale", … Static storage. */
const char *slots_wrong_name(enum slots_wrong wrong);

#endif

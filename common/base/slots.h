/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slots: memory for the messages that --verify checks byte by byte, and the checks. Plain memory,
 * no RDMA.
 *
 * A window is COUNT messages on each of several QPs. Message K of a QP is in the sender's slot K
 * and identifies itself (pattern.h). The receiver poisons its slots first, and a guard of poison
 * follows each. A WRITE or READ goes to the slot of its number. SENDs fill the slots of their QP in
 * the order of their arrival, which is that of their numbers, unless the transport may lose some,
 * or bring them in another order: then each one tells its number.
 *
 * One thread uses an object.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SLOTS_GUARD_BYTES 64         /* least size of the guard after each slot, their alignment */
#define SLOTS_NO_NUMBER   UINT16_MAX /* what arrived is no message of the window */

/* The NUMBERth message (from 0) of WINDOW on QP number QP of the run, and its sender. */
struct slots_name {
	bool from_server;
	unsigned qp;     /* up to 65535 */
	unsigned number; /* below SLOTS_NO_NUMBER */
	uint32_t window; /* counted over the whole run */
};

/* The first error. */
struct slots_finding {
	struct slots_name name; /* of the expected message */
	uint64_t byte;          /* offset in that message; past its end: in the guard */
	uint8_t is, should_be;  /* equal: the data are in memory, but no completion came */
};

struct slots_tally {
	uint64_t messages, bytes; /* checked */
	uint64_t errors;          /* wrong messages; lost ones, where none may be lost */
	uint64_t lost;            /* nothing or only a part arrived, or no completion came */
	bool found;               /* an error was found: */
	struct slots_finding first;
};

struct slots {
	/* what the caller sets */
	uint8_t *data; /* slots_bytes() bytes */
	uint64_t message_bytes;
	uint64_t before_bytes; /* in each slot, before the payload: a datagram's GRH */
	unsigned qps;
	unsigned first_qp; /* number of this object's QP 0 within the run */
	unsigned count;    /* slots of each QP */
	bool from_server;  /* which end sent these messages */
	bool in_place;     /* not SENDs */
	bool unreliable; /* the transport may lose messages: these are counted, but are no error */
	bool numbered;   /* each of SENDs tells its number */
	uint32_t window; /* counted over the whole run */
	/* set by slots_init(), for each QP: */
	unsigned *arrived; /* messages that completed; unused if in_place */
	uint16_t *number;  /* of the Kth of them at qp * count + K */
	bool *seen;        /* for a check: the numbers of one QP */
};

/* Bytes from one slot to the next, and of all slots. */
uint64_t slots_stride(const struct slots *s);
uint64_t slots_bytes(const struct slots *s);

/* The offset of slot K of QP; its payload starts before_bytes later, where slots_payload() is. */
uint64_t slots_offset(const struct slots *s, unsigned qp, unsigned k);
uint8_t *slots_payload(const struct slots *s, unsigned qp, unsigned k);

/* The name of message NUMBER of QP in this window, and the seed of its pattern. */
struct slots_name slots_name(const struct slots *s, unsigned qp, unsigned number);
uint64_t slots_seed(const struct slots *s, unsigned qp, unsigned number);

/*
 * Allocate arrived and number. Returns 0 or -ENOMEM. slots_release() is safe on a zeroed object;
 * `data` stays the caller's.
 */
int slots_init(struct slots *s);
void slots_release(struct slots *s);

/* Fill the sender's slots with the window's messages; poison the receiver's, none has arrived. */
void slots_fill(struct slots *s);
void slots_poison(struct slots *s);

/* Message NUMBER has arrived on QP; NUMBER is used if S is numbered. */
void slots_arrived(struct slots *s, unsigned qp, unsigned number);

/* Check every message, and add the result to T. */
void slots_check(const struct slots *s, struct slots_tally *t);

/* Count an error in T; the first one is kept. */
void slots_record(struct slots_tally *t, const struct slots_finding *error);

/* Add the counts of FROM to TO. */
void slots_add(struct slots_tally *to, const struct slots_tally *from);

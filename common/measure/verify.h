/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify: --verify: after each measured size, windows of messages over QPs and memory that the
 * endpoint has made for it (worker_verifies()), with the same operation, transport, inline size,
 * post list, directions and threads, for as long as the measurement took, or the number of messages
 * that is asked for. Nothing of the measurement is used, and it uses nothing of this.
 *
 * Message NUMBER of a window is at a place of its own in the memory that it comes from, and has a
 * pattern of the window, its QP and its number (base/pattern.h). Each place where one arrives is
 * poisoned first, and so is a guard behind it. WRITEs and READs have the same place at both ends.
 * SENDs come into the receives, which are posted place after place and around again: in the order
 * of their numbers, or else each tells its number as immediate data. Atomics count on a word, which
 * has the right value at the end.
 *
 * Each end does its part of a step with all threads, tells the other one, and waits for the same.
 * Wrong data do not end the run; they become a fault (FAULT_DATA) at its end.
 */
#pragma once

#include "endpoint/worker.h"
#include "measure/measure.h"

struct verify_qp {
	unsigned todo, next, under_way; /* requests to post; number of the next; completions due */
	unsigned posted, taken;         /* receives, in all windows */
	unsigned first, came;           /* messages of the window: place of the first; how many */
	uint16_t number[PLAN_VERIFY_MESSAGES]; /* of the one that came to each place */
};

/* The part of one thread. */
struct verify {
	struct worker *t;    /* its QPs and memory */
	bool sends, arrives; /* messages come from this end; to it, also by its READs */
	bool posts;          /* this end has requests */
	bool atomic, adds;   /* they count; all QPs on one word */
	bool in_place;       /* they name an address: no SENDs */
	bool takes;          /* they consume receives here */
	/* of a message size */
	struct round round;
	uint64_t source, sink;      /* QP 0's messages come from there; arrive there */
	uint64_t most_bytes;        /* of a message that finds the receives */
	uint64_t before;            /* messages completed, measured ones, too */
	unsigned room, count;       /* places of a QP; messages of each QP in a window */
	struct verified found, now; /* in all windows, in this one */
	/* of a window, from 1 */
	uint32_t window;
	struct verify_qp *qp;
	uint64_t moved_ns;               /* time of the last completion */
	struct cq_link *at;              /* the CQ to poll next */
	uint8_t *image;                  /* a host copy of GPU memory; NULL for host memory */
	bool seen[PLAN_VERIFY_MESSAGES]; /* the numbers of one QP that came */
	struct ibv_send_wr wr[PLAN_VERIFY_MESSAGES]; /* one chain */
	struct ibv_sge sge[PLAN_VERIFY_MESSAGES];
};

/* verify_worker.c: these raise the worker's fault. Make and release all of MS, if it verifies. */
int verify_make(struct measure *ms);
void verify_release(struct measure *ms);

/* Begin with messages of BYTES, after so many that completed BEFORE. */
void verify_begin(struct verify *v, uint64_t bytes, uint64_t before);

/* The steps of a window: fill and poison, and post receives; send; wait for messages and check. */
int verify_prepare(struct verify *v);
int verify_send(struct verify *v);
int verify_collect(struct verify *v);

/*
 * verify_check.c: fill and poison the memory of QP; compare what came, and set `now`. The place of
 * a message, from the first of its QP. Atomics: the first value of the window's words.
 */
void verify_fill(struct verify *v, unsigned qp);
int verify_check(struct verify *v);
uint64_t verify_word(const struct verify *v);
static inline uint64_t verify_offset(const struct verify *v, unsigned place)
{
	return place * plan_verify_place(v->most_bytes);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bell: what a loop sleeps on in place of polling: a completion channel, and an eventfd by which
 * another thread wakes it.
 *
 * No completion is slept over: the loop waits only when every CQ has been armed and then found
 * empty once more, and whatever comes after that rings. It says so by calling bell_idle() for each
 * poll that found nothing and bell_busy() for each that found something.
 *
 * The wait has no deadline of its own: session/watch.c has all of them, and wakes the loop.
 */
#ifndef RDMARK_VERBS_BELL_H
#define RDMARK_VERBS_BELL_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/fault.h"
#include "verbs/cq.h"

struct bell {
	struct ibv_comp_channel *channel; /* NULL: there is none, the loops spin */
	int wake_fd;
	const struct cq_ring *send, *recv; /* whose CQs the loop waits for; NULL: not those */
	unsigned each;                     /* so many polls look at every CQ */
	unsigned empty;                    /* polls in a row that found nothing */
	bool armed;                        /* since before those */
	bool rung;                         /* an event waits to be taken */
};

int bell_init(struct bell *b, struct ibv_context *ctx, struct fault *f);

/* The CQs must be gone. Safe on a zeroed or half-built object. */
void bell_release(struct bell *b);

/* A loop begins that polls the CQs of SEND and RECV, one of either in turn; NULL: not those. */
void bell_start(struct bell *b, const struct cq_ring *send, const struct cq_ring *recv);

/* Make the loop look around, from any thread. FD: its wake_fd; -1: it spins, nothing to do. */
void bell_wake(int fd);

/* A poll found something. Hot. */
static inline void bell_busy(struct bell *b)
{
	b->empty = 0;
}

/* A poll found nothing: wait if that is all that there is. Returns 0, or a negative errno. */
int bell_idle(struct bell *b);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_wait: what a loop sleeps on in place of polling: a completion channel, and an eventfd with
 * which another thread wakes the loop.
 *
 * No completion is missed: the loop sleeps only after it has armed every CQ and then polled each of
 * them empty again; any later completion raises an event. The loop calls cq_wait_idle() after each
 * empty poll, and cq_wait_busy() after each that returned completions.
 *
 * There is no deadline here: measure/watch.c handles all deadlines, and wakes the loop.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/fault.h"
#include "verbs/cq.h"

struct cq_wait {
	struct ibv_comp_channel *channel; /* NULL: the loops spin */
	int wake_fd;
	const struct cq_ring *send, *recv; /* the CQs that the loop waits for; NULL: none */
	unsigned each;                     /* polls needed to poll every CQ once */
	unsigned empty;                    /* consecutive empty polls */
	bool armed;                        /* the CQs were armed before these polls */
	bool event;                        /* an event of the channel is to be read */
};

int cq_wait_init(struct cq_wait *w, struct ibv_context *ctx, struct fault *f);

/* Call it after destroying the CQs. Safe on a zeroed or half-built object. */
void cq_wait_release(struct cq_wait *w);

/* Prepare for a loop that polls the CQs of SEND and of RECV, one of each in turn; NULL: none. */
void cq_wait_start(struct cq_wait *w, const struct cq_ring *send, const struct cq_ring *recv);

/* Wake the loop, from any thread. FD is its wake_fd; -1: it spins, and nothing is done. */
void cq_wait_wake(int fd);

/* After a poll that returned completions. Hot. */
static inline void cq_wait_busy(struct cq_wait *w)
{
	w->empty = 0;
}

/*
 * After an empty poll: sleep if all CQs are armed and empty. Returns 0, or the errno of the failed
 * call.
 */
int cq_wait_idle(struct cq_wait *w);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq: the completion queues for the sends, or the receives, of one end, and what a loop sleeps on
 * in place of polling them.
 *
 * There is one CQ for all QPs, or one for each. They are linked in a ring, so a loop goes from one
 * to the next without knowing their number; a single CQ is a ring, too. The ring owns the CQs. They
 * must be destroyed after their QPs.
 *
 * A loop sleeps on a completion channel, and an eventfd with which another thread wakes it. No
 * completion is missed: it sleeps only after it has armed every CQ and then polled each of them
 * empty again; any later completion raises an event. It calls cq_wait_idle() after each empty poll,
 * and cq_wait_busy() after each that returned completions. There is no deadline here:
 * measure/watch.c handles all deadlines, and wakes the loop.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/fault.h"

struct hca;

struct cq_link {
	struct ibv_cq *cq;
	struct cq_link *next;
	struct ibv_cq_ex *cq_ex; /* the same CQ, for ibv_start_poll; NULL: it is not extended */
};

struct cq_ring {
	struct cq_link *link; /* an array of `count` */
	unsigned count;
	unsigned cqe;  /* entries of all CQs together */
	bool extended; /* all have a cq_ex */
};

struct cq_attr {
	unsigned count;
	unsigned cqe;                     /* entries of each */
	struct ibv_comp_channel *channel; /* NULL: they are polled */
	unsigned vector;                  /* completion vector */
	bool extended;                    /* as extended CQs, if the device supports that */
};

/*
 * Create the CQs on H. Returns 0, or -1 with the fault raised. A device without extended CQs is no
 * fault. Extended CQs are for a single thread.
 */
int cq_ring_init(struct cq_ring *r, const struct hca *h, const struct cq_attr *a, struct fault *f);

/* Destroy the CQs; safe on a zeroed or half-built object. */
void cq_ring_release(struct cq_ring *r);

/* The CQ of QP number QP. */
static inline struct ibv_cq *cq_ring_of(const struct cq_ring *r, unsigned qp)
{
	return r->link[qp % r->count].cq;
}

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

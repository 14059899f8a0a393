/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * round: one pass over one message size, as the measuring loops see it.
 *
 * Everything a loop reads is fixed before the clock starts; what it may be told while it runs is in
 * struct round_control: where to stop, and whether to give up. Another thread (session/watch.h)
 * writes those; the loop only loads them, relaxed. The loop writes progress and, at its end, the
 * results. A loop returns 0, or -1 with the fault raised; results are valid in both cases, as far
 * as the run got: nothing measured is lost.
 */
#ifndef RDMARK_LOOP_ROUND_H
#define RDMARK_LOOP_ROUND_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/hist.h"
#include "base/peak.h"
#include "loop/trial.h"
#include "verbs/qp.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(x)     __builtin_expect(!!(x), 1)
#define UNLIKELY(x)   __builtin_expect(!!(x), 0)
#define ROUND_ENDLESS UINT64_MAX

/* Written by the watch, read by the loop; progress the other way round. On lines of their own. */
struct round_control {
	/*
	 * A sender or the leader of a ping-pong stops when so many messages of each QP are done.
	 * Lowered to 0 it means: finish what is under way.
	 */
	_Atomic uint64_t target __attribute__((aligned(64)));
	_Atomic uint64_t due; /* a receiver or answerer: when so many of all QPs have come */
	_Atomic bool quit;    /* leave at once, completions will not come */
	_Atomic bool nudge;   /* nothing moves: what was sent last may be lost, send it again */
	int wake_fd; /* of a loop that sleeps (verbs/bell.h): wake it after a change; else -1 */
	_Atomic uint64_t progress __attribute__((aligned(64))); /* messages done, all QPs */
	uint64_t seen; /* the watch's: progress when it last looked for a standstill */
};

/* Where one end's messages lie: QP i's at addr + i * stride. */
struct round_slice {
	uint64_t addr;
	uint64_t stride;
	uint32_t key;         /* lkey or rkey */
	const uint32_t *keys; /* of QP i, with an MR for each; NULL: key is for all */
};

static inline uint32_t round_key(const struct round_slice *slice, unsigned i)
{
	return slice->keys ? slice->keys[i] : slice->key;
}

struct recv_queue; /* loop/recv.h */
struct paced;      /* loop/paced.h */

struct round {
	/* the experiment */
	struct qp_set *qps;
	uint64_t size_bytes;
	uint64_t walk_bytes; /* messages walk through so much of their slice; 0: a page */
	uint64_t unit_bytes; /* at offsets that are multiples of this; 0: a cache line */
	unsigned post_list;
	unsigned cq_mod;  /* sends for each completion; as far as the queue allows */
	bool send_inline; /* the message travels in the work request */
	bool no_peak;
	bool lossy;           /* a message may be lost, and nobody says so */
	uint64_t quiet_ticks; /* lossy: after so long, a message may have been sent again */
	struct round_slice from, into, remote; /* sent from; received into; the peer's `into` */
	struct recv_queue *receives;           /* NULL: nothing is received */
	struct paced *paced; /* when what is to be sent; NULL: as fast as it goes */
	const struct clock *clock;
	struct round_control *control;
	struct fault *fault;
	uint64_t gap_ns;     /* latency: pause before each message */
	bool extended;       /* bandwidth: post by ibv_wr_*, poll by ibv_start_poll */
	struct trial *trial; /* which of the two is quicker is to be found out; else NULL */
	unsigned way; /* which of the program's own kinds of round this is; 0: there is but one */
	void *own;    /* the program's; NULL */
	struct round *arrivals; /* of a round in both directions: what comes meanwhile; else NULL */
	/* results */
	uint64_t messages;       /* completed, all QPs */
	uint64_t timed_messages; /* those that came within [start_ticks, end_ticks] */
	uint64_t lost;           /* round trips without a sample: something was sent again */
	uint64_t start_ticks, end_ticks;
	struct hist *hist; /* latency: round-trip ticks */
	struct peak *peak; /* bandwidth, unless no_peak */
	uint64_t *samples; /* latency with -U or -H: round-trip ticks in order; else NULL */
};

/* A program's loop: runs the round, leaves its results there. 0, or -1 with the fault raised. */
typedef int round_loop(struct round *r);

static ALWAYS_INLINE uint64_t round_target(const struct round *r)
{
	return atomic_load_explicit(&r->control->target, memory_order_relaxed);
}

static ALWAYS_INLINE uint64_t round_due(const struct round *r)
{
	return atomic_load_explicit(&r->control->due, memory_order_relaxed);
}

static ALWAYS_INLINE bool round_quit(const struct round *r)
{
	return atomic_load_explicit(&r->control->quit, memory_order_relaxed);
}

static ALWAYS_INLINE void round_progress(const struct round *r, uint64_t messages)
{
	atomic_store_explicit(&r->control->progress, messages, memory_order_relaxed);
}

/* Raise what the bad completion of WHAT ("receive", "request") means. Cold; returns -1. */
int round_completion_failed(const struct round *r, const struct ibv_wc *wc, const char *what)
	__attribute__((cold));

/* Raise a failed post or poll; RC as the verb returned it. Cold; returns -1. */
int round_verb_failed(const struct round *r, int rc, const char *verb) __attribute__((cold));

/* Has the watch asked to send again? Takes the request. Hot. */
static ALWAYS_INLINE bool round_nudged(const struct round *r)
{
	if (LIKELY(!atomic_load_explicit(&r->control->nudge, memory_order_relaxed)))
		return false;
	atomic_store_explicit(&r->control->nudge, false, memory_order_relaxed);
	return true;
}

/* Does the loop sleep instead of spin? For choosing an instance. */
static inline bool round_sleeps(const struct round *r)
{
	return r->qps->bell.channel != NULL;
}

/* Where a loop sleeps: a poll of each CQ that it awaits has FOUND something, or nothing. */
static ALWAYS_INLINE int round_rest(const struct round *r, bool found)
{
	struct bell *b = &r->qps->bell;
	int rc;

	if (found) {
		bell_busy(b);
		return 0;
	}
	rc = bell_idle(b);
	return LIKELY(rc == 0) ? 0 : round_verb_failed(r, rc, "waiting for completions");
}

/*
 * Look through the send CQ for the reason why nothing comes any more, and raise it. For a loop that
 * was told to quit while it waited for the peer. Cold.
 */
void round_look_for_failure(const struct round *r) __attribute__((cold));

#endif

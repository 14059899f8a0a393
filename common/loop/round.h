/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * round: one pass over one message size, as the measuring loops see it.
 *
 * Everything that a loop reads is fixed before the clock starts, except struct round_control: when
 * to stop, and whether to abort. Another thread (measure/watch.h) writes these fields; the loop
 * only loads them, relaxed. The loop writes its progress and, at its end, the results. A loop
 * returns 0, or -1 with the fault raised. The results are valid in both cases, as far as the run
 * got.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/idle.h"
#include "loop/post.h"
#include "stat/slices.h"
#include "verbs/qp.h"

struct hist;
struct peak;

#define ROUND_ENDLESS UINT64_MAX

/*
 * Written by the watch thread and read by the loop; progress is the opposite. In separate cache
 * lines.
 */
struct round_control {
	/*
	 * A sender, or the client of a ping-pong, stops after this many messages of each QP. 0
	 * means: complete the outstanding ones.
	 */
	_Atomic uint64_t target __attribute__((aligned(64)));
	_Atomic uint64_t expected; /* a receiver or server stops after this many messages of all
				      QPs */
	_Atomic bool abort;        /* stop at once; completions will not come */
	_Atomic bool resend;       /* no progress: send the last message again, it may be lost */
	int wake_fd; /* to wake a loop that sleeps (verbs/cq.h) after a change; -1: it spins */
	_Atomic uint64_t progress __attribute__((aligned(64))); /* messages done, all QPs */
	/*
	 * Of a ping-pong with time between its round trips (a pause or a schedule): the sum of all
	 * round-trip times, including lost ones. Stored with the progress, after the work at the
	 * end of a round trip. 0: not used, because the round trips fill the time.
	 */
	_Atomic uint64_t trips_ticks;
	uint64_t seen; /* used by the watch: progress at its last check */
};

/* The memory of one end's messages: QP i's is at addr + i * stride. */
struct round_slice {
	uint64_t addr;
	uint64_t stride;
	uint32_t key;         /* lkey or rkey */
	const uint32_t *keys; /* one per QP, with an MR each; NULL: all use key */
};

static inline uint32_t round_key(const struct round_slice *slice, unsigned i)
{
	return slice->keys ? slice->keys[i] : slice->key;
}

struct recv_queue; /* loop/recv.h */
struct paced;      /* loop/paced.h */
struct account;    /* base/account.h */

/* The memory of a round's messages. */
struct round_memory {
	struct round_slice from, into, remote; /* to send from; to receive into; the peer's
						  `into` */
	uint64_t walk_bytes; /* successive messages walk through this much of the slice; 0: a
				page */
	uint64_t unit_bytes; /* their offsets are multiples of this; 0: a cache line */
	bool gpu, gpu_there; /* it is GPU memory; and the peer's is */
};

/* The results. The caller owns the buffer for samples. */
struct round_result {
	uint64_t messages;       /* completed, all QPs */
	uint64_t timed_messages; /* those completed within [start_ticks, end_ticks] */
	uint64_t lost;           /* round trips without a sample, since a message may have been sent
				    again */
	uint64_t resent;         /* messages sent again */
	uint64_t start_ticks, end_ticks;
	struct hist *hist; /* latency: round-trip ticks */
	struct peak *peak; /* bandwidth, unless no_peak */
	/*
	 * how many messages were done when; in a latency test ticks are the sum of all round trips
	 */
	struct slices slices;
	/*
	 * A stream: the time in which its send queues were full and nothing had completed, or, of a
	 * receiver, in which nothing had come; and that in which there was room, by a schedule.
	 */
	struct idle_time idle, scheduled;
	double in_flight;  /* a sender's messages while its send queues are full; else 0 */
	uint64_t *samples; /* latency with -U or -H: round-trip ticks in order; else NULL */
};

struct round {
	struct qp_set *qps;
	uint64_t size_bytes;
	enum ibv_wr_opcode opcode; /* of the messages */
	unsigned legs; /* latency: parts of a round trip, and a result is one: 2 is half a round
			  trip, 1 the whole */
	unsigned post_list;
	unsigned cq_mod;  /* sends per completion, if the queue and the transport allow it */
	bool send_inline; /* IBV_SEND_INLINE */
	bool no_peak;
	bool unreliable;      /* the transport may lose messages without an error */
	uint64_t quiet_ticks; /* unreliable: after this time a message may have been sent again */
	struct round_memory memory;
	struct recv_queue *receives; /* NULL: it receives nothing */
	struct paced *paced; /* the schedule; NULL: post when there is room, or after an answer */
	const struct clock *clock;
	struct round_control *control;
	struct fault *fault;
	uint64_t gap_ns;     /* latency: pause before each message */
	bool extended;       /* bandwidth: post with ibv_wr_*, poll with ibv_start_poll */
	struct alone *alone; /* measure a lone message first; otherwise NULL */
	bool alone_first;    /* this worker does so; the others wait */
	unsigned kind;       /* which kind of round, in a program with several; otherwise 0 */
	void *own;           /* the program's data, or NULL */
	struct account *account; /* of this thread: a stream starts it again when its requests are
				    built; NULL: none */
	struct round *arrivals; /* bidirectional: the receiving half of this round; otherwise
				   NULL */
	struct round_result result;
};

static ALWAYS_INLINE uint64_t control_target(const struct round_control *c)
{
	return atomic_load_explicit(&c->target, memory_order_relaxed);
}

static ALWAYS_INLINE uint64_t round_target(const struct round *r)
{
	return control_target(r->control);
}

static ALWAYS_INLINE uint64_t round_expected(const struct round *r)
{
	return atomic_load_explicit(&r->control->expected, memory_order_relaxed);
}

static ALWAYS_INLINE bool round_aborted(const struct round *r)
{
	return atomic_load_explicit(&r->control->abort, memory_order_relaxed);
}

static ALWAYS_INLINE void control_progress(struct round_control *c, uint64_t messages)
{
	atomic_store_explicit(&c->progress, messages, memory_order_relaxed);
}

static ALWAYS_INLINE void round_progress(const struct round *r, uint64_t messages)
{
	control_progress(r->control, messages);
}

/* Store the sum of all round-trip times so far. Hot. */
static ALWAYS_INLINE void round_trips(const struct round *r, uint64_t ticks)
{
	atomic_store_explicit(&r->control->trips_ticks, ticks, memory_order_relaxed);
}

/*
 * Set the remote address and key in request WR of QP I, which has its opcode: OFFSET within that
 * QP's slice of REMOTE. An atomic adds 1, or compares with 0 and swaps in 0.
 */
void round_set_remote(const struct round_slice *remote, unsigned i, uint64_t offset,
		      struct ibv_send_wr *wr);

/*
 * Build the request WR, with SGE, for a message of QP I, OFFSET within its slices. It is neither
 * signalled nor linked.
 */
void round_build(const struct round *r, unsigned i, uint64_t offset, struct ibv_send_wr *wr,
		 struct ibv_sge *sge);

/* Raise the fault for the failed completion WC of WHAT ("receive", "request"). Cold; returns -1. */
int round_completion_failed(const struct round *r, const struct ibv_wc *wc, const char *what)
	__attribute__((cold));

/* The same for the first of the completions from WC on that failed: there is one. */
int round_batch_failed(const struct round *r, const struct ibv_wc *wc, const char *what)
	__attribute__((cold));

/* Raise the fault for a failed post or poll; RC is the result of VERB. Cold; returns -1. */
int round_verb_failed(const struct round *r, int rc, const char *verb) __attribute__((cold));

/* Post WR to QP. Returns 0, or -1 with the fault raised. Hot. */
static ALWAYS_INLINE int round_post(const struct round *r, struct ibv_qp *qp,
				    struct ibv_send_wr *wr)
{
	int rc = post_chain(qp, wr);

	return LIKELY(rc == 0) ? 0 : round_verb_failed(r, rc, "ibv_post_send");
}

/* What the requests of R name. */
enum post_aim round_aim(const struct round *r);

/* QP I, to be posted to by the ibv_wr_* calls (EXTENDED), or by ibv_post_send. */
struct post_qp round_to(const struct round *r, unsigned i, bool extended);

/*
 * Post the COUNT linked requests, of one opcode, that are in a row from WR on, to QP I, by the
 * calls that its transport has for them. Returns 0, or -1 with the fault raised.
 */
int round_post_row(const struct round *r, unsigned i, struct ibv_send_wr *wr, unsigned count);

/* Poll up to MOST completions of CQ. Returns their number, or -1 with the fault raised. Hot. */
static ALWAYS_INLINE int round_poll(const struct round *r, struct ibv_cq *cq, unsigned most,
				    struct ibv_wc *wc)
{
	int n = ibv_poll_cq(cq, (int)most, wc);

	return LIKELY(n >= 0) ? n : round_verb_failed(r, n, "ibv_poll_cq");
}

/* The same, and a failed completion of WHAT is a fault, too. Hot. */
static ALWAYS_INLINE int round_poll_checked(const struct round *r, struct ibv_cq *cq, unsigned most,
					    struct ibv_wc *wc, const char *what)
{
	int n = round_poll(r, cq, most, wc);

	for (int k = 0; k < n; k++)
		if (UNLIKELY(wc[k].status != IBV_WC_SUCCESS))
			return round_completion_failed(r, &wc[k], what);
	return n;
}

/* True if the watch requested a resend; clears the request. Hot. */
static ALWAYS_INLINE bool round_resend_asked(const struct round *r)
{
	if (LIKELY(!atomic_load_explicit(&r->control->resend, memory_order_relaxed)))
		return false;
	atomic_store_explicit(&r->control->resend, false, memory_order_relaxed);
	return true;
}

/* True if the loop sleeps instead of spinning. Used to choose an instance. */
static inline bool round_sleeps(const struct round *r)
{
	return r->qps->cq_wait.channel != NULL;
}

/*
 * With -e: tell what a poll of the next CQ found. When all CQs of the loop were found empty, this
 * sleeps until a completion arrives or the run is aborted. Returns 0, or -1 with the fault raised.
 */
static ALWAYS_INLINE int round_sleep_if_idle(const struct round *r, bool found)
{
	struct cq_wait *w = &r->qps->cq_wait;
	int rc;

	if (found) {
		cq_wait_busy(w);
		return 0;
	}
	rc = cq_wait_idle(w);
	return LIKELY(rc == 0) ? 0 : round_verb_failed(r, rc, "waiting for completions");
}

/*
 * Tell all N loops to stop at once, because completions will not come or do not count any more.
 * Cold.
 */
void round_abort_all(struct round_control *c, unsigned n);

/*
 * Poll the send CQ for a failed completion, and raise its fault. For a loop that was aborted while
 * it waited for the peer. Cold.
 */
void round_look_for_failure(const struct round *r) __attribute__((cold));

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pingpong: the latency loop. The client sends message i and waits for the peer's message i; the
 * server waits and answers. A sample is the time from one arrival at the client to the next. The
 * client answers right after an arrival, so a sample is a whole round trip.
 *
 * The functions below are the whole loop. A program passes its own hooks as constants: struct
 * pingpong_hooks.
 *
 * Between an arrival and the answer there is only: polling it, one clock read (at the client) and
 * the post. That is as few instructions as in a loop that does nothing else (SIMVERBS_STEPS of
 * tests/standin/verbs counts them). Everything else is done while the message is in flight:
 * recording the sample, re-posting the receive, preparing the next number and request, checking for
 * the end, and polling send completions (one send in many is signalled, and its completion is
 * polled long after it arrived).
 *
 * If the transport may lose messages, an end that receives nothing sends its last message again
 * when the watch thread requests it. A round trip that is long enough for that is not a sample but
 * counts as lost. A duplicate must not be taken for the next answer, so each message has a number:
 * a WRITE in its last bytes, a SEND as immediate data. The numbers of SENDs continue from round to
 * round; WRITEs clear the memory before each.
 */
#pragma once

#include "base/hist.h"
#include "loop/paced.h"
#include "loop/recv.h"
#include "loop/round.h"

/* Modes of the functions below, always passed as constants. */
#define PINGPONG_KEEP       1u /* store every sample in order */
#define PINGPONG_SLEEPS     2u /* wait for events instead of spinning */
#define PINGPONG_UNRELIABLE 4u /* the transport may lose messages */
#define PINGPONG_DUE        8u /* post by the round's schedule */

struct pingpong {
	struct round *round;
	struct ibv_qp *qp;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_send_wr *next; /* the next messages' request; one of: */
	struct ibv_send_wr plain, signalled;
	struct ibv_sge sge;
	char *from_end, *into_end; /* the end of the sent, and of the received, message */
	uint32_t number_mask;      /* of a number inside a message */
	uint64_t signal_mask;      /* a message is signalled if (its number & mask) == 0 */
	uint64_t chosen;           /* `next` is for so many messages, */
	uint64_t last;             /* up to this number: see pingpong_count() */
	bool signal_pending;       /* the last signalled one has not completed */
	uint64_t numbered;         /* messages of earlier rounds, for their numbers */
	int *until_repost;         /* receives until the next batch is posted; NULL: has none */
	/* A transport that signals all: how to post; and, unless a completion is the answer: */
	post_call *call;
	struct post_qp to;
	bool reaps;      /* the completions are counted, */
	uint64_t reaped; /* so many so far */
};

struct pingpong_hooks {
	/* Returns the number that identifies message I (from 1). Called in advance. */
	uint32_t (*number)(const struct pingpong *p, uint64_t i);
	/* Post the message with NUMBER. Returns 0, or -1 with the fault raised. */
	int (*post)(struct pingpong *p, uint32_t number);
	/*
	 * A message has been posted: count it, and choose the next request. I grows by one. Returns
	 * 0 or -1.
	 */
	int (*sent)(struct pingpong *p, uint64_t i);
	/*
	 * Returns 1 if the peer's message with NUMBER has arrived, 0 if not, -1 with the fault
	 * raised.
	 */
	int (*arrived)(struct pingpong *p, uint32_t number);
	/* Work that can be done after the answer is posted. Returns 0 or -1. */
	int (*tidy)(struct pingpong *p);
};

/* Build the requests of round R. P is on the caller's stack and owns nothing. */
void pingpong_init(struct pingpong *p, struct round *r);

/*
 * End a round: store MESSAGES, the number sent each way, and the state of the send queue for the
 * next round. RC is the result of the loop. Returns -1 if the loop failed, otherwise 0; after an
 * abort a fault may be raised all the same. The loops below call it.
 */
int pingpong_finish(struct pingpong *p, uint64_t messages, int rc);

/*
 * Wait for the completion of the outstanding signalled send, if any. It has normally arrived long
 * before. Returns 0, or -1 with the fault raised.
 */
int pingpong_reap(struct pingpong *p);

/*
 * The same where all are signalled: poll once, or until no more than MOST are outstanding. Returns
 * 0, also if aborted, or -1 with the fault raised.
 */
int pingpong_reap_each(struct pingpong *p, uint64_t most);

/*
 * Add a mark to the round's slices, for the confidence interval. Called seldom, and never between
 * an arrival and its answer.
 */
void pingpong_mark(const struct pingpong *p);

/* Wait until DUE, or the round is aborted, and return the clock. */
uint64_t pingpong_wait_until(const struct pingpong *p, uint64_t due);

/*
 * Choose the request of the next messages: plain ones, or a signalled one. Only one signalled send
 * is outstanding, so this waits for the previous one. Returns 0, or -1 with the fault raised.
 */
int pingpong_choose(struct pingpong *p);

/*
 * How many messages were sent on this QP, in all rounds: a place in the queue is free only after a
 * later signalled send has completed, so the count continues.
 */
static inline uint64_t pingpong_count(const struct pingpong *p)
{
	return p->last - p->chosen;
}

/* The `sent` hook where one request in many is signalled. Hot. */
static ALWAYS_INLINE int pingpong_sent(struct pingpong *p, uint64_t i)
{
	(void)i;
	return LIKELY(--p->chosen) ? 0 : pingpong_choose(p);
}

/* The `number` hook for messages without a number. */
static ALWAYS_INLINE uint32_t pingpong_unsequenced(const struct pingpong *p, uint64_t i)
{
	(void)p, (void)i;
	return 0;
}

/* The `post` hook that posts the request unchanged. Hot. */
static ALWAYS_INLINE int pingpong_send(struct pingpong *p, uint32_t number)
{
	int rc = post_chain(p->qp, p->next);

	(void)number;
	/* Not round_post(): p->round would be loaded before the post, two instructions more. */
	return LIKELY(rc == 0) ? 0 : round_verb_failed(p->round, rc, "ibv_post_send");
}

/* Poll CQ for one completion of WHAT. Returns 1 with *WC, 0, or -1 with the fault raised. Hot. */
static ALWAYS_INLINE int pingpong_poll(const struct pingpong *p, struct ibv_cq *cq,
				       struct ibv_wc *wc, const char *what)
{
	int n = ibv_poll_cq(cq, 1, wc);

	if (n != 1)
		return LIKELY(n == 0) ? 0 : round_verb_failed(p->round, n, "ibv_poll_cq");
	return LIKELY(wc->status == IBV_WC_SUCCESS) ? 1
						    : round_completion_failed(p->round, wc, what);
}

/* Post message I when none is in flight. */
static ALWAYS_INLINE int pingpong_start(struct pingpong *p, const struct pingpong_hooks *hooks,
					uint64_t i)
{
	return hooks->post(p, hooks->number(p, i)) < 0 ? -1 : hooks->sent(p, i);
}

/*
 * Called when nothing has arrived. LAST is the last message that this end sent (0: none); it is
 * sent again if the watch requested that. Sleeps if the round uses events. Returns 0 or -1.
 * Compiles to nothing without these modes.
 */
static ALWAYS_INLINE int pingpong_idle(struct pingpong *p, const struct pingpong_hooks *hooks,
				       uint64_t last, const unsigned mode)
{
	if ((mode & PINGPONG_UNRELIABLE) && UNLIKELY(round_resend_asked(p->round)) && last) {
		p->round->result.resent++;
		return pingpong_start(p, hooks, last);
	}
	return mode & PINGPONG_SLEEPS ? round_sleep_if_idle(p->round, false) : 0;
}

/* Wait for the answer to message I at the client. Returns 1, 0 if aborted, or -1. */
static ALWAYS_INLINE int pingpong_await(struct pingpong *p, const struct pingpong_hooks *hooks,
					uint64_t i, const unsigned mode)
{
	const uint32_t number = hooks->number(p, i);
	int rc;

	while ((rc = hooks->arrived(p, number)) == 0)
		if (UNLIKELY(round_aborted(p->round) ||
			     (rc = pingpong_idle(p, hooks, i, mode)) < 0))
			break;
	return rc;
}

/*
 * Record the client's round trip I of TICKS. WAITED is the time that it was posted too late, times
 * the legs.
 */
static ALWAYS_INLINE void pingpong_record(struct round *r, uint64_t i, uint64_t ticks,
					  uint64_t waited, const unsigned mode)
{
	if ((mode & PINGPONG_UNRELIABLE) && UNLIKELY(ticks >= r->quiet_ticks)) {
		if (ticks > HIST_MOST) /* the clock went back: the histogram's maximum shows it */
			hist_add(r->result.hist, ticks);
		r->result.lost++;
	} else {
		hist_add(r->result.hist, ticks + waited);
		if (mode & PINGPONG_KEEP)
			r->result.samples[i - 1 - r->result.lost] = ticks + waited;
	}
	if (mode & PINGPONG_SLEEPS)
		cq_wait_busy(&r->qps->cq_wait);
}

/* End the client's loop after MESSAGES round trips. RC is its result. */
static inline int pingpong_end(struct pingpong *p, uint64_t messages, uint64_t end_ticks, int rc)
{
	struct round *r = p->round;

	r->result.end_ticks = end_ticks;
	r->result.timed_messages = messages - r->result.lost;
	return pingpong_finish(p, messages, rc);
}

/* The client's loop. */
static ALWAYS_INLINE int pingpong_client(struct pingpong *p, const struct pingpong_hooks *hooks,
					 const unsigned mode)
{
	struct round *r = p->round;
	const struct clock clock = *r->clock; /* local copies save loads */
	struct round_control *const control = r->control;
	uint64_t last = clock_ticks(&clock), now, i = 1;
	int rc = pingpong_choose(p);

	r->result.start_ticks = last;
	if (UNLIKELY(rc < 0 || (rc = pingpong_start(p, hooks, i)) < 0))
		return pingpong_end(p, 0, last, rc);
	for (; i < control_target(control); i++, last = now) {
		const uint32_t next = hooks->number(p, i + 1);

		rc = pingpong_await(p, hooks, i, mode);
		if (UNLIKELY(rc <= 0))
			return pingpong_end(p, i - 1, last, rc);
		now = clock_ticks(&clock);
		rc = hooks->post(p, next);
		if (UNLIKELY(rc < 0 || (rc = hooks->sent(p, i)) < 0 || (rc = hooks->tidy(p)) < 0))
			return pingpong_end(p, i - 1, last, rc);
		pingpong_record(r, i, now - last, 0, mode);
		control_progress(control, i);
	}
	rc = pingpong_await(p, hooks, i, mode); /* the last one needs no answer */
	if (UNLIKELY(rc <= 0))
		return pingpong_end(p, i - 1, last, rc);
	now = clock_ticks(&clock);
	rc = hooks->tidy(p);
	pingpong_record(r, i, now - last, 0, mode);
	control_progress(control, i);
	return pingpong_end(p, i, now, rc);
}

/*
 * The client's loop with pauses between round trips; the server's loop stays the same. It waits
 * gap_ns before each message except the first, and no sample includes that time.
 *
 * With PINGPONG_DUE it is an open loop: one message for each step of the round's schedule, whatever
 * happened to the earlier ones. A message is posted when it is due or, if another one is still in
 * flight, right after that one. The sample starts when the message was due. A result is one leg of
 * a sample, so a sample is the round trip plus the wait once for each leg.
 */
static ALWAYS_INLINE int pingpong_apart(struct pingpong *p, const struct pingpong_hooks *hooks,
					const unsigned mode)
{
	struct round *r = p->round;
	const bool by_schedule = mode & PINGPONG_DUE;
	const uint64_t start = clock_ticks(r->clock), legs = r->legs;
	const uint64_t gap = (uint64_t)((double)r->gap_ns / r->clock->ns_per_tick);
	uint64_t now = start, i = 0, trips = 0;
	unsigned __int128 due = 0; /* since the start, in ticks / 2^64 */
	int rc = pingpong_choose(p);

	r->result.start_ticks = start;
	while (rc == 0 && (i == 0 || i < round_target(r)) && !round_aborted(r)) {
		const uint64_t posted = by_schedule ? now : clock_ticks(r->clock);
		const uint64_t late = by_schedule ? posted - start - (uint64_t)(due >> 64) : 0;

		if (UNLIKELY((rc = pingpong_start(p, hooks, i + 1)) < 0))
			break;
		if (UNLIKELY((rc = pingpong_await(p, hooks, i + 1, mode)) <= 0))
			break;
		now = clock_ticks(r->clock);
		rc = hooks->tidy(p);
		pingpong_record(r, ++i, now - posted, legs * late, mode);
		round_progress(r, i);
		round_trips(r, trips += now - posted + legs * late);
		if (by_schedule) {
			paced_was_late(r->paced, late, 1);
			due += r->paced->step;
			now = pingpong_wait_until(p, start + (uint64_t)(due >> 64));
		} else if (i < round_target(r)) {
			pingpong_wait_until(p, clock_ticks(r->clock) + gap);
		}
	}
	return pingpong_end(p, i, now, rc);
}

/* The server's loop: it answers until the client has told how many messages there were. */
static ALWAYS_INLINE int pingpong_server(struct pingpong *p, const struct pingpong_hooks *hooks,
					 const unsigned mode)
{
	struct round *r = p->round;
	uint64_t i = 0; /* answered */
	int rc;

	for (rc = pingpong_choose(p); LIKELY(rc == 0); rc = hooks->tidy(p)) {
		const uint32_t number = hooks->number(p, i + 1);

		if (UNLIKELY(round_aborted(r) || i >= round_expected(r)))
			break; /* checked here too, for a peer that never pauses */
		while ((rc = hooks->arrived(p, number)) == 0)
			if (UNLIKELY(round_aborted(r) || i >= round_expected(r) ||
				     (rc = pingpong_idle(p, hooks, i, mode)) < 0))
				goto out;
		if (UNLIKELY(rc < 0 || (rc = hooks->post(p, number)) < 0))
			break;
		if (mode & PINGPONG_SLEEPS)
			cq_wait_busy(&r->qps->cq_wait);
		round_progress(r, ++i);
		if (UNLIKELY((rc = hooks->sent(p, i)) < 0))
			break;
	}
out:
	return pingpong_finish(p, i, rc);
}

typedef int pingpong_body(struct pingpong *p, const struct pingpong_hooks *hooks,
			  const unsigned mode);

/*
 * Call BODY with MODE, plus PINGPONG_SLEEPS if round P uses events. Creates an instance for each.
 */
static ALWAYS_INLINE int pingpong_pick(pingpong_body *body, struct pingpong *p,
				       const struct pingpong_hooks *hooks, const unsigned mode)
{
	return round_sleeps(p->round) ? body(p, hooks, mode | PINGPONG_SLEEPS)
				      : body(p, hooks, mode);
}

/* The same, plus PINGPONG_KEEP if the round stores samples. */
static ALWAYS_INLINE int pingpong_pick_kept(pingpong_body *body, struct pingpong *p,
					    const struct pingpong_hooks *hooks, const unsigned mode)
{
	return p->round->result.samples ? pingpong_pick(body, p, hooks, mode | PINGPONG_KEEP)
					: pingpong_pick(body, p, hooks, mode);
}

/* Run this end's round as the client, or as the server. MODE is 0 or PINGPONG_UNRELIABLE. */
static ALWAYS_INLINE int pingpong_lead(struct pingpong *p, const struct pingpong_hooks *hooks,
				       const unsigned mode)
{
	if (p->round->paced)
		return pingpong_pick_kept(pingpong_apart, p, hooks, mode | PINGPONG_DUE);
	if (p->round->gap_ns)
		return pingpong_pick_kept(pingpong_apart, p, hooks, mode);
	return pingpong_pick_kept(pingpong_client, p, hooks, mode);
}

static ALWAYS_INLINE int pingpong_follow(struct pingpong *p, const struct pingpong_hooks *hooks,
					 const unsigned mode)
{
	return pingpong_pick(pingpong_server, p, hooks, mode);
}

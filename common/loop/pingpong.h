/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pingpong: the latency loop. The client sends message i and waits for the peer's message i; the
 * server waits and answers. One sample is the time from one arrival at the client to the next: a
 * whole round trip, of which the answer to the arrival is the first thing.
 *
 * The bodies below are the whole experiment; a program gives them its own hooks as constants:
 * struct pingpong_hooks.
 *
 * Between an arrival and the answer there is nothing but seeing it, one clock read (the client's)
 * and the post: as few instructions as in a loop that does nothing else (SIMVERBS_STEPS of
 * tests/verbs counts them). All that is not the path of the message is done while it is under way:
 * recording the sample, re-posting the receive, the next number and request, whether there is to
 * be one, taking completions of sends (one send in many is signalled, and its completion is looked
 * at when it has long come).
 *
 * Where messages may be lost, an end to which nothing comes sends its last one again when the watch
 * says so. A round trip so long that either end may have done so is no sample but counts as lost.
 * What then comes twice must not be taken for the next answer, so a message carries its number: a
 * WRITE in its last bytes, a SEND as immediate data, which goes on from round to round.
 */
#ifndef RDMARK_LOOP_PINGPONG_H
#define RDMARK_LOOP_PINGPONG_H

#include <endian.h>

#include "loop/recv.h"
#include "loop/round.h"

/* How the bodies below are meant, always a constant. */
#define PINGPONG_KEEP   1u /* store every sample in order */
#define PINGPONG_SLEEPS 2u /* wait for events instead of spinning */
#define PINGPONG_LOSSY  4u /* send again what may be lost */

struct pingpong {
	struct round *round;
	struct ibv_qp *qp;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_send_wr *next; /* for the next message; one of: */
	struct ibv_send_wr plain, signalled;
	struct ibv_sge sge;
	char *from_end, *into_end; /* behind what is sent, what is received */
	uint32_t number_mask;      /* of a number that stands in a message */
	uint64_t signal_mask;      /* a message is signalled if (sent & mask) == 0 */
	uint64_t sent; /* on this QP, in all rounds: a queue place is free again only when a */
	bool signal_pending; /* later signalled send was seen complete, so the count must go on */
	uint64_t numbered;   /* messages before this round, for their numbers */
};

struct pingpong_hooks {
	/* What message I (from 1) has in it to be told from others; asked for in advance. */
	uint32_t (*number)(const struct pingpong *p, uint64_t i);
	/* Send the message with NUMBER: 0, or -1 with the fault raised. */
	int (*post)(struct pingpong *p, uint32_t number);
	/* Has the peer's message with NUMBER come? 1, 0, or -1 with the fault raised. */
	int (*arrived)(struct pingpong *p, uint32_t number);
	/* Work that may wait until the answer is on its way: 0 or -1. */
	int (*tidy)(struct pingpong *p);
};

/* Build the requests of OPCODE for round R. P lives on the caller's stack and owns nothing. */
void pingpong_init(struct pingpong *p, struct round *r, enum ibv_wr_opcode opcode);

/*
 * MESSAGES went each way: leave that, and the state of the send queue for the next round. The two
 * loops below do it.
 */
void pingpong_leave(struct pingpong *p, uint64_t messages);

/* Wait for the signalled send that is under way, if any. Normally it is long complete. */
int pingpong_reap(struct pingpong *p);

/* Let the round's gap_ns go by, unless it is told to end. */
void pingpong_pause(const struct pingpong *p);

/* Choose the request of the next message. The signalled one, if the last signal was seen. Hot. */
static ALWAYS_INLINE int pingpong_choose(struct pingpong *p)
{
	if (LIKELY((p->sent + 1) & p->signal_mask)) {
		p->next = &p->plain;
		return 0;
	}
	p->next = &p->signalled;
	return p->signal_pending ? pingpong_reap(p) : 0;
}

/* A message is on its way: that request is used. Hot. */
static ALWAYS_INLINE int pingpong_sent(struct pingpong *p)
{
	p->sent++;
	if (UNLIKELY(p->next == &p->signalled))
		p->signal_pending = true;
	return pingpong_choose(p);
}

/* For messages that need no number. */
static ALWAYS_INLINE uint32_t pingpong_unnumbered(const struct pingpong *p, uint64_t i)
{
	(void)p, (void)i;
	return 0;
}

/* Post a message as built. Hot. */
static ALWAYS_INLINE int pingpong_send(struct pingpong *p, uint32_t number)
{
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(p->qp, p->next, &bad);

	(void)number;
	return LIKELY(rc == 0) ? 0 : round_verb_failed(p->round, rc, "ibv_post_send");
}

/* Has a receive completed? For messages that consume one. Hot. */
static ALWAYS_INLINE int pingpong_received(struct pingpong *p, uint32_t number)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(p->recv_cq, 1, &wc);

	(void)number;
	if (n != 1)
		return LIKELY(n == 0) ? 0 : round_verb_failed(p->round, n, "ibv_poll_cq");
	return LIKELY(wc.status == IBV_WC_SUCCESS)
		       ? 1
		       : round_completion_failed(p->round, &wc, "receive");
}

/* The receive that a message consumed is given back when the answer is on its way. Hot. */
static ALWAYS_INLINE int pingpong_repost(struct pingpong *p)
{
	struct recv_lane *lane = p->round->receives->lane; /* in batches of one */
	int rc = lane->post(lane);

	return LIKELY(rc == 0) ? 0 : round_verb_failed(p->round, rc, "ibv_post_recv");
}

/* Numbers as immediate data. */
static ALWAYS_INLINE uint32_t pingpong_number(const struct pingpong *p, uint64_t i)
{
	return htobe32((uint32_t)(p->numbered + i));
}

/* Post a message with its number. Hot. */
static ALWAYS_INLINE int pingpong_send_numbered(struct pingpong *p, uint32_t number)
{
	p->next->imm_data = number;
	return pingpong_send(p, number);
}

/* Has that number come? What comes late or twice is passed over. Hot. */
static ALWAYS_INLINE int pingpong_received_numbered(struct pingpong *p, uint32_t number)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(p->recv_cq, 1, &wc);

	if (n != 1)
		return LIKELY(n == 0) ? 0 : round_verb_failed(p->round, n, "ibv_poll_cq");
	if (UNLIKELY(wc.status != IBV_WC_SUCCESS))
		return round_completion_failed(p->round, &wc, "receive");
	if (LIKELY(wc.imm_data == number))
		return 1;
	bell_busy(&p->round->qps->bell);
	return pingpong_repost(p);
}

/* Messages that each consume a receive: as they are, and with numbers where some may be lost. */
static const struct pingpong_hooks pingpong_messages = {
	.number = pingpong_unnumbered,
	.post = pingpong_send,
	.arrived = pingpong_received,
	.tidy = pingpong_repost,
};
static const struct pingpong_hooks pingpong_numbered_messages = {
	.number = pingpong_number,
	.post = pingpong_send_numbered,
	.arrived = pingpong_received_numbered,
	.tidy = pingpong_repost,
};

/* Post message I when nothing is on its way. */
static ALWAYS_INLINE int pingpong_start(struct pingpong *p, const struct pingpong_hooks *hooks,
					uint64_t i)
{
	return hooks->post(p, hooks->number(p, i)) < 0 ? -1 : pingpong_sent(p);
}

/*
 * Nothing has come, and LAST (0: nothing) is what this end sent last. Returns 0 or -1. Empty where
 * nothing is lost and nobody sleeps.
 */
static ALWAYS_INLINE int pingpong_idle(struct pingpong *p, const struct pingpong_hooks *hooks,
				       uint64_t last, const unsigned mode)
{
	if ((mode & PINGPONG_LOSSY) && UNLIKELY(round_nudged(p->round)) && last)
		return pingpong_start(p, hooks, last);
	return mode & PINGPONG_SLEEPS ? round_rest(p->round, false) : 0;
}

/* The client waits for the answer to message I: 1, 0 when told to quit, or -1. */
static ALWAYS_INLINE int pingpong_await(struct pingpong *p, const struct pingpong_hooks *hooks,
					uint64_t i, const unsigned mode)
{
	const uint32_t number = hooks->number(p, i);
	int rc;

	while ((rc = hooks->arrived(p, number)) == 0)
		if (UNLIKELY(round_quit(p->round) || (rc = pingpong_idle(p, hooks, i, mode)) < 0))
			break;
	return rc;
}

/* The client's round trip I took TICKS. */
static ALWAYS_INLINE void pingpong_record(struct pingpong *p, uint64_t i, uint64_t ticks,
					  const unsigned mode)
{
	struct round *r = p->round;

	if ((mode & PINGPONG_LOSSY) && UNLIKELY(ticks >= r->quiet_ticks)) {
		r->lost++;
	} else {
		hist_add(r->hist, ticks);
		if (mode & PINGPONG_KEEP)
			r->samples[i - 1 - r->lost] = ticks;
	}
	if (mode & PINGPONG_SLEEPS)
		bell_busy(&r->qps->bell);
	round_progress(r, i);
}

/* The client has MESSAGES round trips, and RC is why it ends. */
static inline int pingpong_end(struct pingpong *p, uint64_t messages, uint64_t end_ticks, int rc)
{
	struct round *r = p->round;

	pingpong_leave(p, messages);
	r->end_ticks = end_ticks;
	r->timed_messages = messages - r->lost;
	if (rc >= 0 && round_quit(r))
		round_look_for_failure(r);
	return rc < 0 ? -1 : 0;
}

/* The client's loop. */
static ALWAYS_INLINE int pingpong_client(struct pingpong *p, const struct pingpong_hooks *hooks,
					 const unsigned mode)
{
	struct round *r = p->round;
	const struct clock clock = *r->clock; /* a copy at hand: less to load */
	uint64_t last = clock_ticks(&clock), now, i = 1;
	int rc = pingpong_choose(p);

	r->start_ticks = last;
	if (UNLIKELY(rc < 0 || (rc = pingpong_start(p, hooks, i)) < 0))
		return pingpong_end(p, 0, last, rc);
	for (; i < round_target(r); i++, last = now) {
		const uint32_t next = hooks->number(p, i + 1);

		rc = pingpong_await(p, hooks, i, mode);
		if (UNLIKELY(rc <= 0))
			return pingpong_end(p, i - 1, last, rc);
		now = clock_ticks(&clock);
		rc = hooks->post(p, next);
		if (UNLIKELY(rc < 0 || (rc = pingpong_sent(p)) < 0 || (rc = hooks->tidy(p)) < 0))
			return pingpong_end(p, i - 1, last, rc);
		pingpong_record(p, i, now - last, mode);
	}
	rc = pingpong_await(p, hooks, i, mode); /* the last one, which needs no answer */
	if (UNLIKELY(rc <= 0))
		return pingpong_end(p, i - 1, last, rc);
	now = clock_ticks(&clock);
	rc = hooks->tidy(p);
	pingpong_record(p, i, now - last, mode);
	return pingpong_end(p, i, now, rc);
}

/*
 * The client's loop with a pause of the round's gap_ns before each message but the first, which no
 * sample has in it. The server needs no other loop.
 */
static ALWAYS_INLINE int pingpong_paced(struct pingpong *p, const struct pingpong_hooks *hooks,
					const unsigned mode)
{
	struct round *r = p->round;
	uint64_t now = clock_ticks(r->clock), start, i = 0;
	int rc = pingpong_choose(p);

	r->start_ticks = now;
	while (rc == 0 && (i == 0 || i < round_target(r)) && !round_quit(r)) {
		start = clock_ticks(r->clock);
		if (UNLIKELY((rc = pingpong_start(p, hooks, i + 1)) < 0))
			break;
		if (UNLIKELY((rc = pingpong_await(p, hooks, i + 1, mode)) <= 0))
			break;
		now = clock_ticks(r->clock);
		rc = hooks->tidy(p);
		pingpong_record(p, ++i, now - start, mode);
		if (i < round_target(r))
			pingpong_pause(p);
	}
	return pingpong_end(p, i, now, rc);
}

/* The server's loop: answers until the client has said how many there were. */
static ALWAYS_INLINE int pingpong_server(struct pingpong *p, const struct pingpong_hooks *hooks,
					 const unsigned mode)
{
	struct round *r = p->round;
	uint64_t i = 0; /* answered */
	int rc;

	for (rc = pingpong_choose(p); LIKELY(rc == 0); rc = hooks->tidy(p)) {
		const uint32_t number = hooks->number(p, i + 1);

		if (UNLIKELY(round_quit(r)))
			break; /* also for a peer that never pauses */
		while ((rc = hooks->arrived(p, number)) == 0)
			if (UNLIKELY(round_quit(r) || i >= round_due(r) ||
				     (rc = pingpong_idle(p, hooks, i, mode)) < 0))
				goto out;
		if (UNLIKELY(rc < 0 || (rc = hooks->post(p, number)) < 0))
			break;
		if (mode & PINGPONG_SLEEPS)
			bell_busy(&r->qps->bell);
		round_progress(r, ++i);
		if (UNLIKELY((rc = pingpong_sent(p)) < 0))
			break;
	}
out:
	pingpong_leave(p, i);
	if (rc == 0 && round_quit(r))
		round_look_for_failure(r);
	return rc < 0 ? -1 : 0;
}

/* The instance of a body that round P's is for, where MODE says all but whether it sleeps. */
#define PINGPONG_PICK(body, p, hooks, mode) \
	(round_sleeps((p)->round) ? body(p, hooks, (mode) | PINGPONG_SLEEPS) : body(p, hooks, mode))

/* A round of this end's as the client or the server, where MODE is 0 or PINGPONG_LOSSY. */
static ALWAYS_INLINE int pingpong_lead(struct pingpong *p, const struct pingpong_hooks *hooks,
				       const unsigned mode)
{
	const unsigned keep = mode | PINGPONG_KEEP;

	if (p->round->gap_ns && p->round->samples)
		return PINGPONG_PICK(pingpong_paced, p, hooks, keep);
	if (p->round->gap_ns)
		return PINGPONG_PICK(pingpong_paced, p, hooks, mode);
	if (p->round->samples)
		return PINGPONG_PICK(pingpong_client, p, hooks, keep);
	return PINGPONG_PICK(pingpong_client, p, hooks, mode);
}

static ALWAYS_INLINE int pingpong_follow(struct pingpong *p, const struct pingpong_hooks *hooks,
					 const unsigned mode)
{
	return PINGPONG_PICK(pingpong_server, p, hooks, mode);
}

#endif

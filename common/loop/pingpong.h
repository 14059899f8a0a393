/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pingpong: the latency loop. The client sends message i and waits for the peer's message i; the
 * server waits and answers. One sample is the time from one arrival at the client to the next: a
 * whole round trip, of which the answer to the arrival is the first thing.
 *
 * The two bodies below are the whole experiment; a program gives them its own hooks as constants:
 *
 *	post(p, i)     send message i (from 1); 0, or -1 with the fault raised
 *	arrived(p, i)  has the peer's message i come? 1, 0, or -1 with the fault raised
 *	tidy(p)        work that may wait until the answer is on its way; 0 or -1
 *
 * All that is not the path of the message is done while it is under way: recording the sample,
 * re-posting the receive, taking completions of sends (one send in many is signalled, and its
 * completion is looked at when it has long come).
 *
 * Where messages may be lost, an end to which nothing comes sends its last one again when the watch
 * says so. A round trip that is so long that either may have done so is no sample: it counts as
 *lost. What then comes twice must not be taken for the next answer, so a message carries its
 *number: a WRITE in its last bytes, a SEND as immediate data, which goes on from round to round.
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
	struct ibv_send_wr plain, signalled;
	struct ibv_sge sge;
	uint64_t signal_mask; /* a message is signalled if (sent & mask) == 0 */
	uint64_t sent; /* on this QP, in all rounds: a queue place is free again only when a */
	bool signal_pending; /* later signalled send was seen complete, so the count must go on */
	uint64_t numbered;   /* messages before this round, for their numbers */
};

typedef int pingpong_post(struct pingpong *p, uint64_t i);
typedef int pingpong_arrived(struct pingpong *p, uint64_t i);
typedef int pingpong_tidy(struct pingpong *p);

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

/* Post message I as built. Hot. */
static ALWAYS_INLINE int pingpong_send(struct pingpong *p, uint64_t i)
{
	struct ibv_send_wr *bad, *wr = &p->plain;
	int rc;

	(void)i;
	if (UNLIKELY((++p->sent & p->signal_mask) == 0)) {
		if (p->signal_pending && pingpong_reap(p))
			return -1;
		p->signal_pending = true;
		wr = &p->signalled;
	}
	rc = ibv_post_send(p->qp, wr, &bad);
	return LIKELY(rc == 0) ? 0 : round_verb_failed(p->round, rc, "ibv_post_send");
}

/* Has a receive completed? For messages that consume one. Hot. */
static ALWAYS_INLINE int pingpong_received(struct pingpong *p, uint64_t i)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(p->recv_cq, 1, &wc);

	(void)i;
	if (LIKELY(n == 0))
		return 0;
	if (UNLIKELY(n < 0))
		return round_verb_failed(p->round, n, "ibv_poll_cq");
	return LIKELY(wc.status == IBV_WC_SUCCESS)
		       ? 1
		       : round_completion_failed(p->round, &wc, "receive");
}

/* The receive that a message consumed is given back when the answer is on its way. Hot. */
static ALWAYS_INLINE int pingpong_repost(struct pingpong *p)
{
	int rc = recv_consumed(p->round->receives->lane, 1);

	return LIKELY(rc == 0) ? 0 : round_verb_failed(p->round, rc, "ibv_post_recv");
}

/* Post message I with its number. Hot. */
static ALWAYS_INLINE int pingpong_send_numbered(struct pingpong *p, uint64_t i)
{
	p->plain.imm_data = p->signalled.imm_data = htobe32((uint32_t)(p->numbered + i));
	return pingpong_send(p, i);
}

/* Has number I come? What comes late or twice is passed over. Hot. */
static ALWAYS_INLINE int pingpong_received_numbered(struct pingpong *p, uint64_t i)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(p->recv_cq, 1, &wc);

	if (LIKELY(n == 0))
		return 0;
	bell_busy(&p->round->qps->bell);
	if (UNLIKELY(n < 0))
		return round_verb_failed(p->round, n, "ibv_poll_cq");
	if (UNLIKELY(wc.status != IBV_WC_SUCCESS))
		return round_completion_failed(p->round, &wc, "receive");
	if (LIKELY(wc.imm_data == htobe32((uint32_t)(p->numbered + i))))
		return 1;
	return pingpong_repost(p);
}

/*
 * Nothing has come, and LAST (0: nothing) is what this end sent last. Returns 0 or -1. Empty where
 * nothing is lost and nobody sleeps.
 */
static ALWAYS_INLINE int pingpong_idle(struct pingpong *p, pingpong_post *post, uint64_t last,
				       const unsigned mode)
{
	if ((mode & PINGPONG_LOSSY) && UNLIKELY(round_nudged(p->round)) && last)
		return post(p, last);
	return mode & PINGPONG_SLEEPS ? round_rest(p->round, false) : 0;
}

/* The client's loop. */
static ALWAYS_INLINE int pingpong_client(struct pingpong *p, pingpong_post *post,
					 pingpong_arrived *arrived, pingpong_tidy *tidy,
					 const unsigned mode)
{
	struct round *r = p->round;
	const struct clock *clock = r->clock;
	struct hist *hist = r->hist;
	uint64_t last, now, i = 0, lost = 0;
	bool more;
	int rc;

	r->start_ticks = last = now = clock_ticks(clock);
	rc = post(p, 1);
	for (more = true; more && LIKELY(rc == 0); last = now) {
		while ((rc = arrived(p, i + 1)) == 0) {
			if (UNLIKELY(round_quit(r)))
				goto out;
			if (UNLIKELY((rc = pingpong_idle(p, post, i + 1, mode)) < 0))
				goto out;
		}
		if (UNLIKELY(rc < 0))
			break;
		now = clock_ticks(clock);
		i++;
		more = i < round_target(r);
		rc = more ? post(p, i + 1) : 0;
		if (UNLIKELY(rc < 0))
			break;
		rc = tidy(p);
		if ((mode & PINGPONG_LOSSY) && UNLIKELY(now - last >= r->quiet_ticks)) {
			lost++;
		} else {
			hist_add(hist, now - last);
			if (mode & PINGPONG_KEEP)
				r->samples[i - 1 - lost] = now - last;
		}
		if (mode & PINGPONG_SLEEPS)
			bell_busy(&r->qps->bell);
		round_progress(r, i);
	}
out:
	pingpong_leave(p, i);
	r->end_ticks = last;
	r->lost = lost;
	r->timed_messages = i - lost;
	if (more && rc == 0)
		round_look_for_failure(r);
	return rc < 0 ? -1 : 0;
}

/*
 * The client's loop with a pause of the round's gap_ns before each message but the first, which no
 * sample has in it. The server needs no other loop.
 */
static ALWAYS_INLINE int pingpong_paced(struct pingpong *p, pingpong_post *post,
					pingpong_arrived *arrived, pingpong_tidy *tidy,
					const unsigned mode)
{
	struct round *r = p->round;
	uint64_t now = clock_ticks(r->clock), start, i = 0, lost = 0;
	int rc = 0;

	r->start_ticks = now;
	while (rc == 0 && (i == 0 || i < round_target(r)) && !round_quit(r)) {
		start = clock_ticks(r->clock);
		rc = post(p, i + 1);
		while (rc == 0 && (rc = arrived(p, i + 1)) == 0) {
			if (UNLIKELY(round_quit(r)))
				goto out;
			rc = pingpong_idle(p, post, i + 1, mode);
		}
		if (UNLIKELY(rc < 0))
			break;
		now = clock_ticks(r->clock);
		rc = tidy(p);
		if ((mode & PINGPONG_LOSSY) && UNLIKELY(now - start >= r->quiet_ticks)) {
			lost++;
		} else {
			hist_add(r->hist, now - start);
			if (mode & PINGPONG_KEEP)
				r->samples[i - lost] = now - start;
		}
		if (mode & PINGPONG_SLEEPS)
			bell_busy(&r->qps->bell);
		round_progress(r, ++i);
		if (i < round_target(r))
			pingpong_pause(p);
	}
out:
	pingpong_leave(p, i);
	r->end_ticks = now;
	r->lost = lost;
	r->timed_messages = i - lost;
	if (rc == 0 && round_quit(r))
		round_look_for_failure(r);
	return rc < 0 ? -1 : 0;
}

/* The server's loop: answers until the client has said how many there were. */
static ALWAYS_INLINE int pingpong_server(struct pingpong *p, pingpong_post *post,
					 pingpong_arrived *arrived, pingpong_tidy *tidy,
					 const unsigned mode)
{
	struct round *r = p->round;
	uint64_t i = 0;
	int rc = 0;

	for (;;) {
		while ((rc = arrived(p, i + 1)) == 0) {
			if (UNLIKELY(round_quit(r) || i >= round_due(r)))
				goto out;
			if (UNLIKELY((rc = pingpong_idle(p, post, i, mode)) < 0))
				goto out;
		}
		if (UNLIKELY(rc < 0 || (rc = post(p, i + 1)) < 0 || (rc = tidy(p)) < 0))
			goto out;
		if (mode & PINGPONG_SLEEPS)
			bell_busy(&r->qps->bell);
		round_progress(r, ++i);
		if (UNLIKELY(round_quit(r)))
			break; /* also for a peer that never pauses */
	}
out:
	pingpong_leave(p, i);
	if (rc == 0 && round_quit(r))
		round_look_for_failure(r);
	return rc < 0 ? -1 : 0;
}

/* The instance of a body that round P's is for, where MODE says all but whether it sleeps. */
#define PINGPONG_PICK(body, p, post, arrived, tidy, mode)                                  \
	(round_sleeps((p)->round) ? body(p, post, arrived, tidy, (mode) | PINGPONG_SLEEPS) \
				  : body(p, post, arrived, tidy, mode))

/* A round of this end's as the client or the server, where MODE is 0 or PINGPONG_LOSSY. */
static ALWAYS_INLINE int pingpong_lead(struct pingpong *p, pingpong_post *post,
				       pingpong_arrived *arrived, pingpong_tidy *tidy,
				       const unsigned mode)
{
	const unsigned keep = mode | PINGPONG_KEEP;

	if (p->round->gap_ns && p->round->samples)
		return PINGPONG_PICK(pingpong_paced, p, post, arrived, tidy, keep);
	if (p->round->gap_ns)
		return PINGPONG_PICK(pingpong_paced, p, post, arrived, tidy, mode);
	if (p->round->samples)
		return PINGPONG_PICK(pingpong_client, p, post, arrived, tidy, keep);
	return PINGPONG_PICK(pingpong_client, p, post, arrived, tidy, mode);
}

static ALWAYS_INLINE int pingpong_follow(struct pingpong *p, pingpong_post *post,
					 pingpong_arrived *arrived, pingpong_tidy *tidy,
					 const unsigned mode)
{
	return PINGPONG_PICK(pingpong_server, p, post, arrived, tidy, mode);
}

#endif

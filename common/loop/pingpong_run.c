// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ping-pongs of messages that each consume a receive: SENDs, WRITEs with an immediate; and of
 * requests whose completion is the answer: READs, atomics.
 */
#include <endian.h>

#include "loop/loops.h"
#include "loop/pingpong.h"

#define MARK_MASK UINT64_C(31) /* where all are signalled, the slices are updated once in 32 */

/* Poll the receive CQ: returns 1 if a receive has completed, 0 if not, or -1. Hot. */
static ALWAYS_INLINE int pong_received(struct pingpong *p, uint32_t number)
{
	struct ibv_wc wc;

	(void)number;
	return pingpong_poll(p, p->recv_cq, &wc, "receive");
}

/* A message consumed a receive: post the next batch, if it is due, after the answer. Hot. */
static ALWAYS_INLINE int repost_recv(struct pingpong *p)
{
	return LIKELY(--*p->until_repost) ? 0 : recv_top_up(p->round, 0);
}

/* The number of message I, as immediate data. */
static ALWAYS_INLINE uint32_t message_number(const struct pingpong *p, uint64_t i)
{
	return htobe32((uint32_t)(p->numbered + i));
}

/* Post a message with its number. Hot. */
static ALWAYS_INLINE int send_sequenced(struct pingpong *p, uint32_t number)
{
	p->next->imm_data = number;
	return pingpong_send(p, number);
}

/*
 * Returns 1 if message NUMBER has arrived, 0 if not, -1. A late or repeated message is ignored, and
 * its receive reposted. Hot.
 */
static ALWAYS_INLINE int received_sequenced(struct pingpong *p, uint32_t number)
{
	struct ibv_wc wc;
	int rc = pingpong_poll(p, p->recv_cq, &wc, "receive");

	if (rc != 1 || LIKELY(wc.imm_data == number))
		return rc;
	cq_wait_busy(&p->round->qps->cq_wait);
	return repost_recv(p);
}

static const struct pingpong_hooks messages = {
	.number = pingpong_unsequenced,
	.post = pingpong_send,
	.sent = pingpong_sent,
	.arrived = pong_received,
	.tidy = repost_recv,
};
static const struct pingpong_hooks sequenced_messages = {
	.number = message_number,
	.post = send_sequenced,
	.sent = pingpong_sent,
	.arrived = received_sequenced,
	.tidy = repost_recv,
};

/* Message I, or a later one, has been posted: update the slices now and then. Hot. */
static ALWAYS_INLINE int mark_sometimes(struct pingpong *p, uint64_t i)
{
	if (UNLIKELY(!(i & MARK_MASK)) && UNLIKELY(i > p->round->result.slices.next))
		pingpong_mark(p);
	return 0;
}

/* Post by the ibv_wr_* calls. Hot. */
static ALWAYS_INLINE int send_by_call(struct pingpong *p, uint32_t number)
{
	int rc = p->call(&p->to, p->next, p->next + 1, 1);

	(void)number;
	return LIKELY(rc == 0) ? 0 : round_verb_failed(p->round, rc, "ibv_wr_complete");
}

/* All of this end's messages are signalled. The queue has place for twice as many. Hot. */
static ALWAYS_INLINE int repost_and_reap(struct pingpong *p)
{
	return repost_recv(p) || pingpong_reap_each(p, p->round->qps->tx_depth / 2)
		       ? -1
		       : mark_sometimes(p, pingpong_count(p));
}

static const struct pingpong_hooks signalled_messages = {
	.number = pingpong_unsequenced,
	.post = send_by_call,
	.sent = pingpong_sent,
	.arrived = pong_received,
	.tidy = repost_and_reap,
};

/* Start P where every message is signalled. True if so. */
static bool reaps_each(struct pingpong *p, struct round *r)
{
	pingpong_init(p, r);
	p->reaps = p->call != NULL;
	p->reaped = pingpong_count(p);
	return p->reaps;
}

int pingpong_run(struct round *r)
{
	struct pingpong p;

	if (reaps_each(&p, r))
		return pingpong_lead(&p, &signalled_messages, 0);
	return r->unreliable ? pingpong_lead(&p, &sequenced_messages, PINGPONG_UNRELIABLE)
			     : pingpong_lead(&p, &messages, 0);
}

int pingpong_answer(struct round *r)
{
	struct pingpong p;

	if (reaps_each(&p, r))
		return pingpong_follow(&p, &signalled_messages, 0);
	return r->unreliable ? pingpong_follow(&p, &sequenced_messages, PINGPONG_UNRELIABLE)
			     : pingpong_follow(&p, &messages, 0);
}

/* Poll the send CQ: returns 1 if the request is complete, 0 if not, or -1. Hot. */
static ALWAYS_INLINE int fetch_completed(struct pingpong *p, uint32_t number)
{
	struct ibv_wc wc;

	(void)number;
	return pingpong_poll(p, p->send_cq, &wc, "request");
}

static ALWAYS_INLINE int fetch_nothing(struct pingpong *p)
{
	(void)p;
	return 0;
}

static const struct pingpong_hooks requests = {
	.number = pingpong_unsequenced,
	.post = pingpong_send,
	.sent = mark_sometimes,
	.arrived = fetch_completed,
	.tidy = fetch_nothing,
};
static const struct pingpong_hooks requests_by_call = {
	.number = pingpong_unsequenced,
	.post = send_by_call,
	.sent = mark_sometimes,
	.arrived = fetch_completed,
	.tidy = fetch_nothing,
};

int fetch_run(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r);
	p.plain.send_flags |= IBV_SEND_SIGNALED;
	p.signal_mask = UINT64_MAX; /* all are: the first, too, is not chosen for another one */
	cq_wait_start(&r->qps->cq_wait, &r->qps->send, NULL);
	return p.call ? pingpong_lead(&p, &requests_by_call, 0) : pingpong_lead(&p, &requests, 0);
}

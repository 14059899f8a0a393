// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/pingpong.h"

#include <string.h>

#include "verbs/transport.h"

#define REAP_BATCH 4

void pingpong_init(struct pingpong *p, struct round *r)
{
	uint64_t interval = 1;

	memset(p, 0, sizeof(*p));
	p->round = r;
	p->qp = r->qps->qp[0];
	p->send_cq = r->qps->send_cq;
	p->recv_cq = r->qps->recv_cq;
	round_build(r, 0, 0, &p->plain, &p->sge);
	if (r->unreliable && post_is_send(r->opcode)) /* the immediate is its number */
		p->plain.opcode = IBV_WR_SEND_WITH_IMM;
	p->from_end = (char *)(uintptr_t)r->memory.from.addr + r->size_bytes;
	p->into_end = (char *)(uintptr_t)r->memory.into.addr + r->size_bytes;
	p->number_mask = r->size_bytes < 4 ? (1u << 8 * r->size_bytes) - 1 : UINT32_MAX;
	p->signalled = p->plain;
	p->signalled.send_flags |= IBV_SEND_SIGNALED;
	/* Two intervals must fit the send queue: one outstanding, and one before its signal. */
	while (interval * 4 <= r->qps->tx_depth)
		interval *= 2;
	p->signal_mask = interval - 1;
	p->last = r->qps->sent;
	p->signal_pending = r->qps->signal_pending;
	p->numbered = r->qps->numbered;
	p->until_repost = r->receives ? r->receives->until_repost : NULL;
	r->result.lost = 0;
	if (r->qps->transport->all_signalled) {
		p->plain.send_flags |= IBV_SEND_SIGNALED;
		p->signal_mask = UINT64_MAX; /* choose no others for a signal */
		p->to = round_to(r, 0, true);
		p->call = post_find(&(struct post_kind){.opcode = p->plain.opcode,
							.aim = round_aim(r),
							.inlined = r->send_inline,
							.extended = true});
	}
	slices_start(&r->result.slices, 0, 0);
	cq_wait_start(&r->qps->cq_wait, NULL, &r->qps->recv);
}

int pingpong_choose(struct pingpong *p)
{
	uint64_t plain = p->signal_mask - (p->last & p->signal_mask);

	if (p->next == &p->signalled) /* it was sent */
		p->signal_pending = true;
	p->next = plain ? &p->plain : &p->signalled;
	p->chosen = plain ? plain : 1;
	p->last += p->chosen;
	return !plain && p->signal_pending ? pingpong_reap(p) : 0;
}

int pingpong_finish(struct pingpong *p, uint64_t messages, int rc)
{
	p->round->result.messages = messages;
	p->round->qps->numbered += messages; /* p->numbered is where this round began */
	p->round->qps->sent = pingpong_count(p);
	p->round->qps->signal_pending = p->signal_pending;
	/* If the wait for the peer was aborted, a failed send of this end may be why. */
	if (rc >= 0 && p->reaps)
		rc = pingpong_reap_each(p, 0);
	if (rc >= 0 && round_aborted(p->round))
		round_look_for_failure(p->round);
	return rc < 0 ? -1 : 0;
}

void pingpong_mark(const struct pingpong *p)
{
	struct round *r = p->round;
	uint64_t samples =
		atomic_load_explicit(&r->control->progress, memory_order_relaxed) - r->result.lost;

	if (r->result.hist && samples >= r->result.slices.next)
		slices_add(&r->result.slices, r->result.hist->sum, samples);
}

uint64_t pingpong_wait_until(const struct pingpong *p, uint64_t due)
{
	const struct round *r = p->round;
	uint64_t now;

	do
		now = clock_ticks(r->clock);
	while (now < due && !round_aborted(r) && round_target(r));
	return now;
}

int pingpong_reap(struct pingpong *p)
{
	struct ibv_wc wc;
	int n;

	while ((n = pingpong_poll(p, p->send_cq, &wc, "request")) == 0)
		if (round_aborted(p->round))
			return 0;
	if (n < 0)
		return -1;
	p->signal_pending = false;
	pingpong_mark(p);
	return 0;
}

int pingpong_reap_each(struct pingpong *p, uint64_t most)
{
	struct ibv_wc wc[REAP_BATCH];
	int n;

	do {
		n = round_poll_checked(p->round, p->send_cq, REAP_BATCH, wc, "request");
		if (n < 0)
			return -1;
		p->reaped += (uint64_t)n;
	} while (pingpong_count(p) - p->reaped > most && !round_aborted(p->round));
	return 0;
}

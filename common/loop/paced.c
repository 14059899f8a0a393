// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/paced.h"

#include <string.h>

typedef unsigned __int128 fixed; /* ticks / 2^64 */

/* Where the schedule stands. */
struct turn {
	struct stream_lane *lane; /* the next to post */
	fixed due;                /* when, from the start */
	unsigned left;            /* of the burst, messages */
};

static fixed to_fixed(double ticks)
{
	uint64_t whole = ticks < 0x1p62 ? (uint64_t)ticks : UINT64_C(1) << 62;

	return (fixed)whole << 64 | (uint64_t)((ticks - (double)whole) * 0x1p64);
}

void paced_init(struct paced *p, double messages_per_s, unsigned burst, unsigned chain,
		const struct clock *c)
{
	memset(p, 0, sizeof(*p));
	p->step = to_fixed(1e9 / messages_per_s / c->ns_per_tick);
	p->late_ticks = (uint64_t)(PACED_LATE_NS / c->ns_per_tick);
	p->burst = (burst + chain - 1) / chain * chain;
}

/*
 * A QP's send queue as far as the CQ has a completion for each post. (No more are made than there
 * are places in the CQ for one of each QP.)
 */
static void limit_room(struct stream *s)
{
	uint64_t places = (uint64_t)s->round->qps->send.cqe / s->count * s->chain;

	for (unsigned i = 0; i < s->count; i++)
		if (s->lane[i].room > places)
			s->lane[i].room = places;
}

/* Post the next chain of the lane whose turn it is; a lane begins with what fills no chain. */
static ALWAYS_INLINE int post(struct stream *s, struct turn *t)
{
	struct paced *p = s->round->paced;
	struct stream_lane *l = t->lane;
	bool odd = s->odd_count && !l->posted;
	unsigned n = odd ? s->odd_count : s->chain;
	struct ibv_send_wr *wr = odd ? s->odd + (size_t)(l - s->lane) * n : l->ring;

	if (s->step)
		stream_walk(s, l, wr, n);
	if (UNLIKELY(s->post(s, l, wr, wr + n, n)))
		return -1;
	l->posted += n;
	l->room -= n;
	s->posted += n;
	if (UNLIKELY(odd)) {
		t->due += p->step * n;
	} else {
		t->left -= n;
		if (!t->left) {
			t->due += p->step * p->burst;
			t->left = p->burst;
		}
	}
	if (++t->lane == s->lane + s->count)
		t->lane = s->lane;
	return 0;
}

/* Post all that is due and has room. */
static ALWAYS_INLINE int post_due(struct stream *s, struct turn *t)
{
	struct round *r = s->round;
	struct paced *p = r->paced;

	while (t->lane->posted < round_target(r) && t->lane->room >= s->chain) {
		uint64_t now = clock_ticks(r->clock) - r->start_ticks;
		uint64_t due = (uint64_t)(t->due >> 64), before = s->posted;

		if (now < due)
			return 0;
		if (post(s, t))
			return -1;
		if (now - due > p->latest_ticks)
			p->latest_ticks = now - due;
		if (UNLIKELY(now - due > p->late_ticks))
			p->late += s->posted - before;
	}
	return 0;
}

/* Take what is complete in the CQ at *AT, and go on to the next. Returns how many completions, or
 * -1 with the fault raised. */
static ALWAYS_INLINE int reap(struct stream *s, struct cq_link **at)
{
	struct round *r = s->round;
	struct ibv_wc wc[STREAM_BATCH];
	int n = ibv_poll_cq((*at)->cq, STREAM_BATCH, wc);

	*at = (*at)->next;
	if (UNLIKELY(n < 0))
		return round_verb_failed(r, n, "ibv_poll_cq");
	for (int k = 0; k < n; k++) {
		if (UNLIKELY(wc[k].status != IBV_WC_SUCCESS))
			return round_completion_failed(r, &wc[k], "request");
		s->lane[(uint32_t)wc[k].wr_id].room += wc[k].wr_id >> STREAM_QP_BITS;
		s->done += wc[k].wr_id >> STREAM_QP_BITS;
	}
	return n;
}

static ALWAYS_INLINE int run(struct stream *s, struct turn *t, const bool both)
{
	struct round *r = s->round;
	struct cq_link *send = r->qps->send.link, *recv = r->qps->recv.link;
	uint64_t now = r->start_ticks;

	/* Lanes take turns, so the next one has the least of all. */
	while (t->lane->posted < round_target(r) || s->done < s->posted) {
		int n;

		if (post_due(s, t))
			return -1;
		n = reap(s, &send);
		if (UNLIKELY(n < 0) || (both && stream_receive_some(r->arrivals, &recv) < 0))
			return -1;
		if (n) {
			if (!r->no_peak) {
				now = clock_ticks(r->clock);
				peak_add(r->peak, now, s->done, n < STREAM_BATCH);
			}
			round_progress(r, s->done);
		} else if (UNLIKELY(round_quit(r))) {
			r->end_ticks = r->no_peak ? 0 : now;
			return 0;
		}
	}
	return 0;
}

int paced_send(struct stream *s)
{
	struct round *r = s->round;
	struct turn t = {.lane = s->lane, .left = r->paced->burst};
	int rc;

	limit_room(s);
	r->start_ticks = clock_ticks(r->clock);
	if (!r->no_peak)
		peak_start(r->peak, r->start_ticks);
	rc = r->arrivals && r->arrivals->receives ? run(s, &t, true) : run(s, &t, false);
	if (!r->end_ticks)
		r->end_ticks = clock_ticks(r->clock);
	r->messages = r->timed_messages = s->done;
	return rc;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/stream.h"

#include "loop/paced.h"

/* With a footprint: set the next addresses in the COUNT requests at WR of QP L. Hot. */
static ALWAYS_INLINE void walk(const struct stream *s, struct stream_qp *l, struct ibv_send_wr *wr,
			       unsigned count)
{
	for (; count; count--, wr++) {
		wr->sg_list->addr = l->here + l->at;
		if (l->there)
			wr->wr.rdma.remote_addr = l->there + l->at;
		l->at += s->step;
		if (l->at > s->last)
			l->at = 0;
	}
}

/* Post COUNT requests of L from WR on, in chains of CHAIN. Returns 0, or -1. */
static ALWAYS_INLINE int post_sends(struct stream *s, struct stream_qp *l, struct ibv_send_wr *wr,
				    unsigned count, unsigned chain)
{
	if (s->step)
		walk(s, l, wr, count);
	if (UNLIKELY(stream_post(s, l, wr, count, chain)))
		return -1;
	l->posted += count;
	l->room -= count;
	s->posted += count;
	return 0;
}

/* Post the requests that do not fill a ring: one chain, the last request signalled. */
static ALWAYS_INLINE int post_odd(struct stream *s, struct stream_qp *l)
{
	return post_sends(s, l, s->odd + (size_t)(l - s->qp) * s->odd_count, s->odd_count,
			  s->odd_count);
}

/* Post whole rings while there is room and L has not reached TARGET. */
static ALWAYS_INLINE int fill_send_queue(struct stream *s, struct stream_qp *l, uint64_t target)
{
	const unsigned ring = s->ring_count;

	while (l->room >= ring && l->posted < target)
		if (UNLIKELY(post_sends(s, l, l->ring, ring, s->chain)))
			return -1;
	return 0;
}

/* Position in a schedule. */
struct turn {
	struct stream_qp *qp;  /* the next QP to post to */
	unsigned __int128 due; /* when to post, from the start: the high 64 bits are ticks */
	unsigned left;         /* messages left of the burst */
};

/*
 * Post the next chain of the QP whose turn it is; at first the messages that fill no ring. With a
 * schedule a ring is one chain, there are fewer odd messages than that, and a burst is a multiple
 * of it. Returns the number of messages, or -1.
 */
static ALWAYS_INLINE int post_turn(struct stream *s, struct turn *t)
{
	const struct paced *p = s->round->paced;
	struct stream_qp *l = t->qp;
	bool odd = s->odd_count && !l->posted;
	unsigned n = odd ? s->odd_count : s->chain;

	if (UNLIKELY(odd ? post_odd(s, l) : post_sends(s, l, l->ring, n, n)))
		return -1;
	if (UNLIKELY(odd)) {
		t->due += p->step * n;
	} else {
		t->left -= n;
		if (!t->left) {
			t->due += p->step * p->burst;
			t->left = p->burst;
		}
	}
	if (++t->qp == s->qp + s->count)
		t->qp = s->qp;
	return (int)n;
}

/* Post all messages that are due, while the send queue has room; note how late each is. */
static ALWAYS_INLINE int post_due(struct stream *s, struct turn *t)
{
	const struct round *r = s->round;

	while (t->qp->posted < round_target(r) && t->qp->room >= s->chain) {
		uint64_t now = clock_ticks(r->clock) - r->result.start_ticks;
		uint64_t due = (uint64_t)(t->due >> 64);
		int n;

		if (now < due)
			return 0;
		n = post_turn(s, t);
		if (UNLIKELY(n < 0))
			return -1;
		paced_was_late(r->paced, now - due, (uint64_t)n);
	}
	return 0;
}

/* How a sender waits and posts: a constant. */
enum send_mode {
	SPINS,
	SLEEPS, /* on events */
	PACED   /* posts by the schedule and spins */
};

/*
 * A poll found nothing: note it for the peak, and for how long there was nothing to do. TURN: in a
 * schedule, otherwise NULL; SURE: read the clock. Not inlined: the busy path keeps the registers.
 */
static __attribute__((noinline)) void note_empty_poll(struct stream *s, const struct turn *turn,
						      bool peak, bool sure)
{
	struct round *r = s->round;
	uint64_t did = s->posted + s->done + (r->arrivals ? r->arrivals->result.messages : 0);
	bool early = turn && turn->qp->posted < round_target(r) && turn->qp->room >= s->chain;
	struct idle_time *idle = early ? &r->result.scheduled : &r->result.idle;
	bool fresh = s->did != (did << 1 | early), read = idle_empty(idle, fresh);
	uint64_t ticks;

	s->did = did << 1 | early;
	if (!read && !peak && !sure)
		return;
	ticks = clock_ticks(r->clock);
	idle_timed(idle, ticks);
	if (peak)
		peak_empty(r->result.peak, ticks);
}

/* A poll found nothing: note it, and sleep on events unless receives came. As above but SLEEPS. */
static ALWAYS_INLINE int wait_for_more(struct stream *s, const bool sleeps, bool came,
				       const struct turn *turn, const bool peak)
{
	if (sleeps) {
		note_empty_poll(s, NULL, false, true);
		if (round_sleep_if_idle(s->round, came))
			return -1;
	}
	note_empty_poll(s, turn, peak, sleeps);
	return 0;
}

/*
 * Poll completions and refill their QPs until nothing is under way. More constants: PEAK: compute
 * the peak; BOTH: poll the receives of the other direction, too.
 */
static ALWAYS_INLINE int drain_cq(struct stream *s, const enum send_mode mode, const bool peak,
				  const bool both)
{
	const bool sleeps = mode == SLEEPS, paced = mode == PACED;
	struct round *r = s->round;
	struct cq_link *at = r->qps->send.link, *arrivals_at = r->qps->recv.link;
	struct ibv_wc wc[STREAM_BATCH_MAX];
	struct turn turn = {.qp = s->qp, .left = paced ? r->paced->burst : 0};
	unsigned batch = STREAM_BATCH;
	uint64_t target, now = r->result.start_ticks;

	/* QPs post in turn, so the next QP has posted the fewest messages. */
	while (s->done < s->posted || (paced && turn.qp->posted < round_target(r))) {
		int n, came = 0;

		if (paced && post_due(s, &turn))
			return -1;
		n = round_poll(r, at->cq, batch, wc);
		at = at->next;
		if (both && (came = stream_receive_some(r->arrivals, &arrivals_at)) < 0)
			return -1;
		if (UNLIKELY(n <= 0)) {
			if (n < 0)
				return -1;
			if (UNLIKELY(round_aborted(r))) {
				/* The time since the last completion is not part of the result. */
				r->result.end_ticks = peak ? now : 0;
				return 0;
			}
			if (wait_for_more(s, sleeps, came > 0, paced ? &turn : NULL, peak))
				return -1;
			continue;
		}
		if (sleeps)
			round_sleep_if_idle(r, true);
		if (peak) /* before the posts below, so that their time is not added */
			now = clock_ticks(r->clock);
		target = round_target(r);
		for (int k = 0; k < n; k++) {
			struct stream_qp *l = &s->qp[(uint32_t)wc[k].wr_id];

			if (UNLIKELY(wc[k].status != IBV_WC_SUCCESS))
				return round_completion_failed(r, &wc[k], "request");
			l->room += wc[k].wr_id >> STREAM_QP_BITS;
			s->done += wc[k].wr_id >> STREAM_QP_BITS;
			if (!paced && UNLIKELY(fill_send_queue(s, l, target)))
				return -1;
		}
		if (peak)
			peak_add(r->result.peak, now, s->done);
		if (UNLIKELY(s->done >= r->result.slices.next))
			slices_add(&r->result.slices, peak ? now : clock_ticks(r->clock), s->done);
		batch = stream_batch(batch, (unsigned)n);
		round_progress(r, s->done);
	}
	return 0;
}

/* Call the instance of drain_cq() for these constants. */
static ALWAYS_INLINE int drain_in_mode(struct stream *s, const enum send_mode mode, bool both)
{
	if (s->round->no_peak)
		return both ? drain_cq(s, mode, false, true) : drain_cq(s, mode, false, false);
	return both ? drain_cq(s, mode, true, true) : drain_cq(s, mode, true, false);
}

static int drain_all(struct stream *s, bool both)
{
	if (s->round->paced)
		return drain_in_mode(s, PACED, both);
	return round_sleeps(s->round) ? drain_in_mode(s, SLEEPS, both)
				      : drain_in_mode(s, SPINS, both);
}

/* Begin the peak of S's round, whose clock has started. */
static void start_peak(struct stream *s)
{
	struct round *r = s->round;
	unsigned group = s->group > s->odd_group ? s->group : s->odd_group;
	struct peak_run run = {
		.ticks = r->result.start_ticks,
		/* + 1: the message under way may be complete but for its last byte */
		.unseen = (uint64_t)s->count * (group - 1) + 1,
		.cqs = r->qps->send.count,
	};

	peak_start(r->result.peak, &run);
}

/*
 * Fill the send queues of all QPs, if there is no schedule. The messages that fill no ring are
 * posted first, so that the run ends with full rings and no pause before them.
 */
static int begin_stream(struct stream *s)
{
	for (struct stream_qp *l = s->qp; l < s->qp + s->count; l++)
		if ((s->odd_count && post_odd(s, l)) ||
		    fill_send_queue(s, l, round_target(s->round)))
			return -1;
	return 0;
}

/*
 * With a schedule, limit the room in each QP's send queue to as many posts as its share of the CQ
 * has places for, one completion each. (The CQ has at least one place for each QP.)
 */
static void limit_room(struct stream *s)
{
	uint64_t places = (uint64_t)s->round->qps->send.cqe / s->count * s->group;

	for (unsigned i = 0; i < s->count; i++)
		if (s->qp[i].room > places)
			s->qp[i].room = places;
}

/*
 * How many messages of S are under way on average while its send queues are full: a QP posts when
 * there is room for a ring, and completions come in groups.
 */
static double stream_in_flight(const struct stream *s)
{
	double sum = 0;

	for (unsigned i = 0; i < s->count; i++)
		sum += (double)(s->qp[i].room / s->ring_count * s->ring_count) -
		       (s->ring_count - s->group) / 2.0;
	return sum;
}

/* Run the whole stream: post, poll until all is complete, set the results. Returns 0 or -1. */
static int send_all(struct stream *s)
{
	struct round *r = s->round;
	bool both = r->arrivals && r->arrivals->receives;
	int rc = 0;

	if (r->paced)
		limit_room(s);
	r->result.in_flight = stream_in_flight(s);
	idle_start(&r->result.idle, r->qps->send.count);
	idle_start(&r->result.scheduled, r->paced ? r->qps->send.count : 0);
	cq_wait_start(&r->qps->cq_wait, &r->qps->send, both ? &r->qps->recv : NULL);
	r->result.start_ticks = clock_ticks(r->clock);
	slices_start(&r->result.slices, r->result.start_ticks, 0);
	if (!r->no_peak)
		start_peak(s);
	if (!r->paced)
		rc = begin_stream(s);
	if (rc == 0)
		rc = drain_all(s, both);
	if (!r->result.end_ticks)
		r->result.end_ticks = clock_ticks(r->clock);
	if (rc == 0 && r->paced)
		rc = stream_rest(r, s->posted, both ? r->arrivals : NULL);
	if (round_aborted(r))
		idle_end(&r->result.idle);
	r->result.messages = r->result.timed_messages = s->done;
	return rc;
}

int stream_run(struct round *r)
{
	struct stream s;
	int rc = stream_init(&s, r);

	if (rc == 0 && r->ready)
		r->ready(r);
	if (rc == 0 && r->alone)
		rc = stream_alone(&s);
	if (rc == 0)
		rc = send_all(&s);
	stream_release(&s);
	return rc;
}

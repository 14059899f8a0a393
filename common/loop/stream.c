// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/stream.h"

#include "base/account.h"
#include "base/peak.h"
#include "loop/alone.h"
#include "loop/loops.h"
#include "loop/paced.h"

/* Post COUNT requests from L's next one on, in chains of CHAIN. Returns 0, or -1. */
static ALWAYS_INLINE int post_sends(struct stream *s, struct stream_qp *l, uint64_t count,
				    unsigned chain)
{
	struct ibv_send_wr *wr = l->end - l->left;

	if (UNLIKELY(stream_post(s, l, wr, wr + count, chain)))
		return -1;
	l->left -= count;
	if (!l->left)
		l->left = s->ring_count;
	l->posted += count;
	l->room -= count;
	s->under_way += count;
	return 0;
}

/* Post L's last COUNT messages: what is left of its ring is not less. */
static __attribute__((noinline)) int post_last(struct stream *s, struct stream_qp *l,
					       uint64_t count)
{
	uint64_t odd = count % s->chain, at = s->ring_count - l->left + count;
	struct ibv_send_wr *last = l->end - l->left + count - 1;

	last->next = NULL;
	last->send_flags |= IBV_SEND_SIGNALED;
	last->wr_id = ((at - 1) % s->round->cq_mod + 1) << STREAM_QP_BITS | (uint64_t)(l - s->qp);
	if ((count > odd && post_sends(s, l, count - odd, s->chain)) ||
	    (odd && post_sends(s, l, odd, (unsigned)odd)))
		return -1;
	l->left = s->ring_count;
	return 0;
}

/*
 * How many messages L has yet to post: up to TARGET or, told to stop, to one with a completion. The
 * first QP has one even if -D was over before the thread had a CPU: nothing would be measured.
 */
static ALWAYS_INLINE uint64_t to_post(const struct stream *s, const struct stream_qp *l,
				      uint64_t target)
{
	if (LIKELY(l->posted < target))
		return target - l->posted;
	return s->under_way || s->done ? l->left % s->round->cq_mod : 1;
}

/* Post as much as there is room for. */
static ALWAYS_INLINE int fill_send_queue(struct stream *s, struct stream_qp *l, uint64_t target)
{
	uint64_t more;

	while (l->room >= s->chain && (more = to_post(s, l, target))) {
		uint64_t n = l->left < l->room ? l->left : l->room;

		if (UNLIKELY(more <= n) ? post_last(s, l, more) : post_sends(s, l, n, s->chain))
			return -1;
	}
	return 0;
}

/* MESSAGES of L completed: fill their places. */
static __attribute__((noinline)) int refill(struct stream *s, struct stream_qp *l,
					    uint64_t messages, uint64_t target)
{
	l->room += messages;
	s->under_way -= messages;
	return fill_send_queue(s, l, target);
}

/*
 * The same, inline. Most often it is a whole ring, which takes their places as it is. (With several
 * QPs, what a completion is of is a ring, or divides it; less than a ring is then never left.)
 */
static ALWAYS_INLINE int post_again(struct stream *s, struct stream_qp *l, uint64_t messages,
				    uint64_t target)
{
	if (UNLIKELY(messages != l->left || l->posted + messages >= target))
		return refill(s, l, messages, target);
	l->posted += messages;
	return stream_post(s, l, l->ring, l->end, s->chain);
}

/* With a schedule: have the QPs to go on? They end together. */
static ALWAYS_INLINE bool turns_go_on(const struct stream *s)
{
	return to_post(s, s->turn, round_target(s->round)) || s->turn != s->qp;
}

/*
 * Post a list of L's, if it is due and has room, or of an ONLY QP as many as its ring has in a row.
 * The last one may have fewer messages; it has its time all the same. Returns 0, 1: go on, or -1.
 */
static ALWAYS_INLINE int post_due(struct stream *s, struct stream_qp *l, const bool only)
{
	struct paced *p = s->round->paced;
	uint64_t more = to_post(s, l, round_target(s->round)), late = p->late, n;

	if (!more || l->room < s->chain)
		return !more;
	n = !only ? s->chain : l->left < l->room ? l->left : l->room;
	n = paced_take(p, clock_ticks(s->round->clock), n);
	if (LIKELY(n < more))
		return n && post_sends(s, l, n, s->chain) ? -1 : n > 0;
	if (p->late > late + more)
		p->late = late + more;
	return post_last(s, l, more) ? -1 : 1;
}

/* Post what is due, list by list, one QP after the other, while there is room. */
static ALWAYS_INLINE int post_due_in_turn(struct stream *s)
{
	struct stream_qp *last = s->qp + s->count - 1;
	int rc = 0;

	while (turns_go_on(s) && (rc = post_due(s, s->turn, false)) > 0)
		s->turn = s->turn == last ? s->qp : s->turn + 1;
	return rc;
}

/* How a sender waits and posts: a constant. */
enum send_mode {
	SPINS,
	SLEEPS, /* on events */
	PACED   /* posts by the schedule and spins */
};

/*
 * A poll found nothing: note it for the peak, and for how long there was nothing to do. SURE: read
 * the clock. Not inlined: the busy path keeps the registers.
 */
static __attribute__((noinline)) void note_empty_poll(struct stream *s, bool peak, bool sure)
{
	struct round *r = s->round;
	uint64_t did =
		2 * s->done + s->under_way + (r->arrivals ? r->arrivals->result.messages : 0);
	bool early = r->paced && s->turn->room >= s->chain && turns_go_on(s);
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
static ALWAYS_INLINE int wait_for_more(struct stream *s, const bool sleeps, bool came, bool peak)
{
	if (sleeps) {
		note_empty_poll(s, false, true);
		if (round_sleep_if_idle(s->round, came))
			return -1;
	}
	note_empty_poll(s, peak, sleeps);
	return 0;
}

/* Make room for what N completions are of, and fill it unless PACED. Returns 0, or -1. */
static ALWAYS_INLINE int completed(struct stream *s, const struct ibv_wc *wc, int n,
				   const bool paced)
{
	const uint64_t target = round_target(s->round);
	struct stream_qp *l = s->qp;

	for (int k = 0; k < n; k++) {
		uint64_t messages = wc[k].wr_id >> STREAM_QP_BITS;

		if (UNLIKELY(wc[k].status != IBV_WC_SUCCESS))
			return round_completion_failed(s->round, &wc[k], "request");
		l = &s->qp[(uint32_t)wc[k].wr_id];
		s->done += messages;
		if (paced) {
			l->room += messages;
			s->under_way -= messages;
		} else if (UNLIKELY(post_again(s, l, messages, target))) {
			return -1;
		}
	}
	return 0;
}

/* The same with one QP, number 0: what counts is the sum. */
static ALWAYS_INLINE int completed_one_qp(struct stream *s, const struct ibv_wc *wc, int n,
					  const bool paced)
{
	struct stream_qp *l = s->qp;
	unsigned bad = 0; /* IBV_WC_SUCCESS is 0 */
	uint64_t sum = 0;

	for (int k = 0; k < n; k++) {
		bad |= wc[k].status;
		sum += wc[k].wr_id;
	}
	if (UNLIKELY(bad))
		return round_batch_failed(s->round, wc, "request");
	l->room += sum >> STREAM_QP_BITS;
	s->done += sum >> STREAM_QP_BITS;
	s->under_way -= sum >> STREAM_QP_BITS;
	return paced ? 0 : fill_send_queue(s, l, round_target(s->round));
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
	unsigned batch = STREAM_BATCH;
	uint64_t now = r->result.start_ticks;

	while (s->under_way || (paced && turns_go_on(s))) {
		int n, came = 0;

		if (paced && (s->count == 1 ? post_due(s, s->qp, true) : post_due_in_turn(s)) < 0)
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
			if (wait_for_more(s, sleeps, came > 0, peak))
				return -1;
			continue;
		}
		if (sleeps)
			round_sleep_if_idle(r, true);
		if (peak) /* before the posts below, so that their time is not added */
			now = clock_ticks(r->clock);
		if (UNLIKELY(s->count == 1 ? completed_one_qp(s, wc, n, paced)
					   : completed(s, wc, n, paced)))
			return -1;
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
	/* + 1: the message under way may be complete but for its last byte */
	uint64_t unseen = (uint64_t)s->count * (r->cq_mod - 1) + 1;

	peak_start(r->result.peak, &(struct peak_run){.ticks = r->result.start_ticks,
						      .unseen = unseen,
						      .cqs = r->qps->send.count});
}

/*
 * With a schedule, limit the room in each QP's send queue to as many completions as its share of
 * the CQ has places for. (The CQ has at least one place for each QP.)
 */
static void limit_room(struct stream *s)
{
	uint64_t places = (uint64_t)s->round->qps->send.cqe / s->count * s->round->cq_mod;

	for (unsigned i = 0; i < s->count; i++)
		if (s->qp[i].room > places)
			s->qp[i].room = places;
}

/*
 * How many messages of S are under way on average while its send queues are full: a QP posts when
 * there is room for a list, and completions come in groups.
 */
static double stream_in_flight(const struct stream *s)
{
	double waits = s->chain > s->round->cq_mod ? (s->chain - s->round->cq_mod) / 2.0 : 0,
	       sum = 0;

	for (unsigned i = 0; i < s->count; i++)
		sum += (double)s->qp[i].room - waits;
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
	if (r->paced)
		paced_start(r->paced, r->result.start_ticks);
	for (unsigned i = 0; i < s->count && rc == 0 && !r->paced; i++)
		rc = fill_send_queue(s, &s->qp[i], round_target(r));
	if (rc == 0)
		rc = drain_all(s, both);
	if (!r->result.end_ticks)
		r->result.end_ticks = clock_ticks(r->clock);
	if (rc == 0 && r->paced)
		rc = stream_rest(r, s->done + s->under_way, both ? r->arrivals : NULL);
	if (round_aborted(r))
		idle_end(&r->result.idle);
	r->result.messages = r->result.timed_messages = s->done;
	return rc;
}

int stream_run(struct round *r)
{
	struct stream s;
	int rc = stream_init(&s, r);

	if (rc == 0 && r->account)
		account_start(r->account);
	if (rc == 0 && r->alone)
		rc = stream_alone(&s);
	if (rc == 0)
		rc = send_all(&s);
	stream_release(&s);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The lone messages at the start of a warm-up. */
#include "loop/stream.h"

#include <sched.h>

#include "loop/alone.h"
#include "stat/series.h"

#define ALONE_NS 5000000 /* after this no more than ALONE_LEAST are begun */

/* The messages that are timed. */
struct lone {
	double ticks[ALONE_MOST];
	unsigned count;
	uint64_t until; /* when no more are begun */
	struct ibv_send_wr wr;
};

/* Is there to be another one, NOW? */
static bool goes_on(const struct lone *lone, uint64_t now)
{
	return lone->count < ALONE_LEAST || (lone->count < ALONE_MOST && now < lone->until);
}

/* Post WR, a lone request of L. */
static int post_lone(struct stream *s, struct stream_qp *l, struct ibv_send_wr *wr)
{
	if (stream_post(s, l, wr, wr + 1, 1))
		return -1;
	l->posted++;
	s->under_way++;
	return 0;
}

/* Wait until S's lone request is complete, or the round is aborted. */
static int await_lone(struct stream *s)
{
	const struct round *r = s->round;
	struct cq_link *at = r->qps->send.link;
	struct ibv_wc wc;

	for (; !round_aborted(r); at = at->next) {
		int n = round_poll_checked(r, at->cq, 1, &wc, "request");

		if (n < 0 || (round_sleeps(r) && round_sleep_if_idle(r, n > 0)))
			return -1;
		if (n) {
			s->under_way--;
			round_progress(r, ++s->done);
			return 0;
		}
	}
	return 0;
}

/* Send up to MOST messages on L, one after the other. */
static int send_alone(struct stream *s, struct stream_qp *l, struct lone *lone, uint64_t most)
{
	const struct round *r = s->round;
	uint64_t before;

	lone->wr = l->end[-(ptrdiff_t)l->left];
	lone->wr.next = NULL;
	lone->wr.send_flags |= IBV_SEND_SIGNALED;
	before = clock_ticks(r->clock);
	for (; most && goes_on(lone, before); most--) {
		uint64_t now;

		if (post_lone(s, l, &lone->wr) || await_lone(s))
			return -1;
		now = clock_ticks(r->clock);
		lone->ticks[lone->count++] = (double)(now - before);
		before = now;
	}
	return 0;
}

/* QP after QP, at most half of its messages: the warm-up is to fill its queue, too. */
static int measure_alone(struct stream *s)
{
	const struct round *r = s->round;
	uint64_t target = round_target(r);
	struct lone lone = {
		.until = clock_ticks(r->clock) + (uint64_t)(ALONE_NS / r->clock->ns_per_tick),
	};
	uint64_t median;

	if (target == ROUND_ENDLESS)
		return 0;
	cq_wait_start(&r->qps->cq_wait, &r->qps->send, NULL);
	for (unsigned i = 0; i < s->count && goes_on(&lone, clock_ticks(r->clock)); i++)
		if (send_alone(s, &s->qp[i], &lone, target / 2))
			return -1;
	if (lone.count < ALONE_LEAST || round_aborted(r))
		return 0;
	series_sort(lone.ticks, lone.count);
	median = (uint64_t)lone.ticks[lone.count / 2];
	r->alone->ticks = median ? median : 1; /* a coarse clock, as arm64's, may not have moved */
	return 0;
}

int stream_alone(struct stream *s)
{
	const struct round *r = s->round;
	int rc = 0;

	if (r->alone_first) {
		rc = measure_alone(s);
		atomic_store(&r->alone->over, 1);
	}
	while (!atomic_load_explicit(&r->alone->over, memory_order_relaxed) && !round_aborted(r))
		sched_yield();
	return rc;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The receiver of a stream. */
#include "loop/stream.h"

#define TRIAL_BATCH 4 /* so that a short warm-up has enough of them */

/* How it looks into the CQ: a constant. */
enum look {
	BY_POLL,  /* ibv_poll_cq */
	EXTENDED, /* ibv_start_poll */
	BY_TRIAL  /* both in turns, each time noted */
};

/* Take up to BATCH completions and give the receives back. Returns how many, or -1. */
static ALWAYS_INLINE int take(const struct round *r, const struct cq_link *at, unsigned batch)
{
	struct ibv_wc wc[STREAM_BATCH_MAX];
	int n = ibv_poll_cq(at->cq, (int)batch, wc);

	if (LIKELY(n == 0))
		return 0;
	if (UNLIKELY(n < 0))
		return round_verb_failed(r, n, "ibv_poll_cq");
	return recv_take(r->receives, r, wc, n) ? -1 : n;
}

/* The completion that CQ stands at is a bad one. */
static __attribute__((cold)) int bad_completion(const struct round *r, struct ibv_cq_ex *cq)
{
	struct ibv_wc wc = {
		.status = cq->status,
		.vendor_err = ibv_wc_read_vendor_err(cq),
		.qp_num = ibv_wc_read_qp_num(cq),
	};

	return round_completion_failed(r, &wc, "receive");
}

/* The same of an extended CQ, one after the other. */
static ALWAYS_INLINE int take_extended(const struct round *r, const struct cq_link *at,
				       unsigned batch)
{
	struct ibv_poll_cq_attr attr = {0};
	struct recv_queue *q = r->receives;
	struct ibv_cq_ex *cq = at->cq_ex;
	int n = 0, rc = ibv_start_poll(cq, &attr);

	if (rc == ENOENT)
		return 0;
	if (UNLIKELY(rc))
		return round_verb_failed(r, rc, "ibv_start_poll");
	do {
		if (UNLIKELY(cq->status != IBV_WC_SUCCESS)) {
			rc = bad_completion(r, cq);
			break;
		}
		rc = recv_consumed(q, cq->wr_id);
		if (UNLIKELY(rc)) {
			rc = round_verb_failed(r, rc, "ibv_post_recv");
			break;
		}
	} while ((unsigned)++n < batch && ibv_next_poll(cq) == 0);
	ibv_end_poll(cq);
	return UNLIKELY(rc) ? -1 : n;
}

static int take_in_turn(const struct round *r, const struct cq_link *at)
{
	unsigned way = trial_turn(r->trial);
	uint64_t before = clock_ticks(r->clock);
	int n = way ? take_extended(r, at, TRIAL_BATCH) : take(r, at, TRIAL_BATCH);

	if (n > 0)
		trial_add(r->trial, way, clock_ticks(r->clock) - before, (unsigned)n);
	return n;
}

int stream_receive_some(struct round *arrivals, struct cq_link **at)
{
	int n = take(arrivals, *at, STREAM_BATCH);

	*at = (*at)->next;
	if (n > 0)
		arrivals->messages += (uint64_t)n;
	return n;
}

/* SLEEPS and LOOK are constants: on events, else it spins; and how it polls. */
static ALWAYS_INLINE int receive(struct round *r, const bool sleeps, const enum look look)
{
	struct cq_link *at = r->qps->recv.link;
	uint64_t done = r->messages, first = 0;
	unsigned batch = STREAM_BATCH;
	bool fresh = false;
	int n, rc = 0;

	r->start_ticks = r->end_ticks = 0;
	while (done < round_due(r)) {
		n = look == EXTENDED   ? take_extended(r, at, batch)
		    : look == BY_TRIAL ? take_in_turn(r, at)
				       : take(r, at, batch);
		at = at->next;
		if (n == 0) {
			/* The clock is read when the stream pauses: the last pause ends the run. */
			if (fresh)
				r->end_ticks = clock_ticks(r->clock);
			fresh = false;
			if (UNLIKELY(round_quit(r)))
				break;
			if (sleeps && (rc = round_rest(r, false)))
				break;
			continue;
		}
		if (UNLIKELY(n < 0)) {
			rc = n;
			break;
		}
		if (sleeps)
			round_rest(r, true);
		done += (uint64_t)n;
		fresh = true;
		if (UNLIKELY(!r->start_ticks)) {
			r->start_ticks = clock_ticks(r->clock);
			first = done;
		}
		batch = stream_batch(batch, (unsigned)n);
		round_progress(r, done);
	}
	if (fresh)
		r->end_ticks = clock_ticks(r->clock);
	r->messages = done;
	/* The clock starts with the first arrivals, so these are not part of what it times. */
	r->timed_messages = done - first;
	return rc;
}

int stream_receive(struct round *r)
{
	bell_start(&r->qps->bell, NULL, &r->qps->recv);
	if (round_sleeps(r))
		return receive(r, true, BY_POLL);
	if (r->trial)
		return receive(r, false, BY_TRIAL);
	return r->extended ? receive(r, false, EXTENDED) : receive(r, false, BY_POLL);
}

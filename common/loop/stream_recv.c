// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The receiver of a stream. */
#include "loop/loops.h"
#include "loop/paced.h"
#include "loop/stream.h"

/* Process N completions of the only QP: only their number counts. */
static ALWAYS_INLINE int completed_one_qp(const struct round *r, const struct ibv_wc *wc, int n)
{
	unsigned bad = 0; /* IBV_WC_SUCCESS is 0 */

	for (int k = 0; k < n; k++)
		bad |= wc[k].status;
	if (UNLIKELY(bad))
		return round_batch_failed(r, wc, "receive");
	return recv_top_up_only(r, (unsigned)n);
}

/* Process N receive completions, and re-post receives. Returns 0, or -1. */
static ALWAYS_INLINE int completed(const struct round *r, const struct ibv_wc *wc, int n)
{
	int *const until_repost = r->receives->until_repost;

	if (r->receives->count == 1)
		return completed_one_qp(r, wc, n);
	for (const struct ibv_wc *end = wc + n; wc != end; wc++) {
		if (UNLIKELY(wc->status != IBV_WC_SUCCESS))
			return round_batch_failed(r, wc, "receive");
		if (UNLIKELY(--until_repost[wc->wr_id] == 0) && UNLIKELY(recv_top_up(r, wc->wr_id)))
			return -1;
	}
	return 0;
}

/* Poll up to BATCH completions and repost the receives. Returns the number polled, or -1. */
static ALWAYS_INLINE int poll_receives(const struct round *r, const struct cq_link *at,
				       unsigned batch)
{
	struct ibv_wc wc[STREAM_BATCH_MAX];
	int n = round_poll(r, at->cq, batch, wc);

	if (LIKELY(n == 0))
		return 0;
	return UNLIKELY(n < 0) || completed(r, wc, n) ? -1 : n;
}

/* Raise the failed completion that CQ is at. Returns -1. */
static __attribute__((cold)) int extended_completion_failed(const struct round *r,
							    struct ibv_cq_ex *cq)
{
	struct ibv_wc wc = {
		.status = cq->status,
		.vendor_err = ibv_wc_read_vendor_err(cq),
		.qp_num = ibv_wc_read_qp_num(cq),
	};

	return round_completion_failed(r, &wc, "receive");
}

/* Like poll_receives(), with the ibv_cq_ex API: wr_id is the QP's index. */
static ALWAYS_INLINE int poll_receives_ex(const struct round *r, const struct cq_link *at,
					  unsigned batch)
{
	struct ibv_poll_cq_attr attr = {0};
	int *const until_repost = r->receives->until_repost;
	struct ibv_cq_ex *cq = at->cq_ex;
	int n = 0, rc = ibv_start_poll(cq, &attr);

	if (rc == ENOENT)
		return 0;
	if (UNLIKELY(rc))
		return round_verb_failed(r, rc, "ibv_start_poll");
	do {
		if (UNLIKELY(cq->status != IBV_WC_SUCCESS)) {
			rc = extended_completion_failed(r, cq);
			break;
		}
		if (UNLIKELY(--until_repost[cq->wr_id] == 0) && (rc = recv_top_up(r, cq->wr_id)))
			break;
	} while ((unsigned)++n < batch && ibv_next_poll(cq) == 0);
	ibv_end_poll(cq);
	return UNLIKELY(rc) ? -1 : n;
}

int stream_receive_some(struct round *arrivals, struct cq_link **at)
{
	int n = poll_receives(arrivals, *at, STREAM_BATCH);

	*at = (*at)->next;
	if (n > 0)
		arrivals->result.messages += (uint64_t)n;
	return n;
}

int stream_rest(struct round *r, uint64_t messages, struct round *arrivals)
{
	struct cq_link *at = r->qps->recv.link;
	uint64_t until =
		r->result.start_ticks + (uint64_t)((r->paced->step * messages + UINT64_MAX) >> 64);
	uint64_t last = r->result.end_ticks, now = last;

	while (!round_aborted(r) && (int64_t)(until - now) > 0) {
		if (arrivals && stream_receive_some(arrivals, &at) < 0)
			return -1;
		now = clock_ticks(r->clock);
	}
	/* The schedule ends at `until`; the time to read the clock once more is not counted. */
	if ((int64_t)(until - last) > 0)
		r->result.end_ticks = (int64_t)(until - now) > 0 ? now : until;
	/* A sender waited for its schedule, a receiver for messages. */
	(r->result.in_flight > 0 ? &r->result.scheduled : &r->result.idle)->ticks +=
		r->result.end_ticks - last;
	return 0;
}

/*
 * A poll found nothing after DONE messages. The first one in a pause reads the clock: the last
 * pause ends the run. SURE: read it in any case.
 */
static __attribute__((cold)) void note_no_arrival(struct round *r, uint64_t done, bool sure)
{
	bool fresh = done != r->result.messages;
	uint64_t now;

	if (!r->result.start_ticks)
		return;
	r->result.messages = done;
	if (!idle_empty(&r->result.idle, fresh) && !fresh && !sure)
		return;
	now = clock_ticks(r->clock);
	idle_timed(&r->result.idle, now);
	if (fresh)
		r->result.end_ticks = now;
}

/*
 * Receive messages until as many have come as are expected. SLEEPS (on completion events; else the
 * loop spins) and EXTENDED are constants.
 */
static ALWAYS_INLINE int receive_stream(struct round *r, const bool sleeps, const bool extended)
{
	struct cq_link *at = r->qps->recv.link;
	uint64_t done = r->result.messages, first = 0;
	unsigned batch = STREAM_BATCH;
	int n, rc = 0;

	idle_start(&r->result.idle, r->qps->recv.count);
	r->result.start_ticks = r->result.end_ticks = 0;
	while (done < round_expected(r)) {
		n = extended ? poll_receives_ex(r, at, batch) : poll_receives(r, at, batch);
		at = at->next;
		if (n == 0) {
			note_no_arrival(r, done, sleeps);
			if (UNLIKELY(round_aborted(r)))
				break;
			if (sleeps) {
				if ((rc = round_sleep_if_idle(r, false)))
					break;
				note_no_arrival(r, done, true);
			}
			continue;
		}
		if (UNLIKELY(n < 0)) {
			rc = n;
			break;
		}
		if (sleeps)
			round_sleep_if_idle(r, true);
		done += (uint64_t)n;
		if (UNLIKELY(!r->result.start_ticks)) {
			r->result.start_ticks = clock_ticks(r->clock);
			first = done;
			slices_start(&r->result.slices, r->result.start_ticks, first);
		} else if (UNLIKELY(done >= r->result.slices.next)) {
			slices_add(&r->result.slices, clock_ticks(r->clock), done);
		}
		batch = stream_batch(batch, (unsigned)n);
		round_progress(r, done);
	}
	if (done != r->result.messages)
		r->result.end_ticks = clock_ticks(r->clock);
	else
		idle_end(&r->result.idle);
	r->result.messages = done;
	/* The clock starts after the first arrivals, so they are not among the timed messages. */
	r->result.timed_messages = done - first;
	return rc || !r->paced ? rc : stream_rest(r, r->result.timed_messages, NULL);
}

/* The usual instance, in a function of its own, which leaves it more registers. */
static __attribute__((noinline)) int receive_polling(struct round *r)
{
	return receive_stream(r, false, false);
}

int stream_receive(struct round *r)
{
	cq_wait_start(&r->qps->cq_wait, NULL, &r->qps->recv);
	if (round_sleeps(r))
		return receive_stream(r, true, false);
	return r->extended ? receive_stream(r, false, true) : receive_polling(r);
}

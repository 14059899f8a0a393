// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The receiver of a stream. */
#include "loop/stream.h"

/* SLEEPS is a constant: on events, else it spins. */
static ALWAYS_INLINE int receive(struct round *r, const bool sleeps)
{
	struct cq_link *at = r->qps->recv.link;
	struct ibv_wc wc[STREAM_POLL_BATCH];
	uint64_t done = r->messages, first = 0;
	bool fresh = false;
	int n, rc = 0;

	r->start_ticks = r->end_ticks = 0;
	while (done < round_due(r)) {
		n = ibv_poll_cq(at->cq, STREAM_POLL_BATCH, wc);
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
			rc = round_verb_failed(r, n, "ibv_poll_cq");
			break;
		}
		if (sleeps)
			round_rest(r, true);
		rc = recv_take(r->receives, r, wc, n);
		if (UNLIKELY(rc))
			break;
		done += (uint64_t)n;
		fresh = true;
		if (UNLIKELY(!r->start_ticks)) {
			r->start_ticks = clock_ticks(r->clock);
			first = done;
		}
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
	return round_sleeps(r) ? receive(r, true) : receive(r, false);
}

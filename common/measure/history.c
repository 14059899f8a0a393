// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/history.h"

#include <errno.h>
#include <math.h>

#include "base/text.h"
#include "base/units.h"
#include "finding/thresholds.h"
#include "measure/measure.h"

#define FITS_ETHERNET_BYTES 1024 /* path MTU within the 1500 bytes that any switch passes */

/* Messages of this round that arrived, as far as the completions of this end prove. */
static uint64_t arrived(const struct measurement *meas)
{
	const struct measure *ms = meas->ms;
	bool sends = meas->attr.both || meas->attr.reverse == ms->ep->server;
	uint64_t sum = 0;

	if (sends && experiment_loses(&ms->options->experiment) && !ms->test->latency)
		return 0; /* what was sent may be lost */
	for (unsigned i = 0; i < ms->ep->workers; i++)
		sum += atomic_load_explicit(&ms->ep->control[i].progress, memory_order_relaxed);
	return sum;
}

/* Keep in H what an end whose conditions were Q sent again, if no round had more. */
static void add_resent(struct history *h, const struct measurement *meas, const struct quality *q)
{
	if (!(q->retransmitted_percent > fmax(h->resent_percent, 100 * AGAIN_COUNTS)))
		return;
	h->resent = q->retransmissions;
	h->resent_percent = q->retransmitted_percent;
	h->resent_of = h->resent * 100 / h->resent_percent;
	h->resent_bytes = meas->attr.message_bytes;
}

static void add_both_ends(struct history *h, const struct measurement *meas)
{
	add_resent(h, meas, &meas->quality);
	add_resent(h, meas, &meas->their_quality);
}

static void blame_losses(struct fault *f, const struct history *h)
{
	fault_cause(f,
		    "Packets are being lost, or come too late: %.0f of %.0f were sent again at %s",
		    h->resent, h->resent_of, units_size(h->resent_bytes).text);
	fault_fix(f, "check the discards of NICs and switch ports, pause (PFC) and buffers "
		     "along the path; on soft-RoCE, what else keeps the hosts busy");
}

/* No message arrives any more on a connection that has carried some. */
static void blame_way(struct history *h, const struct measurement *meas)
{
	struct fault *f = meas->ms->fault;
	unsigned mtu_bytes = meas->ms->ep->rail[0].route.mtu_bytes;
	bool lost_before = h->resent > 0, larger = h->passed_bytes < mtu_bytes;

	f->cause[0] = f->fix[0] = '\0';
	if (!lost_before)
		add_both_ends(h, meas);
	if (!lost_before && larger && meas->attr.message_bytes > h->passed_bytes &&
	    meas->attr.message_bytes > FITS_ETHERNET_BYTES) {
		fault_cause(f, "No packet with more than %s of data has come through",
			    units_size(h->passed_bytes).text);
		fault_fix(f, "check the MTU of the switches along the path, or use -m %d",
			  FITS_ETHERNET_BYTES);
	} else if (h->resent > 0) {
		blame_losses(f, h);
	} else {
		fault_cause(f,
			    "RDMA packets came through before: now the peer's adapter or host, or "
			    "a link or switch of the path, has stopped or is very slow");
		fault_fix(f,
			  "check dmesg, the load and the ports of both hosts, and the switches%s",
			  meas->stuck ? "; use a larger --timeout for a link this slow" : "");
	}
}

/* "All sizes from 2 B to 64 KiB worked", if this one is larger. */
static void add_sizes(const struct history *h, const struct measurement *meas)
{
	struct fault *f = meas->ms->fault;

	if (h->most_bytes <= h->least_bytes || meas->attr.message_bytes <= h->most_bytes)
		return;
	text_add(f->cause, sizeof(f->cause), "%sAll sizes from %s to %s worked",
		 f->cause[0] ? ". " : "", units_size(h->least_bytes).text,
		 units_size(h->most_bytes).text);
}

/* A port here has changed so that messages stopped: with or without a fault of this end. */
static bool blame_device(const struct measurement *meas)
{
	struct fault *f = meas->ms->fault;
	const struct endpoint *ep = meas->ms->ep;

	if (!meas->stuck && !meas->device_failed && !f->completion[0] && f->errnum != ETIMEDOUT)
		return false;
	for (unsigned i = 0; i < ep->rails; i++) {
		const struct rail *r = &ep->rail[i];

		if (hca_explain_failure(&r->hca, &r->route, f))
			return true;
	}
	return false;
}

void history_round(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	struct history *h = &ms->history;
	const struct fault *f = ms->fault;
	uint64_t bytes = meas->attr.message_bytes, came = arrived(meas);

	h->messages += came;
	if (came && bytes > h->passed_bytes)
		h->passed_bytes = bytes;
	if (!fault_is(f)) {
		add_both_ends(h, meas);
		if (came && !meas->attr.warmup && !meas->attr.kind) {
			if (!h->least_bytes || bytes < h->least_bytes)
				h->least_bytes = bytes;
			if (bytes > h->most_bytes)
				h->most_bytes = bytes;
		}
	} else if (!blame_device(meas) && !f->from_peer && (meas->stuck || f->completion[0])) {
		if (h->messages && (meas->stuck || f->code == FAULT_PEER))
			blame_way(h, meas);
		add_sizes(h, meas);
	}
}

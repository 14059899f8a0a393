// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What came before a failure, for its fault. */
#include <errno.h>

#include "base/units.h"
#include "endpoint/rail.h"
#include "measure/measure.h"
#include "plan/test.h"
#include "verbs/vfault.h"

#define FITS_ETHERNET_BYTES 1024 /* path MTU within the 1500 bytes that any switch passes */

/* Messages of this round that arrived, as far as the completions of an end that SENDS prove. */
static uint64_t arrived(const struct endpoint *ep, bool sends)
{
	if (sends && experiment_loses(&ep->options->experiment) && !ep->test->latency)
		return 0; /* what was sent may be lost */
	return endpoint_progress(ep);
}

/* No message arrives any more on a connection that has carried some. */
static void blame_way(const struct history *h, const struct measurement *meas)
{
	struct fault *f = meas->ms->fault;
	const struct rail *r = &meas->ms->ep->rail[0];
	const struct link_words *words = vfault_words(hca_link(&r->hca.info));
	bool cut = words->switches_cut && h->passed_bytes < r->route.mtu_bytes;

	f->cause[0] = f->fix[0] = '\0';
	if (cut && meas->attr.message_bytes > h->passed_bytes &&
	    meas->attr.message_bytes > FITS_ETHERNET_BYTES) {
		fault_cause(f, "No packet with more than %s of data has come through",
			    units_size(h->passed_bytes).text);
		fault_fix(f, "check the MTU of the switches along the path, or use -m %d",
			  FITS_ETHERNET_BYTES);
	} else {
		fault_cause(f,
			    "RDMA packets came through before: now the peer's adapter or host, or "
			    "the path, has stopped or is very slow");
		fault_fix(f, "check %s%s", words->later,
			  vfault_is_stuck(f) ? "; use a larger --timeout for a link this slow" : "");
	}
}

/* No queue was completed: some devices send of a list by ibv_wr_* the last message alone. */
static void blame_list(const struct history *h, const struct endpoint *ep)
{
	const struct experiment *e = &ep->options->experiment;

	if (e->post_api != POST_API_WR || e->post_list < 2 ||
	    h->messages > e->tx_depth * e->qps * e->threads)
		return;
	ep->fault->cause[0] = ep->fault->fix[0] = '\0';
	fault_cause(ep->fault, "This device may not send lists that ibv_wr_* posts");
	fault_fix(ep->fault, "try --post-api send");
}

/* A port here has changed so that messages stopped: with or without a fault of this end. */
static bool blame_device(const struct endpoint *ep, struct fault *f)
{
	for (unsigned i = 0; i < ep->rails; i++)
		if (hca_explain_failure(&ep->rail[i].hca, &ep->rail[i].route, f))
			return true;
	return false;
}

void history_explain(const struct history *h, const struct measurement *meas)
{
	struct fault *f = meas->ms->fault;
	bool incomplete = f->completion[0], stuck = vfault_is_stuck(f);
	bool unanswered = stuck || vfault_unanswered(f);
	bool device_failed = meas->watch && meas->watch->device_failed;

	if ((incomplete || device_failed || f->errnum == ETIMEDOUT) &&
	    blame_device(meas->ms->ep, f))
		return;
	if ((unanswered || vfault_unsent(f)) && !h->messages &&
	    hca_explain_namespace(&meas->ms->ep->rail[0].hca.info, f))
		return;
	if (f->from_peer || !incomplete)
		return;
	if (h->messages && unanswered)
		blame_way(h, meas);
	if (stuck)
		blame_list(h, meas->ms->ep);
	if (unanswered || f->code == FAULT_PEER)
		rail_name_ends(meas->ms->ep, f);
}

void history_round(struct history *h, const struct measurement *meas)
{
	const struct endpoint *ep = meas->ms->ep;
	bool sends = meas->attr.both || meas->attr.reverse == ep->server;
	uint64_t bytes = meas->attr.message_bytes, came = arrived(ep, sends);

	h->messages += came;
	if (came && bytes > h->passed_bytes)
		h->passed_bytes = bytes;
	if (fault_is(ep->fault))
		history_explain(h, meas);
}

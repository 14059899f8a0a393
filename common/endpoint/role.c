// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The role of this end in the experiment. */
#include "endpoint/endpoint.h"

bool endpoint_leads(const struct endpoint *ep)
{
	return ep->server == (ep->options->experiment.reversed != 0);
}

bool endpoint_sends(const struct endpoint *ep)
{
	return endpoint_leads(ep) || ep->options->experiment.bidirectional;
}

/* A latency test has no stream, and other programs have rounds of several kinds. */
static bool has_choice(const struct endpoint *ep)
{
	return !ep->test->latency && !ep->test->kinds;
}

/* Soft-RoCE's ibv_wr_* calls do what its ibv_post_send does, and its extended CQs are broken. */
bool worker_wants_extended(const struct worker *t)
{
	uint64_t api = t->ep->options->experiment.post_api;
	bool best = api == POST_API_AUTO && !hca_is_soft_roce(&t->rail->hca.info);

	return has_choice(t->ep) && (best || api == POST_API_WR);
}

bool worker_is_extended(const struct worker *t)
{
	if (endpoint_sends(t->ep))
		return t->qps.extended;
	return t->qps.recv.extended && !t->ep->options->experiment.events;
}

const char *endpoint_calls(const struct endpoint *ep)
{
	bool extended = worker_is_extended(&ep->worker[0]);

	if (!has_choice(ep))
		return NULL;
	if (endpoint_sends(ep))
		return extended ? "ibv_wr" : "ibv_post_send";
	return extended ? "ibv_start_poll" : "ibv_poll_cq";
}

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
bool endpoint_wants_extended(const struct endpoint *ep)
{
	return !ep->test->latency && !ep->test->kinds &&
	       ep->options->experiment.post_api != POST_API_SEND;
}

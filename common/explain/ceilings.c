// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>

#include "explain/limit.h"
#include "explain/run.h"
#include "finding/thresholds.h"

/* The slower of two rates, of which either may be unknown; *END becomes whose, NULL if alike. */
static double slower(const struct run_facts *r, double sender, double receiver, const char **end)
{
	bool is_sender = sender < receiver || isnan(receiver);
	double low = is_sender ? sender : receiver, high = is_sender ? receiver : sender;

	*end = high < low * LINKS_ALIKE ? NULL : is_sender ? r->sender->name : r->receiver->name;
	return low;
}

struct ceilings ceilings_of(const struct run_facts *r)
{
	struct ceilings c;

	c.link_gbps = slower(r, r->sender->rate_gbps, r->receiver->rate_gbps, &c.link_end) *
		      run_data_share(r);
	c.pcie_gbps =
		slower(r, r->sender->pcie_gbps, r->receiver->pcie_gbps, &c.pcie_end) * PCIE_SHARE;
	/* an adapter that sends to itself, or a slot that is more than the kernel says */
	if (r->gbps > ABOVE_LINK * c.link_gbps || r->gbps * PCIE_SHARE > ABOVE_LINK * c.pcie_gbps)
		c.pcie_gbps = NAN;
	c.window_gbps = run_in_flight(r) * (double)r->message_bytes * 8 / r->sender->alone_ns;
	c.core_gbps = r->sender->full_share < 1 ? r->gbps / (1 - r->sender->full_share) : NAN;
	return c;
}

double ceilings_lack(const struct run_facts *r, const struct ceilings *c)
{
	return 1 - r->gbps / fmin(c->link_gbps, c->pcie_gbps);
}

bool ceilings_fill_window(const struct run_facts *r, const struct ceilings *c, double share)
{
	return run_in_flight(r) <= FEW_IN_FLIGHT &&
	       share > 1 - r->gbps / c->window_gbps + TIME_COUNTS;
}

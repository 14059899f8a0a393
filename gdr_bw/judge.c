// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collects the facts for the verdict. (A cell is one test case: a direction, the memory at each
 * end, and how the data are moved; see cell.h.)
 */
#include "gdr.h"

#define EXPECT_BYTES 16384 /* smaller messages may be limited by their number, not their bytes */

static struct verdict_facts facts_of(const struct gdr *g)
{
	const struct options *o = g->run.options;
	const struct fault *problem = g->run.fault;
	struct verdict_facts f = {
		.attr = &g->attr,
		.side = {&g->mine, &g->theirs},
		.line_gbps =
			gdr_least(g->run.my_end->nic.rate_gbps, g->run.their_end->nic.rate_gbps),
		.within_given = options_given(o, "within"),
		.given = options_given(o, "expected-gbps"),
		.given_gbps = (double)o->output.expected_gbps,
		.events = &g->events,
	};

	/* A bad completion, here or at the peer, where the NIC had to access GPU memory. */
	if (fault_is(problem) && problem->completion[0] && g->running &&
	    gdr_cell_is_direct(&g->running->cell)) {
		f.failed = g->running;
		f.wc_status = problem->completion;
		f.wc_vendor = problem->vendor_error;
	}
	return f;
}

void gdr_expect(struct gdr *g)
{
	struct verdict_facts f = facts_of(g);

	for (unsigned i = 0; i < g->results; i++) {
		struct gdr_result *r = &g->result[i];

		r->ceiling_gbps = f.line_gbps;
		if (gdr_cell_is_direct(&r->cell))
			r->ceiling_gbps =
				gdr_least(f.line_gbps, verdict_way(&r->cell, f.side).ceiling_gbps);
		r->expected_gbps = verdict_expect(&f, &r->cell, &r->expected_from);
		if (r->message_bytes < EXPECT_BYTES && !f.given)
			r->expected_gbps = 0;
	}
}

void gdr_reach_verdict(struct gdr *g, struct verdict *v)
{
	struct verdict_facts f = facts_of(g);

	gdr_explain(g);
	verdict_reach(&f, v);
	g->undecided = v->level == VERDICT_NONE && (g->mine.gpu || g->theirs.gpu);
	fault_phase(&g->verdict, "judging the result");
	if (v->exit_status == 0)
		return;
	fault_raise(&g->verdict, (enum fault_code)v->exit_status, 0, "the verdict is %s",
		    verdict_level_name(v->level));
	if (v->next[0])
		fault_fix(&g->verdict, "%s", v->next);
}

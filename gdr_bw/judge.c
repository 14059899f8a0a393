// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Collects the facts for the verdict: of the cells, of both ends, and of their ports meanwhile. */
#include <string.h>

#include "endpoint/rail.h"
#include "explain/during.h"
#include "gdr.h"
#include "verbs/transport.h"

#define EXPECT_BYTES 16384 /* smaller messages may be limited by their number, not their bytes */

static struct verdict_facts facts_of(const struct gdr *g)
{
	const struct options *o = g->ms->options;
	const struct fault *problem = g->ms->fault;
	const struct rail *rail = g->ms->ep->rail;
	struct verdict_facts f = {
		.attr = &g->attr,
		.side = {&g->mine, &g->theirs},
		.line_gbps = gdr_least(rail->mine.nic.rate_gbps, rail->theirs.nic.rate_gbps),
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

/*
 * What happened at both ends' ports while the windows of all cells ran: the findings of the other
 * tests, in the same words; their shares are of the whole time, with all cells and both directions.
 */
static void explain_ports(struct gdr *g)
{
	const struct experiment *e = &g->ms->options->experiment;
	struct run_end end[2]; /* by enum result_end */
	struct run_facts r = {
		.seconds = (double)g->observed_ns / 1e9,
		.qps = (unsigned)e->qps,
		.reliable = !experiment_loses(e),
		.ack_timeout_ns = transport_ack_timeout_ns(experiment_transport(e), e->qp_timeout),
		.sender = &end[0],
		.receiver = &end[1],
		.source = &end[0],
		.sink = &end[1],
	};

	if (!g->observed_ns)
		return;
	for (int i = 0; i < 2; i++) {
		run_end_unknown(&end[i], i == RESULT_CLIENT ? "client" : "server");
		run_end_count(&end[i], &g->ports[i], &g->ports[!i]);
	}
	explain_both_ways(&r, &g->events);
}

void gdr_reach_verdict(struct gdr *g, struct verdict *v)
{
	struct verdict_facts f = facts_of(g);

	for (unsigned i = 0; i < g->results; i++)
		gdr_result_summarize(&g->result[i], g->attr.scratch);
	explain_ports(g);
	verdict_reach(&f, v);
	g->undecided = strcmp(v->cause, finding_name(VERDICT_NOT_MEASURED)) == 0;
	fault_phase(&g->verdict, "judging the result");
	if (v->exit_status == 0)
		return;
	fault_raise(&g->verdict, (enum fault_code)v->exit_status, 0, "the verdict is %s",
		    verdict_level_name(v->level));
	if (v->next[0])
		fault_fix(&g->verdict, "%s", v->next);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gdr_bw: does GPUDirect RDMA work here, is it as fast as host memory, and if not, why?
 *
 * The same WRITEs run between host and GPU memory of both ends, in both directions, window by
 * window in turn, so that what disturbs one kind disturbs all; also copies through host memory,
 * which is what there is without GPUDirect. Posted, polled and timed: as in write_bw, and
 * loop/staged.h. The data of every cell are compared once, outside the timed part.
 *
 * cell.c: which cells there are, and their order; image.c: the data; turns.c: the windows; ratio.c:
 * GPU memory's rate as a fraction of host memory's; verdict.c: what is said of it; show.c: the
 * output.
 */
#include "base/phase.h"
#include "gdr.h"

#include <inttypes.h>
#include <string.h>

#include "endpoint/rail.h"
#include "session/session.h"

#define EXPECT_BYTES 16384 /* smaller messages may be limited by their number, not their bytes */

/* Run this end of a staged round: the source (SEND), or the sink. */
static int run_staged(struct round *r, bool send)
{
	struct gdr *g = r->own;
	const struct gdr_place *slots = &g->there[GDR_SLOTS], *words = &g->there[GDR_WORDS];
	struct staged s = {
		.round = r,
		.stream = g->stream,
		.data = g->data.addr + GDR_GUARD_BYTES,
		.slots = &g->mem[GDR_SLOTS],
		.words = &g->mem[GDR_WORDS],
		.slots_there = {slots->addr, slots->stride, slots->rkey},
		.words_there = {words->addr, 0, words->rkey},
	};

	return send ? staged_send(&s) : staged_receive(&s);
}

static int follow(struct round *r)
{
	return run_staged(r, false);
}

/* The round's messages go from this end's memory into the other's, as its kind says. */
static int lead(struct round *r)
{
	struct gdr *g = r->own;
	struct gdr_cell c;
	const struct gdr_place *from, *into;

	if (!r->kind)
		return stream_run(r);
	gdr_cell_of_kind(&c, r->kind);
	if (c.staged)
		return run_staged(r, true);
	from = &g->here[c.from_gpu];
	into = &g->there[c.into_gpu];
	if (!from->lkey || !into->rkey)
		return fault_raise(r->fault, FAULT_PEER, 0,
				   "the client requested a cell that does not exist");
	r->memory.from = (struct round_slice){from->addr, from->stride, from->lkey};
	r->memory.remote = (struct round_slice){into->addr, into->stride, into->rkey};
	r->send_inline &= !c.from_gpu; /* the CPU cannot copy from a GPU's address */
	return stream_run(r);
}

/* True if there is a GPU, or the user says for how long host memory alone is measured. */
static bool has_cells(const struct gdr *g)
{
	const struct options *o = g->ms->options;

	return g->mine.gpu || g->theirs.gpu || options_given(o, "duration") ||
	       options_given(o, "iters") || options_given(o, "windows");
}

/* What the verdict needs to know of the run so far. */
static struct verdict_facts facts_of(const struct gdr *g)
{
	const struct options *o = g->ms->options;
	const struct fault *problem = g->ms->fault;
	const struct rail *rail = g->ms->ep->rail;
	struct verdict_facts f = {
		.attr = &g->attr,
		.side = {&g->mine, &g->theirs},
		.line_gbps = gdr_least(rail->mine.rate_gbps, rail->theirs.rate_gbps),
		.within_given = options_given(o, "within"),
		.given = options_given(o, "expected-gbps"),
		.given_gbps = (double)o->output.expected_gbps,
	};

	for (unsigned i = g->results; i-- > 0;)
		if (g->result[i].wrong_bytes)
			f.wrong = &g->result[i];
	/* A bad completion, here or at the peer, where the NIC had to access GPU memory. */
	if (fault_is(problem) && problem->completion[0] && g->running &&
	    gdr_cell_is_direct(&g->running->cell)) {
		f.failed = g->running;
		f.wc_status = problem->completion;
		f.wc_vendor = problem->vendor_error;
	}
	return f;
}

static int make_cells(struct gdr *g)
{
	struct verdict_facts f = facts_of(g);

	g->results = gdr_results(g->result, (const bool[]){g->mine.direct, g->theirs.direct},
				 g->mine.gpu || g->theirs.gpu);
	for (unsigned i = 0; i < g->results; i++) {
		struct gdr_result *r = &g->result[i];

		r->message_bytes =
			r->cell.staged ? STAGED_CHUNK_BYTES : g->ms->options->experiment.size_bytes;
		r->ceiling_gbps =
			gdr_least(f.line_gbps, verdict_way(&r->cell, f.side).ceiling_gbps);
		if (g->ms->options->experiment.size_bytes >= EXPECT_BYTES || f.given)
			r->expected_gbps = verdict_expect(&f, &r->cell, &r->expected_from);
	}
	return gdr_turns_init(g);
}

static int measure_cells(struct gdr *g)
{
	return make_cells(g) || gdr_warm_up(g) || gdr_turns(g) ? -1 : 0;
}

/* Note after how many windows of every cell, or of those that decide, the run was interrupted. */
static void note_interrupted(const struct gdr *g)
{
	uint64_t planned = g->ms->options->experiment.windows;
	const char *by = link_interrupted_by(g->ms->link, g->ms->ep->server);
	unsigned least = g->turns, most = 0;

	for (unsigned i = 0; i < g->results; i++) {
		if (g->result[i].windows < least)
			least = g->result[i].windows;
		if (g->result[i].windows > most)
			most = g->result[i].windows;
	}
	if (!g->ms->link->interrupted)
		return;
	if (most > planned)
		report_note(g->ms->report,
			    "interrupted%s after %u windows of the cells that decide the verdict",
			    by, most);
	else
		report_note(g->ms->report, "interrupted%s after %u of %" PRIu64 " windows", by,
			    least, planned);
}

/* The exit status says what the verdict V is, of several GPUs the worst. */
static void keep_verdict(const struct verdict *v, struct fault *f)
{
	memset(f, 0, sizeof(*f));
	if (!v->exit_status)
		return;
	fault_phase(f, v->exit_status != FAULT_UNAVAILABLE || v->level == VERDICT_INCONCLUSIVE
			       ? PHASE_JUDGE
			       : PHASE_GPU_ROUTE);
	fault_raise(f, (enum fault_code)v->exit_status, 0, "the verdict is %s",
		    verdict_level_name(v->level));
	if (v->next[0])
		fault_fix(f, "%s", v->next);
}

/* The client: learn what both ends have, measure the cells, and judge them. */
static int schedule(struct measure *ms)
{
	struct gdr *g = ms->own;
	struct verdict_facts f;
	int rc;

	if (!g)
		return measure_sizes(ms);
	if (gdr_meet(g))
		return -1;
	rc = has_cells(g) ? measure_cells(g) : 0;
	/* Also after a failure: show what was measured, and its verdict. */
	for (unsigned i = 0; i < g->results; i++)
		gdr_result_summarize(&g->result[i], g->attr.scratch);
	f = facts_of(g);
	verdict_reach(&f, &g->verdict);
	if (gdr_show(g))
		keep_verdict(&g->verdict, &ms->verdict);
	note_interrupted(g);
	ms->measured |= g->verdict.code != VERDICT_NOT_MEASURED;
	/* Interrupted before there was a verdict: the run has no result. */
	if (!rc && g->verdict.code == VERDICT_NOT_MEASURED && ms->link->interrupted)
		return measure_unfinished(ms, PHASE_MEASURE);
	return rc;
}

const struct test gdr_bw = {
	.name = "gdr_bw",
	.summary = "bandwidth of GPUDirect RDMA compared with host memory",
	.title = "RDMA_Write BW Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 5000, .tx_depth = 128,
		     .plain = 0, .windows = 7},
	.operation = {.name = "RDMA WRITE",
		      .opcode = IBV_WR_RDMA_WRITE,
		      .another = IBV_WR_RDMA_WRITE,
		      .peer_allows = IBV_ACCESS_REMOTE_WRITE},
	.lead = lead,
	.follow = follow,
	.kinds = GDR_KINDS,
	.open = gdr_open,
	.close = gdr_close,
	.schedule = schedule,
	.task = gdr_task,
};

SESSION_MAIN(gdr_bw)

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The client's schedule: learn what both ends have, check and warm up every cell, measure them
 * (turns.c), show the results.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "endpoint/rail.h"
#include "gdr.h"
#include "proto/snapshot.h"

/* Exchange addresses with the server, and have both ends measure their copies. */
static int meet(struct gdr *g)
{
	json_t *what = json_pack("{s:s, s:o}", "task", "meet", "end", gdr_end_json(g));
	json_t *result;
	int rc;

	if (measure_task(g->ms, true, what, &result))
		return -1;
	rc = gdr_read_end(g, json_object_get(result, "end"));
	json_decref(result);
	return rc ? rc : measure_task(g->ms, false, json_pack("{s:s}", "task", "meet"), NULL);
}

/* Have both ends start to count what happens at their ports, or STOP: then `ports` has it. */
static int count_ports(struct gdr *g, bool stop)
{
	uint64_t ns = clock_now_ns() - g->ports_since_ns;

	if (measure_interrupted(g->ms) || (stop && !g->ports_since_ns))
		return 0;
	for (unsigned i = 0; i < 2; i++) {
		unsigned end = stop ? i : 1 - i; /* this one counts only while the server does */
		json_t *what = json_pack("{s:s, s:b}", "task", "ports", "stop", stop), *result;
		int rc = 0;

		if (measure_task(g->ms, end == RESULT_SERVER, what, &result))
			return -1;
		if (stop)
			rc = snapshot_from_json(&g->ports[end], json_object_get(result, "snapshot"),
						g->ms->fault);
		json_decref(result);
		if (rc)
			return -1;
	}
	if (stop)
		g->observed_ns = ns;
	return 0;
}

static unsigned count_memories(const struct gdr_place place[GDR_PLACES])
{
	unsigned set = 0;

	for (unsigned m = GDR_HOST; m <= GDR_DATA_DIRECT; m++)
		if (place[m].rkey)
			set |= 1u << m;
	return place[GDR_COPIED].addr ? set | 1u << GDR_COPIED : set;
}

/* Make the results: direct cells for every size; staged cells, which send chunks, for the last. */
static int make_results(struct gdr *g)
{
	const struct experiment *e = &g->ms->options->experiment;
	const unsigned has[2] = {count_memories(g->here), count_memories(g->there)};
	uint64_t last = plan_last_size(e, g->ms->ep->rail->hca.info.port_attr.max_msg_sz);

	g->result = calloc(GDR_RESULTS_MAX, sizeof(*g->result));
	if (!g->result)
		return fault_raise(g->ms->fault, FAULT_LOCAL, ENOMEM, "allocating cells");
	for (uint64_t size = plan_first_size(e); size <= last; size *= 2)
		g->results += gdr_results(&g->result[g->results], has, size,
					  2 * size > last ? e->staged_chunk_bytes : 0);
	gdr_expect(g);
	return gdr_turns_init(g);
}

/* True if there is a GPU, or the user says for how long host memory alone is measured. */
static bool has_cells(const struct gdr *g)
{
	const struct options *o = g->ms->options;

	return g->mine.gpu || g->theirs.gpu || options_given(o, "duration") ||
	       options_given(o, "iters") || options_given(o, "windows");
}

/* Check and warm up every cell, also those of host memory, with which all others are compared. */
static int prepare_cells(struct gdr *g)
{
	for (unsigned i = 0; i < g->results && !measure_interrupted(g->ms); i++)
		if (gdr_verify(g, &g->result[i], 2 * i) || gdr_warm_up(g, &g->result[i]))
			return -1;
	return 0;
}

/* Note that the run was interrupted, and how many windows every cell has. */
static void note_interrupted(const struct gdr *g)
{
	unsigned least = g->turns;

	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].windows < least)
			least = g->result[i].windows;
	if (measure_interrupted(g->ms))
		report_note(g->ms->report, "interrupted%s after %u of %" PRIu64 " windows",
			    link_interrupted_by(g->ms->link, g->ms->ep->server), least,
			    g->ms->options->experiment.windows);
}

int gdr_schedule(struct measure *ms)
{
	struct gdr *g = ms->own;
	struct verdict v;
	int rc = 0;

	if (!g)
		return measure_sizes(ms);
	if (meet(g) || (has_cells(g) && make_results(g)))
		return -1;
	if (g->results &&
	    (prepare_cells(g) || count_ports(g, false) || gdr_turns(g) || count_ports(g, true)))
		rc = -1;
	/* Also after a failure: show what was measured, and its verdict. */
	gdr_reach_verdict(g, &v);
	gdr_show(g, &v);
	note_interrupted(g);
	if (!g->undecided)
		ms->measured = true;
	return rc;
}

int gdr_judge(struct measure *ms)
{
	const struct gdr *g = ms->own;

	if (!g)
		return 0;
	/* Interrupted before there was a verdict: the run has no result. */
	if (g->undecided && measure_interrupted(ms))
		return measure_unfinished(ms, "measuring");
	if (!fault_is(&g->verdict))
		return 0;
	*ms->fault = g->verdict;
	return -1;
}

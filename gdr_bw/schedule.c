// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The client's schedule: learn what both ends have, check and warm up every cell, measure them
 * (turns.c), show the results.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "gdr.h"
#include "plan/plan.h"
#include "proto/message.h"

static json_t *make_task(const char *name)
{
	return json_pack("{s:s}", "task", name);
}

/* Exchange addresses and keys with the server. */
static int exchange_places(struct measure *ms, struct gdr *g)
{
	json_t *what = make_task("places"), *result;
	int rc;

	json_object_set_new(what, "places", gdr_places_json(g));
	if (measure_task(ms, true, what, &result))
		return -1;
	rc = gdr_read_places(g, json_object_get(result, "places"));
	json_decref(result);
	return rc;
}

static int measure_copies(struct measure *ms, struct gdr *g)
{
	json_t *result;
	int rc;

	if (measure_task(ms, false, make_task("copy"), NULL) ||
	    measure_task(ms, true, make_task("copy"), &result))
		return -1;
	rc = gdr_read_side(&g->theirs, json_object_get(result, "side"), g->run.fault);
	json_decref(result);
	return rc;
}

static unsigned count_memories(const struct gdr_places *p)
{
	unsigned set = 0;

	for (unsigned m = GDR_HOST; m <= GDR_DATA_DIRECT; m++)
		if (p->memory[m].rkey)
			set |= 1u << m;
	return p->memory[GDR_COPIED].addr ? set | 1u << GDR_COPIED : set;
}

/* Make the results: direct cells for every size; staged cells, which send chunks, for the last. */
static int make_results(struct gdr *g)
{
	const struct experiment *e = &g->run.options->experiment;
	const unsigned has[2] = {count_memories(&g->here), count_memories(&g->there)};
	uint64_t last = plan_last_size(e, g->run.hca->info.port_attr.max_msg_sz);

	g->result = calloc(GDR_RESULTS_MAX, sizeof(*g->result));
	if (!g->result)
		return fault_raise(g->run.fault, FAULT_LOCAL, ENOMEM, "allocating cells");
	for (uint64_t size = plan_first_size(e); size <= last; size *= 2)
		g->results += gdr_results(&g->result[g->results], has, size,
					  2 * size > last ? e->staged_chunk_bytes : 0);
	gdr_expect(g);
	return gdr_turns_init(g);
}

/* True if there is a GPU, or the user says for how long host memory alone is measured. */
static bool has_cells(const struct gdr *g)
{
	const struct options *o = g->run.options;

	return g->mine.gpu || g->theirs.gpu || options_given(o, "duration") ||
	       options_given(o, "iters") || options_given(o, "windows");
}

/* Check and warm up every cell, also those of host memory, with which all others are compared. */
static int prepare_cells(struct measure *ms, struct gdr *g)
{
	for (unsigned i = 0; i < g->results && !measure_interrupted(ms); i++)
		if (gdr_verify(ms, g, &g->result[i], 2 * i) || gdr_warm_up(ms, g, &g->result[i]))
			return -1;
	return 0;
}

/* Note that the run was interrupted, and how many windows every cell has. */
static void note_interrupted(const struct measure *ms, const struct gdr *g)
{
	unsigned least = g->turns;

	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].windows < least)
			least = g->result[i].windows;
	if (measure_interrupted(ms))
		report_note(g->run.report, "interrupted%s after %u of %" PRIu64 " windows",
			    measure_interrupted_by(ms), least, g->run.options->experiment.windows);
}

int gdr_schedule(struct measure *ms)
{
	struct measure_context run = measure_context(ms);
	struct gdr *g = run.own;
	int rc;

	if (run.options->experiment.plain)
		return measure_sizes(ms);
	g->run = run;
	if (exchange_places(ms, g) || measure_copies(ms, g) || (has_cells(g) && make_results(g)))
		return -1;
	rc = g->results && (prepare_cells(ms, g) || gdr_ports_start(ms, g) || gdr_turns(ms, g) ||
			    gdr_ports_stop(ms, g))
		     ? -1
		     : 0;
	/* Also after a failure: show what was measured, and its verdict. */
	gdr_show(g);
	note_interrupted(ms, g);
	if (!g->undecided)
		measure_done(ms);
	return rc;
}

int gdr_judge(struct measure *ms)
{
	struct measure_context run = measure_context(ms);
	const struct gdr *g = run.own;

	if (!g)
		return 0;
	/* Interrupted before there was a verdict: the run has no result. */
	if (g->undecided && measure_interrupted(ms))
		return measure_unfinished(ms, "measuring");
	if (!fault_is(&g->verdict))
		return 0;
	*run.fault = g->verdict;
	return -1;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tasks that the client has either end do between rounds. */
#include <string.h>

#include "base/clock.h"
#include "gdr.h"
#include "proto/message.h"

#define COPY_NS   UINT64_C(50000000) /* how long copies are timed, at least */
#define FLUSHES   100
#define SAME_TIME 2 /* outstanding copies */

/* Copy chunk K between the GPU and its bounce slot. */
static int submit_copy(struct gdr *g, bool out, uint64_t k)
{
	const struct experiment *e = &g->run.options->experiment;
	uint64_t data = g->here.memory[GDR_COPIED].addr, chunk = e->staged_chunk_bytes;
	uint8_t *slot = (uint8_t *)g->bounce.host + k % e->staged_slots * chunk;
	int rc = out ? gpu_stream_copy_out(g->stream, slot, data, chunk)
		     : gpu_stream_copy_in(g->stream, data, slot, chunk);

	return rc ? rc : gpu_stream_mark(g->stream, k % SAME_TIME);
}

/* Copy chunks one way for COPY_NS, SAME_TIME at once. Returns Gb/s, or 0 with the fault raised. */
static double copy_rate(struct gdr *g, bool out)
{
	uint64_t start = clock_now_ns(), ns = 0, submitted = 0, done = 0;
	uint64_t patience_ns = g->run.options->local.timeout_ns;
	int rc = 0;

	while (rc >= 0 && (ns < COPY_NS || done < submitted)) {
		if (submitted - done < SAME_TIME && ns < COPY_NS) {
			rc = submit_copy(g, out, submitted++);
		} else {
			rc = gpu_stream_done(g->stream, done % SAME_TIME);
			done += rc > 0;
		}
		ns = clock_now_ns() - start;
		if (ns > COPY_NS + patience_ns) {
			fault_raise(g->run.fault, FAULT_DEADLINE, 0,
				    "copies between GPU and host memory do not complete");
			fault_fix(g->run.fault, "check dmesg for the GPU's errors (Xid)");
			return 0;
		}
	}
	if (rc >= 0)
		return (double)(done * g->run.options->experiment.staged_chunk_bytes * 8) /
		       (double)ns;
	gpu_stream_failed(rc, out ? "copy from the GPU" : "copy to the GPU", g->run.fault);
	return 0;
}

static int time_flushes(struct gdr *g)
{
	uint64_t start = clock_now_ns();

	if (g->mine.ordering >= 100 || !gpu_about(g->run.gpu)->can_flush)
		return 0;
	for (unsigned i = 0; i < FLUSHES; i++)
		if (gpu_flush(g->run.gpu, g->run.fault))
			return -1;
	g->mine.flush_us = (double)(clock_now_ns() - start) / FLUSHES / 1e3;
	return 0;
}

/* Measure copies and flushes. The path is read right after copies: an idle GPU slows its link. */
static int do_copy(struct gdr *g, json_t *result)
{
	fault_phase(g->run.fault, "measuring copies between GPU and host memory");
	if (g->mine.gpu) {
		g->mine.copy_out_gbps = copy_rate(g, true);
		g->mine.copy_in_gbps = copy_rate(g, false);
		gdr_find_path(g);
		if (fault_is(g->run.fault) || time_flushes(g))
			return -1;
	}
	json_object_set_new(result, "side", gdr_side_json(&g->mine));
	return 0;
}

static int do_places(struct gdr *g, const json_t *what, json_t *result)
{
	const json_t *places = json_object_get(what, "places");

	if (gdr_read_places(g, places))
		return -1;
	json_object_set_new(result, "places", gdr_places_json(g));
	return 0;
}

int gdr_task(struct measure *ms, const json_t *what, json_t *result)
{
	struct measure_context run = measure_context(ms);
	struct gdr *g = run.own;
	const char *name = json_string_value(json_object_get(what, "task"));

	fault_phase(run.fault, "running the client's task");
	if (run.options->experiment.plain)
		return fault_raise(run.fault, FAULT_PEER, 0,
				   "the client requested a task in a plain run");
	if (name && strcmp(name, "places") == 0)
		return do_places(g, what, result);
	if (name && strcmp(name, "fill") == 0)
		return gdr_fill(g, what);
	if (name && strcmp(name, "check") == 0)
		return gdr_check(g, what, result);
	if (name && strcmp(name, "copy") == 0)
		return do_copy(g, result);
	if (name && strcmp(name, "ports") == 0)
		return gdr_ports_task(ms, g, what, result);
	return fault_raise(run.fault, FAULT_PEER, 0, "the client requested an unknown task");
}

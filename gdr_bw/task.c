// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the client has done at either end between rounds. */
#include <string.h>

#include "base/clock.h"
#include "gdr.h"
#include "wire/message.h"

#define COPY_NS   UINT64_C(50000000) /* at least so long, for a figure */
#define FLUSHES   100
#define SAME_TIME 2 /* copies under way */

/* Copy chunk K between the GPU and its bounce slot. */
static int submit(struct gdr *g, bool out, uint64_t k)
{
	const struct experiment *e = &g->parts.options->experiment;
	uint64_t data = g->here.memory[GDR_COPIED].addr, chunk = e->staged_chunk_bytes;
	uint8_t *slot = (uint8_t *)g->bounce.host + k % e->staged_slots * chunk;
	int rc = out ? gpu_stream_copy_out(g->stream, slot, data, chunk)
		     : gpu_stream_copy_in(g->stream, data, slot, chunk);

	return rc ? rc : gpu_stream_mark(g->stream, k % SAME_TIME);
}

/* Chunks one way, some at the same time, for a while: Gb/s, or 0 with the fault raised. */
static double copy_rate(struct gdr *g, bool out)
{
	uint64_t start = clock_now_ns(), ns = 0, submitted = 0, done = 0;
	uint64_t patience_ns = g->parts.options->local.timeout_ns;
	int rc = 0;

	while (rc >= 0 && (ns < COPY_NS || done < submitted)) {
		if (submitted - done < SAME_TIME && ns < COPY_NS) {
			rc = submit(g, out, submitted++);
		} else {
			rc = gpu_stream_done(g->stream, done % SAME_TIME);
			done += rc > 0;
		}
		ns = clock_now_ns() - start;
		if (ns > COPY_NS + patience_ns) {
			fault_raise(g->parts.fault, FAULT_DEADLINE, 0,
				    "copies between GPU and host memory do not end");
			fault_fix(g->parts.fault, "look at dmesg for the GPU's errors (Xid)");
			return 0;
		}
	}
	if (rc >= 0)
		return (double)(done * g->parts.options->experiment.staged_chunk_bytes * 8) /
		       (double)ns;
	gpu_stream_failed(rc, out ? "copy from the GPU" : "copy to the GPU", g->parts.fault);
	return 0;
}

static int time_flushes(struct gdr *g)
{
	uint64_t start = clock_now_ns();

	if (g->mine.ordering >= 100 || !gpu_about(g->parts.gpu)->can_flush)
		return 0;
	for (unsigned i = 0; i < FLUSHES; i++)
		if (gpu_flush(g->parts.gpu, g->parts.fault))
			return -1;
	g->mine.flush_us = (double)(clock_now_ns() - start) / FLUSHES / 1e3;
	return 0;
}

/* The path is looked at right after: an idle GPU may have slowed its link down. */
static int do_copy(struct gdr *g, json_t *result)
{
	fault_phase(g->parts.fault, "measuring copies between GPU and host memory");
	if (g->mine.gpu) {
		g->mine.copy_out_gbps = copy_rate(g, true);
		g->mine.copy_in_gbps = copy_rate(g, false);
		gdr_find_path(g);
		if (fault_is(g->parts.fault) || time_flushes(g))
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

int gdr_task(struct session *s, const json_t *what, json_t *result)
{
	struct session_parts parts = session_parts(s);
	struct gdr *g = parts.own;
	const char *name = json_string_value(json_object_get(what, "task"));

	fault_phase(parts.fault, "doing what the client asks for");
	if (parts.options->experiment.plain)
		return fault_raise(parts.fault, FAULT_PEER, 0,
				   "the client asked for a task in a plain run");
	if (name && strcmp(name, "places") == 0)
		return do_places(g, what, result);
	if (name && strcmp(name, "fill") == 0)
		return gdr_fill(g, what);
	if (name && strcmp(name, "check") == 0)
		return gdr_check(g, what, result);
	if (name && strcmp(name, "copy") == 0)
		return do_copy(g, result);
	return fault_raise(parts.fault, FAULT_PEER, 0, "the client asked for an unknown task");
}

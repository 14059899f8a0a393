// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tasks that the client has either end do between rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "endpoint/rail.h"
#include "gdr.h"
#include "measure/results.h"
#include "proto/fields.h"
#include "proto/snapshot.h"

#define COPY_NS   UINT64_C(50000000) /* how long copies are timed, at least */
#define FLUSHES   100
#define SAME_TIME 2 /* outstanding copies */

/* Copy chunk K between the GPU and its bounce slot. */
static int submit_copy(struct gdr *g, bool out, uint64_t k)
{
	const struct experiment *e = &g->ms->options->experiment;
	uint64_t data = g->here[GDR_COPIED].addr, chunk = e->staged_chunk_bytes;
	uint8_t *slot = (uint8_t *)g->bounce.memory.host + k % e->staged_slots * chunk;
	int rc = out ? gpu_stream_copy_out(g->stream, slot, data, chunk)
		     : gpu_stream_copy_in(g->stream, data, slot, chunk);

	return rc ? rc : gpu_stream_mark(g->stream, k % SAME_TIME);
}

/* Copy chunks one way for COPY_NS, SAME_TIME at once. Returns Gb/s, or 0 with the fault raised. */
static double copy_rate(struct gdr *g, bool out)
{
	uint64_t start = clock_now_ns(), ns = 0, submitted = 0, done = 0;
	uint64_t patience_ns = g->ms->options->local.timeout_ns;
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
			fault_raise(g->ms->fault, FAULT_DEADLINE, 0,
				    "copies between GPU and host memory do not complete");
			fault_fix(g->ms->fault, "check dmesg for the GPU's errors (Xid)");
			return 0;
		}
	}
	if (rc >= 0)
		return (double)(done * g->ms->options->experiment.staged_chunk_bytes * 8) /
		       (double)ns;
	g->ms->ep->gpu->ops->failed(g->ms->fault, -rc,
				    out ? "copy from the GPU" : "copy to the GPU");
	return 0;
}

static int time_flushes(struct gdr *g)
{
	uint64_t start = clock_now_ns();

	if (g->mine.ordering >= 100 || !g->ms->ep->gpu->info.can_flush)
		return 0;
	for (unsigned i = 0; i < FLUSHES; i++)
		if (gpu_flush(g->ms->ep->gpu, g->ms->fault))
			return -1;
	g->mine.flush_us = (double)(clock_now_ns() - start) / FLUSHES / 1e3;
	return 0;
}

/*
 * List all GPUs of this host by distance to the NIC, nearest first: "GPU 2 PIX, GPU 0 SYS". If the
 * first one is of a nearer class than the GPU in use, it is the better GPU.
 */
static void rank_paths(struct gdr *g, const struct path_tree *t, const char *nic)
{
	struct gdr_side *side = &g->mine;
	struct fault none = {0};
	struct gpu_info *list;
	size_t count;

	gpu_list(&list, &count, &none);
	fault_for_memory(&none, g->ms->fault);
	gpu_sort(list, count, t, nic, g->ms->fault);
	side->ranking[0] = side->better_gpu[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		enum path_class class = path_classify(t, nic, list[i].pci);

		text_add(side->ranking, sizeof(side->ranking), "%sGPU %d %s", i ? ", " : "",
			 list[i].index, path_class_name(class));
		if (i == 0 && class < side->path.class && side->path.class != PATH_UNKNOWN)
			snprintf(side->better_gpu, sizeof(side->better_gpu), "GPU %d (%s)",
				 list[i].index, path_class_name(class));
	}
	free(list);
}

/* Find the path between this end's GPU and NIC, and whether another GPU is nearer. */
static void find_path(struct gdr *g)
{
	const char *nic = g->ms->ep->rail->hca.info.place.pci;
	struct path_tree *t = NULL;
	struct fault unreadable = {0};

	g->mine.path.class = PATH_UNKNOWN;
	if (path_open(&t, &unreadable) == 0) {
		path_find(t, nic, g->ms->ep->gpu->info.pci, &g->mine.path);
		rank_paths(g, t, nic);
	}
	path_close(t);
	fault_for_memory(&unreadable, g->ms->fault);
}

static int do_meet(struct gdr *g, const json_t *what, json_t *result)
{
	const json_t *end = json_object_get(what, "end");

	if (end && gdr_read_end(g, end))
		return -1;
	fault_phase(g->ms->fault, "measuring copies between GPU and host memory");
	if (g->mine.gpu) {
		g->mine.copy_out_gbps = copy_rate(g, true);
		g->mine.copy_in_gbps = copy_rate(g, false);
		find_path(g); /* right after copies: an idle GPU slows its link */
		if (fault_is(g->ms->fault) || time_flushes(g))
			return -1;
	}
	json_object_set_new(result, "end", gdr_end_json(g));
	return 0;
}

static int do_ports(struct gdr *g, const json_t *what, json_t *result)
{
	struct port_snapshot s = {0};

	if (!json_is_true(json_object_get(what, "stop"))) {
		conditions_ports_start(g->ms->ep);
		g->ports_since_ns = clock_now_ns();
		return 0;
	}
	if (!g->ports_since_ns)
		return fault_raise(g->ms->fault, FAULT_PEER, 0,
				   "the client asked what the ports counted before they did");
	conditions_ports_stop(g->ms->ep, &s);
	json_object_set_new(result, "snapshot", snapshot_to_json(&s));
	return 0;
}

int gdr_task(struct measure *ms, const json_t *what, json_t *result)
{
	static const struct {
		const char *name;
		int (*run)(struct gdr *g, const json_t *what, json_t *result);
	} task[] = {
		{"meet", do_meet},
		{"fill", gdr_fill},
		{"check", gdr_check},
		{"ports", do_ports},
	};
	const char *name = json_text_at(what, "task");

	fault_phase(ms->fault, "running the client's task");
	if (!ms->own)
		return fault_raise(ms->fault, FAULT_PEER, 0,
				   "the client requested a task in a plain run");
	for (size_t i = 0; i < sizeof(task) / sizeof(task[0]); i++)
		if (strcmp(name, task[i].name) == 0)
			return task[i].run(ms->own, what, result);
	return fault_raise(ms->fault, FAULT_PEER, 0, "the client requested an unknown task");
}

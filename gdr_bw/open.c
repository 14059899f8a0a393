// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Allocates and registers GPU memory at one end, or finds out why the NIC cannot reach any. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "endpoint/worker.h"
#include "gdr.h"

/* Keep the reason for F and its fix: there is no GPU, or no direct route to its memory. */
static void note_reason(struct gdr_side *side, const char *what, const struct fault *f)
{
	snprintf(side->reason, sizeof(side->reason), "%s", what);
	text_add(side->reason, sizeof(side->reason), "%s%s", what[0] && f->cause[0] ? ". " : "",
		 f->cause);
	text_copy(side->fix, sizeof(side->fix), f->fix);
}

/* A slice of GPU memory for each QP, or room for the largest message, by the route of --gpu-path. */
static int make_gpu_buffer(struct gdr *g)
{
	struct endpoint *ep = g->ms->ep;
	struct worker *w = &ep->worker[0];
	uint64_t stride = g->here[0].stride, bytes = w->qps.count * stride;

	if (bytes < ep->largest_bytes)
		bytes = ep->largest_bytes;
	if (endpoint_gpu_memory(w, bytes, worker_access(w), &g->buffer) == 0) {
		g->mine.direct = true;
		g->mine.relaxed_ordering = g->buffer.gpu_mr.relaxed_ordering;
		g->here[1] = (struct gdr_place){g->buffer.memory.addr, stride, g->buffer.lkey,
						g->buffer.rkey};
		return 0;
	}
	*g->ms->fault = w->fault;
	if (w->fault.code != FAULT_UNAVAILABLE || ep->options->local.gpu_path != GPU_PATH_AUTO)
		return -1;
	note_reason(&g->mine, "", &w->fault);
	fault_clear(g->ms->fault);
	fault_clear(&w->fault);
	return 0;
}

int gdr_open(struct measure *ms, void **own)
{
	struct worker *w = &ms->ep->worker[0];
	struct round_slice memory = worker_buffers(w).into;
	const struct gpu *gpu = ms->ep->gpu;
	struct gdr *g;

	if (ms->options->experiment.plain)
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return fault_raise(ms->fault, FAULT_LOCAL, ENOMEM, "allocating gdr_bw's state");
	*own = g;
	g->ms = ms;
	g->here[0] = (struct gdr_place){memory.addr, memory.stride, memory.key, w->mem.rkey};
	g->mine.path.class = PATH_UNKNOWN;
	if (ms->ep->server)
		report_note(ms->report, "the client shows the results");
	if (!gpu) {
		note_reason(&g->mine, ms->ep->gpu_absent.call, &ms->ep->gpu_absent);
		return 0;
	}
	g->mine.gpu = true;
	g->mine.integrated = gpu->info.integrated;
	return make_gpu_buffer(g);
}

void gdr_close(void *own)
{
	struct gdr *g = own;

	if (!g)
		return;
	mem_release(&g->buffer);
	free(g->attr.scratch);
	free(g);
}

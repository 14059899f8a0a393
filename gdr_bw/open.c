// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Allocates and registers memory at one end, or finds out why the NIC cannot reach the GPU's. */
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

/* The other end knows memory I of this one by its keys. */
static int add_place(struct gdr *g, unsigned i, uint64_t stride)
{
	const struct mem *m = &g->mem[i];
	uint64_t guard = i == GDR_GPU ? GDR_GUARD_BYTES : 0;

	g->here[i] = (struct gdr_place){m->memory.addr + guard, stride, m->lkey, m->rkey};
	return 0;
}

/* Slices of GPU memory, or room for the largest message, between guards, by --gpu-path's route. */
static int make_gpu_buffer(struct gdr *g)
{
	struct endpoint *ep = g->ms->ep;
	struct worker *w = &ep->worker[0];
	uint64_t stride = g->here[GDR_HOST].stride, bytes = w->qps.count * stride;

	if (bytes < ep->largest_bytes)
		bytes = ep->largest_bytes;
	bytes += 2 * GDR_GUARD_BYTES;
	if (endpoint_gpu_memory(w, bytes, worker_access(w), &g->mem[GDR_GPU]) == 0) {
		g->mine.direct = true;
		g->mine.relaxed_ordering = g->mem[GDR_GPU].gpu_mr.relaxed_ordering;
		return add_place(g, GDR_GPU, stride);
	}
	*g->ms->fault = w->fault;
	if (w->fault.code != FAULT_UNAVAILABLE || ep->options->local.gpu_path != GPU_PATH_AUTO)
		return -1;
	note_reason(&g->mine, "", &w->fault);
	fault_clear(g->ms->fault);
	fault_clear(&w->fault);
	return 0;
}

/* Make BYTES of host memory for copies, as place I. */
static int make_host(struct gdr *g, unsigned i, size_t bytes, unsigned access)
{
	struct worker *w = &g->ms->ep->worker[0];
	struct mem_attr attr = {w->qps.pd, {.bytes = bytes, .pin = &w->pin}, .access = access};

	return mem_init(&g->mem[i], &attr, g->ms->fault) || add_place(g, i, 0) ? -1 : 0;
}

/* Make what copies through host memory need, of GPU if this end has one. */
static int make_staged(struct gdr *g, struct gpu *gpu)
{
	struct memory_attr data = {.gpu = gpu, .bytes = STAGED_CHUNK_BYTES + 2 * GDR_GUARD_BYTES};
	size_t bytes = STAGED_SLOTS * STAGED_CHUNK_BYTES;
	struct fault *f = g->ms->fault;

	if (make_host(g, GDR_SLOTS, bytes, worker_access(&g->ms->ep->worker[0])) ||
	    make_host(g, GDR_WORDS, STAGED_WORDS * sizeof(uint64_t), IBV_ACCESS_REMOTE_WRITE) ||
	    (gpu && memory_alloc(&g->data, &data, f)))
		return -1;
	return gpu ? gpu_stream_open(&g->stream, gpu, g->mem[GDR_SLOTS].memory.host, bytes, f) : 0;
}

int gdr_open(struct measure *ms, void **own)
{
	struct worker *w = &ms->ep->worker[0];
	struct round_slice memory = worker_buffers(w).into;
	struct gpu *gpu = ms->ep->gpu;
	struct gdr *g;

	if (ms->options->experiment.plain)
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return fault_raise(ms->fault, FAULT_LOCAL, ENOMEM, "allocating gdr_bw's state");
	*own = g;
	g->ms = ms;
	g->here[GDR_HOST] = (struct gdr_place){memory.addr, memory.stride, memory.key, w->mem.rkey};
	g->mine.path.class = PATH_UNKNOWN;
	if (ms->ep->server && !json_object_size(ms->report->run.ends)) /* once, of several GPUs */
		report_note(ms->report, "the client shows the results");
	if (make_staged(g, gpu))
		return -1;
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
	gpu_stream_close(g->stream);
	memory_free(&g->data);
	for (unsigned i = 0; i < GDR_PLACES; i++)
		mem_release(&g->mem[i]);
	free(g->attr.scratch);
	free(g);
}

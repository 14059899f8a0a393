// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Allocates and registers what gdr_bw needs at one end: GPU memory, bounce buffers, credits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "endpoint/worker.h"
#include "gdr.h"
#include "loop/staged.h"

#define CREDIT_WORDS (1 + STAGED_SLOTS_MAX) /* one to receive, the others to send */

static unsigned access_rights(const struct gdr *g, bool ordered)
{
	unsigned relaxed = g->ms->options->experiment.strict_order || ordered
				   ? 0
				   : IBV_ACCESS_RELAXED_ORDERING;

	return IBV_ACCESS_REMOTE_WRITE | relaxed;
}

/* Register the GPU buffer by one route, and store its address and keys. */
static int add_route(struct gdr *g, const struct gpu_mr_attr *attr)
{
	struct gpu_mr *m = &g->registered[attr->route];

	if (gpu_mr_init(m, attr, g->ms->fault))
		return -1;
	g->mine.relaxed_ordering |= m->relaxed_ordering;
	g->here[GDR_DMABUF + attr->route] = g->here[GDR_COPIED];
	g->here[GDR_DMABUF + attr->route].lkey = m->mr->lkey;
	g->here[GDR_DMABUF + attr->route].rkey = m->mr->rkey;
	return 0;
}

/* With --gpu-path, treat all other routes as refused; fail if this end lacks the requested one. */
static int keep_requested_route(struct gdr *g, struct gpu_routes *routes)
{
	enum gpu_path wanted = (enum gpu_path)g->ms->options->local.gpu_path;
	enum gpu_route chosen;

	if (gpu_routes_choose(routes, wanted, &chosen, g->ms->fault))
		return -1;
	for (unsigned r = 0; wanted != GPU_PATH_AUTO && r < GPU_ROUTE_STAGED; r++) {
		struct fault *refused = &routes->refused[r];

		if (r == chosen)
			continue;
		fault_raise(refused, FAULT_UNAVAILABLE, 0, "--gpu-path");
		text_copy(refused->cause, sizeof(refused->cause),
			  "--gpu-path selects another route");
	}
	gpu_routes_format(routes, chosen, g->mine.route, sizeof(g->mine.route));
	g->mine.direct = chosen != GPU_ROUTE_STAGED;
	if (!g->mine.direct)
		text_copy(g->mine.fix, sizeof(g->mine.fix), routes->refused[GPU_ROUTE_DMABUF].fix);
	return 0;
}

/*
 * Allocate the GPU's buffer: a slice for each QP, or room for the largest message, between two guards
 * that no message may change. Register it by each route that this end has and --gpu-path allows;
 * without one, data reach it by copies only.
 */
static int make_gpu_buffer(struct gdr *g)
{
	uint64_t stride = g->here[GDR_HOST].stride, slices = g->w->qps.count * stride;
	struct gpu_mr_attr attr = {
		.pd = g->w->qps.pd, .gpu = g->ms->ep->gpu, .access = access_rights(g, false)};
	struct gpu_routes routes;

	if (slices < g->ms->ep->message_max)
		slices = g->ms->ep->message_max;
	attr.bytes = slices + 2 * GDR_GUARD_BYTES;
	if (memory_alloc(&g->buffer, &(struct memory_attr){.gpu = attr.gpu, .bytes = attr.bytes},
			 g->ms->fault))
		return -1;
	attr.addr = g->buffer.addr;
	g->here[GDR_COPIED] = (struct gdr_place){attr.addr + GDR_GUARD_BYTES, stride, 0, 0};
	if (gpu_routes_probe(&routes, attr.pd, attr.gpu, g->ms->fault) ||
	    keep_requested_route(g, &routes))
		return -1;
	for (attr.route = GPU_ROUTE_DMABUF; attr.route < GPU_ROUTE_STAGED; attr.route++)
		if (gpu_routes_have(&routes, attr.route) && add_route(g, &attr))
			return -1;
	return 0;
}

/* Allocate host memory; ORDERED: writes to it arrive in order. */
static int make_host(struct gdr *g, struct mem *m, size_t bytes, bool ordered)
{
	struct mem_attr attr = {.pd = g->w->qps.pd,
				.memory = {.bytes = bytes, .pin = &g->w->pin},
				.access = access_rights(g, ordered)};

	return mem_init(m, &attr, g->ms->fault);
}

/* Allocate the slots for staged transfers, and register them with the NIC and the GPU's driver. */
static int make_bounce(struct gdr *g)
{
	const struct experiment *e = &g->ms->options->experiment;
	struct gpu *gpu = g->ms->ep->gpu;
	struct fault *f = g->ms->fault;
	size_t bytes = e->staged_slots * e->staged_chunk_bytes;

	if (make_host(g, &g->bounce, bytes, false) ||
	    gpu->ops->host_register(gpu, g->bounce.memory.host, bytes, f))
		return -1;
	g->bounce_known = true;
	g->here[GDR_TARGET] = (struct gdr_place){g->bounce.memory.addr, e->staged_chunk_bytes,
						 g->bounce.lkey, g->bounce.rkey};
	return gpu_stream_open(&g->stream, gpu, (unsigned)e->staged_slots, f);
}

static int make_credit(struct gdr *g)
{
	if (make_host(g, &g->credit, CREDIT_WORDS * sizeof(uint64_t), true))
		return -1;
	g->here[GDR_CREDIT] =
		(struct gdr_place){g->credit.memory.addr, 0, g->credit.lkey, g->credit.rkey};
	return 0;
}

/* Store the properties of this end's GPU or, without one, the reason and how to get one. */
static void store_gpu_facts(struct gdr *g)
{
	const struct fault *absent = &g->ms->ep->gpu_absent;
	const struct gpu *gpu = g->ms->ep->gpu;

	g->mine.gpu = gpu != NULL;
	g->mine.path.class = PATH_UNKNOWN;
	g->mine.ordering = gpu ? gpu->info.ordering : -1;
	g->mine.integrated = gpu && gpu->info.integrated;
	g->mine.gpudirect = gpu && gpu->info.gpudirect;
	if (!gpu) {
		snprintf(g->mine.fix, sizeof(g->mine.fix), "%.300s", absent->fix);
		snprintf(g->mine.absent, sizeof(g->mine.absent), "%.150s%s%.100s", absent->call,
			 absent->cause[0] ? ". " : "", absent->cause);
	}
}

int gdr_open(struct measure *ms, void **own)
{
	struct worker *w = &ms->ep->worker[0];
	struct round_slice memory = worker_buffers(w).into;
	struct gdr *g;

	if (ms->options->experiment.plain)
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return fault_raise(ms->fault, FAULT_LOCAL, ENOMEM, "allocating gdr_bw's state");
	*own = g;
	g->ms = ms;
	g->w = w;
	g->here[GDR_HOST] = (struct gdr_place){memory.addr, memory.stride, memory.key, w->mem.rkey};
	store_gpu_facts(g);
	if (ms->ep->server)
		report_note(ms->report, "the client shows the results");
	if (make_credit(g))
		return -1;
	return ms->ep->gpu && (make_gpu_buffer(g) || make_bounce(g)) ? -1 : 0;
}

void gdr_close(void *own)
{
	struct gdr *g = own;

	if (!g)
		return;
	gpu_stream_close(g->stream);
	for (unsigned i = 0; i < GPU_ROUTES; i++)
		gpu_mr_release(&g->registered[i]);
	if (g->bounce_known)
		g->ms->ep->gpu->ops->host_release(g->ms->ep->gpu, g->bounce.memory.host);
	mem_release(&g->bounce);
	mem_release(&g->credit);
	memory_free(&g->buffer);
	free(g->attr.scratch);
	free(g->result);
	free(g);
}

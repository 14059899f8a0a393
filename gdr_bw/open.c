// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What gdr_bw needs at one end: GPU memory by every route, bounce buffers, credits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdr.h"

#define CREDIT_WORDS (1 + STAGED_SLOTS_MAX) /* one that comes in, the others go out */

static unsigned access_rights(const struct gdr *g, bool ordered)
{
	unsigned relaxed = g->parts.options->experiment.strict_order || ordered
				   ? 0
				   : IBV_ACCESS_RELAXED_ORDERING;

	return IBV_ACCESS_REMOTE_WRITE | relaxed;
}

/* Register the buffer by ROUTE, if there is one, and note where its slices are. */
static int add_route(struct gdr *g, enum gpu_route route, enum gdr_memory memory)
{
	struct mem *m = &g->registered[memory];
	struct gpu_mr_ask ask = {
		.pd = g->parts.qps->pd,
		.gpu = g->parts.gpu,
		.route = route,
		.addr = g->buffer,
		.bytes = g->buffer_bytes,
		.access = access_rights(g, false),
	};

	if (!g->routes.state[route].available)
		return 0;
	if (mem_init_gpu(m, &ask, g->parts.fault))
		return -1;
	g->mine.relaxed |= m->gpu_mr.relaxed_ordering;
	g->here.memory[memory] = (struct gdr_place){g->buffer + GDR_GUARD_BYTES,
						    g->parts.memory.stride, m->lkey, m->rkey};
	return 0;
}

/* With --gpu-path the other routes are as if they were not there; a route named must be there. */
static int keep_asked_for(struct gdr *g)
{
	enum gpu_path wish = (enum gpu_path)g->parts.options->local.gpu_path;
	enum gpu_route chosen;

	if (gpu_routes_choose(&g->routes, wish, &chosen, g->parts.fault))
		return -1;
	for (unsigned r = 0; wish != GPU_PATH_AUTO && r < GPU_ROUTE_STAGED; r++) {
		struct gpu_route_state *state = &g->routes.state[r];

		if (r == chosen)
			continue;
		state->available = false;
		snprintf(state->why, sizeof(state->why), "--gpu-path asks for another route");
	}
	gpu_routes_format(&g->routes, chosen, g->mine.route, sizeof(g->mine.route));
	g->mine.direct = chosen != GPU_ROUTE_STAGED;
	if (!g->mine.direct)
		snprintf(g->mine.fix, sizeof(g->mine.fix), "%s",
			 g->routes.state[GPU_ROUTE_DMABUF].fix);
	return 0;
}

static int make_buffer(struct gdr *g)
{
	uint64_t slices = g->parts.qps->count * g->parts.memory.stride;

	if (slices < g->message_max)
		slices = g->message_max;
	g->buffer_bytes = slices + 2 * GDR_GUARD_BYTES;
	g->buffer = gpu_alloc(g->parts.gpu, g->buffer_bytes, g->parts.fault);
	if (!g->buffer)
		return -1;
	g->here.memory[GDR_COPIED] =
		(struct gdr_place){g->buffer + GDR_GUARD_BYTES, g->parts.memory.stride, 0, 0};
	if (gpu_routes_probe(&g->routes, g->parts.qps->pd, g->parts.gpu, g->parts.fault) ||
	    keep_asked_for(g))
		return -1;
	return add_route(g, GPU_ROUTE_DMABUF, GDR_DMABUF) ||
			       add_route(g, GPU_ROUTE_PEERMEM, GDR_PEERMEM) ||
			       add_route(g, GPU_ROUTE_DATA_DIRECT, GDR_DATA_DIRECT)
		       ? -1
		       : 0;
}

/* Slots for staged transfers; fast to copy from and to, and registered with the NIC. */
static int make_bounce(struct gdr *g)
{
	const struct experiment *e = &g->parts.options->experiment;
	struct fault *f = g->parts.fault;
	size_t bytes = e->staged_slots * e->staged_chunk_bytes;

	if (mem_init(&g->bounce, g->parts.qps->pd, g->parts.pin, bytes, access_rights(g, false), f))
		return -1;
	if (gpu_host_register(g->parts.gpu, g->bounce.host, bytes, f))
		return -1;
	g->bounce_known = true;
	g->here.target = (struct gdr_place){g->bounce.addr, e->staged_chunk_bytes, g->bounce.lkey,
					    g->bounce.rkey};
	return gpu_stream_open(&g->stream, g->parts.gpu, (unsigned)e->staged_slots, f);
}

static int make_credit(struct gdr *g)
{
	if (mem_init(&g->credit, g->parts.qps->pd, g->parts.pin, CREDIT_WORDS * sizeof(uint64_t),
		     access_rights(g, true), g->parts.fault))
		return -1;
	g->here.credit = (struct gdr_place){g->credit.addr, 0, g->credit.lkey, g->credit.rkey};
	return 0;
}

static void note_gpu(struct gdr *g)
{
	const struct fault *absent = g->parts.gpu_absent;

	g->mine.path.class = PATH_UNKNOWN;
	g->mine.ordering = -1;
	g->mine.gpu = g->parts.gpu != NULL;
	if (g->parts.gpu) {
		g->mine.gpudirect = gpu_about(g->parts.gpu)->gpudirect;
		g->mine.ordering = gpu_about(g->parts.gpu)->ordering;
	} else {
		snprintf(g->mine.fix, sizeof(g->mine.fix), "%.300s", absent->fix);
		snprintf(g->mine.absent, sizeof(g->mine.absent), "%.150s%s%.100s", absent->call,
			 absent->cause[0] ? ". " : "", absent->cause);
	}
}

int gdr_open(struct session *s, void **own)
{
	struct session_parts parts = session_parts(s);
	struct gdr *g;

	if (parts.options->experiment.plain)
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return fault_raise(parts.fault, FAULT_LOCAL, ENOMEM, "gdr_bw's own");
	*own = g;
	g->parts = parts;
	g->message_max = parts.message_max;
	g->here.memory[GDR_HOST] = (struct gdr_place){parts.memory.addr, parts.memory.stride,
						      parts.memory.key, parts.memory_rkey};
	note_gpu(g);
	if (parts.server)
		report_note(parts.report, "the client shows the results");
	if (make_credit(g))
		return -1;
	return g->parts.gpu && (make_buffer(g) || make_bounce(g)) ? -1 : 0;
}

void gdr_close(void *own)
{
	struct gdr *g = own;

	if (!g)
		return;
	gpu_stream_close(g->stream);
	for (unsigned i = 0; i < GDR_MEMORIES; i++)
		mem_release(&g->registered[i]);
	if (g->bounce_known)
		gpu_host_release(g->parts.gpu, g->bounce.host);
	mem_release(&g->bounce);
	mem_release(&g->credit);
	if (g->buffer)
		gpu_free(g->parts.gpu, g->buffer);
	for (unsigned i = 0; i < g->results; i++)
		free(g->result[i].gbps);
	free(g->result);
	free(g);
}

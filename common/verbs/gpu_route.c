// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/gpu_route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "verbs/gpu_route_try.h"

#define PROBE_BYTES 65536

static bool is_direct(enum gpu_route route)
{
	return route < GPU_ROUTE_STAGED;
}

void gpu_route_before_open(void)
{
	setenv("MLX5_SCATTER_TO_CQE", "0", 0);
}

/* Try one route, and undo it. */
static void probe(struct gpu_route_state *s, const struct gpu_mr_ask *ask)
{
	struct gpu_try t;

	gpu_try_register(&t, ask);
	gpu_try_explain(&t, ask, s);
	s->available = t.mr != NULL;
	if (t.mr)
		ibv_dereg_mr(t.mr);
}

int gpu_routes_probe(struct gpu_routes *r, struct ibv_pd *pd, struct gpu *g, struct fault *f)
{
	struct gpu_mr_ask ask = {
		.pd = pd,
		.gpu = g,
		.bytes = PROBE_BYTES,
		.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	memset(r, 0, sizeof(*r));
	r->state[GPU_ROUTE_STAGED].available = true;
	ask.addr = gpu_alloc(g, PROBE_BYTES, f);
	if (!ask.addr)
		return -1;
	for (ask.route = 0; is_direct(ask.route); ask.route++)
		probe(&r->state[ask.route], &ask);
	gpu_free(g, ask.addr);
	return 0;
}

int gpu_routes_choose(const struct gpu_routes *r, enum gpu_path wish, enum gpu_route *chosen,
		      struct fault *f)
{
	static const enum gpu_route named[] = {
		[GPU_PATH_DMABUF] = GPU_ROUTE_DMABUF,
		[GPU_PATH_PEERMEM] = GPU_ROUTE_PEERMEM,
		[GPU_PATH_STAGED] = GPU_ROUTE_STAGED,
	};
	const struct gpu_route_state *s;
	enum gpu_route route = 0;

	if (wish == GPU_PATH_AUTO) {
		while (!r->state[route].available)
			route++;
		*chosen = route;
		return 0;
	}
	*chosen = named[wish];
	s = &r->state[*chosen];
	if (s->available)
		return 0;
	fault_phase(f, "choosing the way to GPU memory");
	fault_raise(f, FAULT_UNAVAILABLE, s->errnum, "--gpu-path %s", gpu_route_name(*chosen));
	fault_cause(f, "%s", s->why);
	return s->fix[0] ? fault_fix(f, "%s", s->fix)
			 : fault_fix(f, "--gpu-path auto takes what there is");
}

const char *gpu_routes_format(const struct gpu_routes *r, enum gpu_route chosen, char *buf,
			      size_t size)
{
	const struct gpu_route_state *dmabuf = &r->state[GPU_ROUTE_DMABUF];
	const struct gpu_route_state *peermem = &r->state[GPU_ROUTE_PEERMEM];

	/* That there is no Data Direct surprises nobody. */
	if (chosen == GPU_ROUTE_DMABUF && !peermem->available)
		snprintf(buf, size, "%s; not by peermem: %s", gpu_route_words(chosen),
			 peermem->why);
	else if (chosen == GPU_ROUTE_DMABUF || dmabuf->available)
		snprintf(buf, size, "%s", gpu_route_words(chosen));
	else if (chosen == GPU_ROUTE_PEERMEM || peermem->available)
		snprintf(buf, size, "%s, since dma-buf: %s", gpu_route_words(chosen), dmabuf->why);
	else if (strcmp(dmabuf->why, peermem->why) == 0)
		snprintf(buf, size, "%s, since dma-buf and peermem: %s", gpu_route_words(chosen),
			 dmabuf->why);
	else
		snprintf(buf, size, "%s, since dma-buf: %s; peermem: %s", gpu_route_words(chosen),
			 dmabuf->why, peermem->why);
	return buf;
}

const char *gpu_route_name(enum gpu_route route)
{
	static const char *const name[GPU_ROUTES] = {"dmabuf", "peermem", "data_direct", "staged"};

	return name[route];
}

const char *gpu_route_words(enum gpu_route route)
{
	static const char *const words[GPU_ROUTES] = {"dma-buf", "peermem", "Data Direct",
						      "staged through host memory"};

	return words[route];
}

static int check_window(const struct gpu_mr_ask *ask, struct fault *f)
{
	const struct gpu_info *g = gpu_about(ask->gpu);
	char want[32], have[32], half[32];

	if (!g->bar1_bytes || ask->bytes <= g->bar1_bytes / 2)
		return 0;
	units_format_size(ask->bytes, want, sizeof(want));
	units_format_size(g->bar1_bytes, have, sizeof(have));
	units_format_size(g->bar1_bytes / 2, half, sizeof(half));
	fault_raise(f, FAULT_LOCAL, 0, "%s of GPU memory", want);
	fault_cause(f,
		    "The window through which others reach the memory of %s (BAR1) is %s, and not "
		    "more than half of it is taken",
		    g->name, have);
	return fault_fix(f,
			 "use smaller messages (-s) or fewer QPs (-q), %s in all; or enable large "
			 "BARs (Above 4G, Resizable BAR) in the BIOS",
			 half);
}

static int raise_failure(const struct gpu_try *t, const struct gpu_mr_ask *ask, struct fault *f)
{
	struct gpu_route_state s;
	char size[32];

	memset(&s, 0, sizeof(s));
	gpu_try_explain(t, ask, &s);
	units_format_size(ask->bytes, size, sizeof(size));
	if (t->result)
		fault_raise(f, FAULT_LOCAL, 0, "%s(%s): %s (%d)", t->call, size,
			    gpu_error_name(t->result), t->result);
	else if (t->step == GPU_STEP_LIBRARY || t->step == GPU_STEP_DEVICE)
		fault_raise(f, FAULT_LOCAL, t->errnum, "%s", t->call);
	else
		fault_raise(f, FAULT_LOCAL, t->errnum, "%s(%s of GPU memory)", t->call, size);
	fault_cause(f, "%s", s.why);
	return s.fix[0] ? fault_fix(f, "%s", s.fix) : -1;
}

int gpu_mr_init(struct gpu_mr *m, const struct gpu_mr_ask *ask, struct fault *f)
{
	struct gpu_try t;

	memset(m, 0, sizeof(*m));
	fault_phase(f, "registering GPU memory");
	if (check_window(ask, f))
		return -1;
	gpu_try_register(&t, ask);
	if (!t.mr)
		return raise_failure(&t, ask, f);
	*m = (struct gpu_mr){
		.mr = t.mr,
		.addr = ask->addr,
		.bytes = ask->bytes,
		.route = ask->route,
		.relaxed_ordering = t.relaxed_ordering,
	};
	return 0;
}

void gpu_mr_release(struct gpu_mr *m)
{
	if (m->mr)
		ibv_dereg_mr(m->mr);
	memset(m, 0, sizeof(*m));
}

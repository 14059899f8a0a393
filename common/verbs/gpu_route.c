// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/gpu_route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "verbs/gpu_route_try.h"

#define PROBE_BYTES 65536

void gpu_route_before_open(void)
{
	setenv("MLX5_SCATTER_TO_CQE", "0", 0);
}

int gpu_routes_probe(struct gpu_routes *r, struct ibv_pd *pd, struct gpu *g, struct fault *f)
{
	struct gpu_mr_attr attr = {
		.pd = pd,
		.gpu = g,
		.bytes = PROBE_BYTES,
		.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	memset(r, 0, sizeof(*r));
	attr.addr = gpu_alloc(g, PROBE_BYTES, f);
	if (!attr.addr)
		return -1;
	for (attr.route = 0; attr.route < GPU_ROUTE_STAGED; attr.route++) {
		struct gpu_mr m;

		gpu_try(&m, &attr, &r->refused[attr.route]);
		gpu_mr_release(&m);
	}
	gpu_free(g, attr.addr);
	return 0;
}

int gpu_routes_choose(const struct gpu_routes *r, enum gpu_path wanted, enum gpu_route *chosen,
		      struct fault *f)
{
	static const enum gpu_route named[] = {
		[GPU_PATH_DMABUF] = GPU_ROUTE_DMABUF,
		[GPU_PATH_PEERMEM] = GPU_ROUTE_PEERMEM,
		[GPU_PATH_STAGED] = GPU_ROUTE_STAGED,
	};
	const struct fault *refused;

	*chosen = wanted == GPU_PATH_AUTO ? 0 : named[wanted];
	while (wanted == GPU_PATH_AUTO && !gpu_routes_have(r, *chosen))
		++*chosen;
	if (gpu_routes_have(r, *chosen))
		return 0;
	refused = &r->refused[*chosen];
	fault_phase(f, "choosing the path to GPU memory");
	fault_raise(f, FAULT_UNAVAILABLE, refused->errnum, "--gpu-path %s",
		    gpu_route_name(*chosen));
	fault_cause(f, "%s", refused->cause);
	return fault_fix(f, "%s", refused->fix[0] ? refused->fix : "use --gpu-path auto");
}

const char *gpu_routes_format(const struct gpu_routes *r, enum gpu_route chosen, char *buf,
			      size_t size)
{
	const char *dmabuf = r->refused[GPU_ROUTE_DMABUF].cause;
	const char *peermem = r->refused[GPU_ROUTE_PEERMEM].cause;

	/* A missing Data Direct is normal and not mentioned. */
	snprintf(buf, size, "%s", gpu_route_words(chosen));
	if (chosen == GPU_ROUTE_DMABUF && peermem[0])
		text_add(buf, size, "; not peermem: %s", peermem);
	else if (chosen == GPU_ROUTE_DMABUF || !dmabuf[0])
		return buf;
	else if (chosen == GPU_ROUTE_PEERMEM || !peermem[0])
		text_add(buf, size, "; not dma-buf: %s", dmabuf);
	else if (strcmp(dmabuf, peermem) == 0)
		text_add(buf, size, "; neither dma-buf nor peermem: %s", dmabuf);
	else
		text_add(buf, size, "; not dma-buf: %s; not peermem: %s", dmabuf, peermem);
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

/* Check that the memory is at most half of BAR1, if its size is known. */
static int check_bar1(const struct gpu_mr_attr *attr, struct fault *f)
{
	const struct gpu_info *g = gpu_about(attr->gpu);

	if (!g->bar1_bytes || attr->bytes <= g->bar1_bytes / 2)
		return 0;
	fault_raise(f, FAULT_LOCAL, 0, "%s of GPU memory", units_size(attr->bytes).text);
	fault_cause(f,
		    "The PCIe window to the memory of %s (BAR1) is %s, and rdmark uses at most "
		    "half of it",
		    g->name, units_size(g->bar1_bytes).text);
	return fault_fix(f,
			 "use smaller messages (-s) or fewer QPs (-q), at most %s in total; or "
			 "enable large BARs (Above 4G, Resizable BAR) in the BIOS",
			 units_size(g->bar1_bytes / 2).text);
}

int gpu_mr_init(struct gpu_mr *m, const struct gpu_mr_attr *attr, struct fault *f)
{
	memset(m, 0, sizeof(*m));
	fault_phase(f, "registering GPU memory");
	return check_bar1(attr, f) || gpu_try(m, attr, f) ? -1 : 0;
}

void gpu_mr_release(struct gpu_mr *m)
{
	if (m->mr)
		ibv_dereg_mr(m->mr);
	memset(m, 0, sizeof(*m));
}

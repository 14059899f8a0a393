/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpu_route: the routes by which a NIC reaches GPU memory, which of them this machine has, and why
 * the others do not work.
 *
 * dma-buf: the GPU driver exports the memory as a file descriptor, and the kernel's own RDMA stack
 * registers it. peermem: with NVIDIA's nvidia_peermem module a device address can be registered
 * like any other; that needs MLNX_OFED or DOCA. Data Direct: a dma-buf through the second PCIe
 * function of a ConnectX-8.
 *
 * A route is tested by registering a little GPU memory. What sysfs and the driver say only
 * explains a failure. Release a struct gpu_mr before its memory is freed and when no transfer is in
 * progress: the NIC's mapping keeps the memory pinned until then.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "memory/gpu.h"

/* In the order of preference of `auto`. */
enum gpu_route {
	GPU_ROUTE_DMABUF,
	GPU_ROUTE_PEERMEM,
	GPU_ROUTE_DATA_DIRECT,
	GPU_ROUTES
};

/* --gpu-path */
enum gpu_path {
	GPU_PATH_AUTO,
	GPU_PATH_DMABUF,
	GPU_PATH_PEERMEM,
	GPU_PATH_DATA_DIRECT
};

/* Which routes are available. */
struct gpu_routes {
	struct fault refused[GPU_ROUTES]; /* why not, with the cause and maybe a fix; empty:
					     available */
};

static inline bool gpu_routes_have(const struct gpu_routes *r, enum gpu_route route)
{
	return !fault_is(&r->refused[route]);
}

/*
 * Call it before opening the device if GPU memory may be used. Otherwise mlx5 writes small payloads
 * into completions, and the CPU copies them to an address that it must not access (scatter to CQE).
 * Sets MLX5_SCATTER_TO_CQE, unless the user did. The caller must not use inline data.
 */
void gpu_route_before_open(void);

/*
 * Try every route from G's memory to PD's device. Returns -1, with the fault raised, only if
 * G has no memory for the test.
 */
int gpu_routes_probe(struct gpu_routes *r, struct ibv_pd *pd, struct gpu *g, struct fault *f);

/*
 * Choose the route for WANTED: the named one, or with `auto` the first available one. Raises
 * FAULT_UNAVAILABLE with the reason and the fix if that is not available, or none is. Returns 0 or
 * -1.
 */
int gpu_routes_choose(const struct gpu_routes *r, enum gpu_path wanted, enum gpu_route *chosen,
		      struct fault *f);

/*
 * Write the route for the banner, with the reason against dma-buf or peermem if it is not used:
 * "dma-buf; not peermem: …". Returns BUF.
 */
const char *gpu_routes_format(const struct gpu_routes *r, enum gpu_route chosen, char *buf,
			      size_t size);

/*
 * The name of a route in --gpu-path and JSON, "dmabuf"; "" for GPU_ROUTES; and in messages,
 * "dma-buf". Static storage.
 */
const char *gpu_route_name(enum gpu_route route);
const char *gpu_route_words(enum gpu_route route);

struct gpu_mr {
	struct ibv_mr *mr; /* keys only: mr->addr is not the address */
	uint64_t addr;     /* for SGEs and remote addresses */
	size_t bytes;
	bool relaxed_ordering; /* requested and accepted */
	bool data_direct;      /* registered by that route */
};

struct gpu_mr_attr {
	struct ibv_pd *pd;
	struct gpu *gpu;
	enum gpu_route route;
	bool probe;    /* fail if the driver moves the memory; see gpu_routes_probe() */
	uint64_t addr; /* inside its memory (memory.h) */
	size_t bytes;
	unsigned access; /* enum ibv_access_flags; local write is added, and relaxed ordering
			    dropped if it is not supported */
};

/*
 * Register GPU memory. Refuses more than half of BAR1, which is the window for all devices that
 * access the GPU over PCIe. Returns 0, or -1 with FAULT_LOCAL and the cause. Call gpu_mr_release()
 * also after a failure.
 */
int gpu_mr_init(struct gpu_mr *m, const struct gpu_mr_attr *attr, struct fault *f);

/* Safe on a zeroed object. */
void gpu_mr_release(struct gpu_mr *m);

/* Make the NIC's writes visible, as gpu_flush(); those by Data Direct always: no GPU orders it. */
static inline int gpu_route_flush(struct gpu *g, bool data_direct, struct fault *f)
{
	return data_direct && g->info.can_flush ? gpu_flush_now(g, f) : gpu_flush(g, f);
}

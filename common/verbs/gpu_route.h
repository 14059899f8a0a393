/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpu_route: how a NIC gets at GPU memory, which of the ways this machine has, and why not the
 * others.
 *
 * dma-buf: the driver exports the memory as a file descriptor, which the kernel's own RDMA stack
 * registers. peermem: NVIDIA's nvidia_peermem module lets a device address be registered like any
 * other; that needs MLNX_OFED or DOCA. Data Direct: a dma-buf by way of ConnectX-8's second PCIe
 * function. Staged: through host memory, by copies; nothing is registered, so it always works.
 *
 * Whether a direct route works is found out by registering a little GPU memory; what sysfs and the
 * driver say only explains a failure. A struct gpu_mr must be released before its memory is freed,
 * with no transfer under way: the NIC's mapping keeps it pinned until then.
 */
#ifndef RDMARK_VERBS_GPU_ROUTE_H
#define RDMARK_VERBS_GPU_ROUTE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "host/gpu.h"

/* In the order in which `auto` takes them. */
enum gpu_route {
	GPU_ROUTE_DMABUF,
	GPU_ROUTE_PEERMEM,
	GPU_ROUTE_DATA_DIRECT,
	GPU_ROUTE_STAGED,
	GPU_ROUTES
};

/* --gpu-path */
enum gpu_path {
	GPU_PATH_AUTO,
	GPU_PATH_DMABUF,
	GPU_PATH_PEERMEM,
	GPU_PATH_STAGED
};

struct gpu_route_state {
	bool available;
	int errnum;    /* of the registration that failed; 0: it did not come to that */
	char why[384]; /* why not: a sentence without full stop; "" if available */
	char fix[320]; /* what to do about it; may be "" */
};

struct gpu_routes {
	struct gpu_route_state state[GPU_ROUTES]; /* staged is always available */
};

/*
 * To be called before the device is opened, if GPU memory may be used on it: mlx5 would otherwise
 * deliver small payloads into completions, from where the CPU copies them to an address that it
 * must not touch (scatter to CQE). Sets MLX5_SCATTER_TO_CQE, unless the user did; inline data are
 * the caller's to leave off.
 */
void gpu_route_before_open(void);

/* Try every direct route from G's memory to PD's device. Fails only if G has no memory to try. */
int gpu_routes_probe(struct gpu_routes *r, struct ibv_pd *pd, struct gpu *g, struct fault *f);

/*
 * The route that WISH means here: the first that is available, or the one named. One that is named
 * and not available is FAULT_UNAVAILABLE, with why and fix.
 */
int gpu_routes_choose(const struct gpu_routes *r, enum gpu_path wish, enum gpu_route *chosen,
		      struct fault *f);

/*
 * "dma-buf", or "staged through host memory, since dma-buf: …; peermem: …": the route and why not
 * those that would have been taken before it. For the banner. Returns BUF.
 */
const char *gpu_routes_format(const struct gpu_routes *r, enum gpu_route chosen, char *buf,
			      size_t size);

/* One word, as in --gpu-path and JSON: "dmabuf"; and for people: "dma-buf". Static storage. */
const char *gpu_route_name(enum gpu_route route);
const char *gpu_route_words(enum gpu_route route);

struct gpu_mr {
	struct ibv_mr *mr; /* keys only: mr->addr is not the address */
	uint64_t addr;     /* as in SGEs and remote addresses */
	size_t bytes;
	enum gpu_route route;
	bool relaxed_ordering; /* asked for and not refused */
};

struct gpu_mr_ask {
	struct ibv_pd *pd;
	struct gpu *gpu;
	enum gpu_route route; /* a direct one */
	uint64_t addr;        /* within memory of gpu_alloc() */
	size_t bytes;
	unsigned access; /* enum ibv_access_flags; local write is added, relaxed ordering dropped
			    where it is not supported */
};

/*
 * Register GPU memory. More than half of BAR1 is refused: it is the window for all who reach the
 * GPU over PCIe. A failure of the registration is FAULT_LOCAL with the cause. Release with
 * gpu_mr_release(), also after a failure.
 */
int gpu_mr_init(struct gpu_mr *m, const struct gpu_mr_ask *ask, struct fault *f);

/* Safe on a zeroed object. */
void gpu_mr_release(struct gpu_mr *m);

#endif

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

/* --gpu-path: the routes follow `auto` in their order. */
enum gpu_path {
	GPU_PATH_AUTO,
	GPU_PATH_DMABUF,
	GPU_PATH_PEERMEM,
	GPU_PATH_DATA_DIRECT
};

/* A choice among them, from the memory of `gpu` to the device of `pd`. */
struct gpu_choice {
	struct ibv_pd *pd;
	struct gpu *gpu;
	enum gpu_path wanted;
	enum gpu_route route;             /* the one that was chosen */
	struct fault refused[GPU_ROUTES]; /* why not, with the cause and maybe a fix; empty: it can
					     be had, or was not tried */
};

/*
 * Call it before opening the device if GPU memory may be used. Otherwise mlx5 writes small payloads
 * into completions, and the CPU copies them to an address that it must not access (scatter to CQE).
 * Sets MLX5_SCATTER_TO_CQE, unless the user did. The caller must not use inline data.
 */
void gpu_route_before_open(void);

/*
 * Choose the route for c->wanted by trying: the named one, or with `auto` the first that works.
 * Raises FAULT_UNAVAILABLE with the reason and the fix if that is not available, or none is, and
 * the fault if the GPU has no memory for the test. Returns 0 or -1.
 */
int gpu_route_choose(struct gpu_choice *c, struct fault *f);

/*
 * Write the route for the banner, with the reason against those that `auto` prefers: "peermem; not
 * dma-buf: …". Returns BUF.
 */
const char *gpu_choice_format(const struct gpu_choice *c, char *buf, size_t size);

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
	bool probe;    /* fail if the driver moves the memory; see gpu_route_choose() */
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

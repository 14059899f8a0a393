/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mem: one registered buffer: memory near the pinned NUMA node and the MR over it, or an MR for
 * each of its parts.
 *
 * All QPs of a run share one buffer and one MR; each has a slice. With --mr_per_qp a slice is a
 * part.
 */
#ifndef RDMARK_VERBS_MEM_H
#define RDMARK_VERBS_MEM_H

#include <infiniband/verbs.h>
#include <stddef.h>

#include "base/fault.h"
#include "host/backing.h"
#include "host/pin.h"
#include "verbs/gpu_route.h"

struct mem {
	uint64_t addr; /* as NICs are told */
	uint32_t lkey, rkey;
	size_t bytes;
	struct ibv_mr *mr;
	struct ibv_mr **part; /* in its place, with their keys; NULL: there is but one */
	uint32_t *lkeys, *rkeys;
	unsigned parts;
	struct gpu_mr gpu_mr;   /* in its place for GPU memory */
	struct backing_map map; /* what a host's is made of */
	void *host;             /* the same, for the CPU; NULL: it must not look */
	struct gpu *gpu;        /* whose memory it is; NULL: the host's */
	size_t pages_checked;   /* 0: placement is not known */
	size_t pages_on_node;
};

struct mem_ask {
	struct ibv_pd *pd;
	const struct pin *pin;
	struct backing backing;
	size_t bytes;
	unsigned access;     /* as mem_init() */
	unsigned parts;      /* so many MRs; 0: one over all */
	size_t lead, stride; /* of the parts: where the first one begins, and their size */
};

/* Allocate and register what is asked for. Release also after a failure. */
int mem_make(struct mem *m, const struct mem_ask *ask, struct fault *f);

/* Can the device register memory without pinning it? Raises FAULT_UNAVAILABLE if not. */
int mem_check_odp(struct ibv_context *ctx, struct fault *f);

/*
 * Allocate and register BYTES with the access rights ACCESS (enum ibv_access_flags; local write is
 * added, relaxed ordering dropped where it is not supported). The content is zero.
 */
int mem_init(struct mem *m, struct ibv_pd *pd, const struct pin *pin, size_t bytes, unsigned access,
	     struct fault *f);

/*
 * Register the GPU memory of ASK. It stays the caller's, to be freed after mem_release(): a NIC may
 * reach it until then.
 */
int mem_init_gpu(struct mem *m, const struct gpu_mr_ask *ask, struct fault *f);

/* Deregister and free; safe on a zeroed object. */
void mem_release(struct mem *m);

#endif

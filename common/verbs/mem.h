/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mem: one registered buffer: memory of any kind, and one MR for all of it or mr_count MRs for its
 * parts.
 *
 * All QPs of a run share one buffer and one MR, and each QP has a slice. With --mr_per_qp each
 * slice has an MR.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stddef.h>

#include "base/fault.h"
#include "memory/memory.h"
#include "verbs/gpu_route.h"

struct mem {
	struct memory memory;
	uint32_t lkey, rkey;
	struct ibv_mr **mr; /* of host memory: mr_count MRs */
	unsigned mr_count;
	uint32_t *lkeys;      /* of all MRs, if each QP has one; otherwise NULL */
	struct gpu_mr gpu_mr; /* of GPU memory, in place of `mr` */
	size_t pages_checked; /* 0: the placement is unknown */
	size_t pages_on_node;
};

struct mem_attr {
	struct ibv_pd *pd;
	struct memory_attr memory;
	enum gpu_route route; /* to GPU memory */
	/* enum ibv_access_flags; local write is added, and relaxed ordering dropped if it is not
	 * supported */
	unsigned access;
	unsigned mr_count;   /* number of MRs; 0: one for all of it. Of host memory only */
	size_t lead, stride; /* of the MRs: offset of the first one, and their size */
};

/* Allocate and register the buffer that ATTR describes. Call mem_release() also after a failure. */
int mem_init(struct mem *m, const struct mem_attr *attr, struct fault *f);

/*
 * Check that the device can register memory without pinning it (ODP). Raises FAULT_UNAVAILABLE if
 * not.
 */
int mem_check_odp(struct ibv_context *ctx, struct fault *f);

/* Deregister it; its MRs are gone, and the memory stays. */
void mem_deregister(struct mem *m);

/* Deregister and free; safe on a zeroed object. */
void mem_release(struct mem *m);

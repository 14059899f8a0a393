/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mem: one registered buffer: pages on the pinned NUMA node and the MR over them.
 *
 * All QPs of a run share one buffer and one MR; each has a slice.
 */
#ifndef RDMARK_VERBS_MEM_H
#define RDMARK_VERBS_MEM_H

#include <infiniband/verbs.h>
#include <stddef.h>

#include "base/fault.h"
#include "host/pin.h"

struct mem {
	void *addr;
	size_t bytes;
	struct ibv_mr *mr;
	size_t pages_checked; /* 0: placement is not known */
	size_t pages_on_node;
};

/*
 * Allocate and register BYTES with the access rights ACCESS (enum ibv_access_flags; local write is
 * added, relaxed ordering dropped where it is not supported). The content is zero.
 */
int mem_init(struct mem *m, struct ibv_pd *pd, const struct pin *pin, size_t bytes, unsigned access,
	     struct fault *f);

/* Deregister and free; safe on a zeroed object. */
void mem_release(struct mem *m);

#endif

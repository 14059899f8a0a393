/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpu: one GPU of any vendor: its properties, copies to and from its memory, and what NICs need of
 * it. memory.h allocates that memory.
 *
 * A vendor's driver is opened at run time (dlopen), so one binary runs on machines with and without
 * GPUs, and builds with or without a toolkit. Addresses are device addresses as uint64_t; the CPU
 * must not access them.
 *
 * One thread at a time may use a struct gpu or a stream of it; it need not be the thread that
 * opened it. A driver's results are plain ints here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "memory/memory.h"

struct path_tree;

#define GPU_ALIGN_BYTES 65536 /* alignment of GPU memory: NVIDIA's GPU page */
#define GPU_ORDERS      100   /* an ordering in which its owner sees the writes of NICs in order */

struct gpu_info {
	const struct memory_ops *ops; /* its vendor's */
	int index;                    /* in gpu_list(); the user's name for it */
	int ordinal;                  /* in its vendor's driver */
	char name[96];
	char uuid[48];      /* "GPU-12345678-…" */
	char pci[16];       /* "0000:17:00.0", as sysfs writes it; "" if the driver does not say */
	int driver_version; /* the vendor's: 12040 is CUDA 12.4 */
	int capability;     /* the vendor's: 90 is compute capability 9.0 */
	bool integrated;    /* its memory is the host's */
	bool gpudirect;     /* NICs can access its memory; true if unknown */
	bool dmabuf;        /* its memory can be exported as a dma-buf */
	bool can_flush;     /* its driver has a flush */
	int ordering;       /* ordering of NIC writes: 0 none, GPU_ORDERS owner, 200 all devices; -1
			       unknown */
	uint64_t memory_bytes;
	uint64_t bar1_bytes; /* PCI window to its memory for other devices; 0 unknown */
};

struct gpu {
	const struct memory_ops *ops;
	struct gpu_info info;
	/* followed by what its vendor's file needs */
};

/* Which GPU. Exactly one of the first three is set. */
struct gpu_attr {
	const struct memory_ops *vendor; /* whose: then the index is its driver's; NULL: any */
	int index;        /* -1: not by index */
	const char *uuid; /* "GPU-…", or a unique prefix; NULL */
	const char *pci;  /* "17:00.0" or "0000:17:00.0", any case; NULL */
};

/* The vendors, I from 0; NULL: no more. */
const struct memory_ops *gpu_vendor(size_t i);

/*
 * List the GPUs of this machine, of all vendors. The caller frees *LIST; after a failure it is NULL,
 * and *COUNT 0. Without any GPU raises what the vendor says whose driver the kernel has, else the first
 * one: FAULT_UNAVAILABLE with a different
 * message for each of no driver library, a toolkit's stub, a driver that is too old, no device, and
 * a driver that does not start.
 */
int gpu_list(struct gpu_info **list, size_t *count, struct fault *f);

/*
 * Sort the COUNT GPUs of LIST by distance from the PCI address NIC: by class, then slowest link,
 * then index. Returns 0, or -1 with FAULT_LOCAL: no memory.
 */
int gpu_sort(struct gpu_info *list, size_t count, const struct path_tree *t, const char *nic,
	     struct fault *f);

/*
 * Find the GPU that WANTED names, and no other; and open it. Raise FAULT_USAGE if it does not exist
 * (the fix lists the GPUs), or FAULT_UNAVAILABLE as gpu_list() does. A GPU without GPUDirect RDMA
 * can be opened, too; see gpu->info. Close *G with gpu_close(), after its memory is freed.
 */
int gpu_find(const struct gpu_attr *wanted, struct gpu_info *info, struct fault *f);
int gpu_open(struct gpu **g, const struct gpu_attr *wanted, struct fault *f);
void gpu_close(struct gpu *g); /* NULL is allowed */

/* Copy to or from the GPU. The copy is complete when the call returns. */
static inline int gpu_copy_in(struct gpu *g, uint64_t to, const void *from, size_t bytes,
			      struct fault *f)
{
	return g->ops->copy_in(g, to, from, bytes, f);
}

static inline int gpu_copy_out(struct gpu *g, void *to, uint64_t from, size_t bytes,
			       struct fault *f)
{
	return g->ops->copy_out(g, to, from, bytes, f);
}

/*
 * After a completion, and before gpu_copy_out(): make the writes of NICs visible to the GPU, if it
 * can and does not order them itself, as none orders those by DATA_DIRECT.
 */
static inline int gpu_flush(struct gpu *g, bool data_direct, struct fault *f)
{
	bool needed = data_direct || g->info.ordering < GPU_ORDERS;

	return needed && g->info.can_flush ? g->ops->flush(g, f) : 0;
}

/*
 * A non-blocking stream of copies from and to BYTES at HOST, which are registered with the driver.
 * Copies run in order; a slot tells when its last copy is complete. Hot, except open and close,
 * which is to be called after a failure, too. The calls return 0 or the driver's result, negative.
 */
#define GPU_STREAM_SLOTS 8
struct gpu_stream;
int gpu_stream_open(struct gpu_stream **s, struct gpu *g, void *host, size_t bytes,
		    struct fault *f);
void gpu_stream_close(struct gpu_stream *s); /* waits for copies in progress; NULL is allowed */
int gpu_stream_copy_in(struct gpu_stream *s, unsigned slot, uint64_t to, const void *from,
		       size_t bytes);
int gpu_stream_copy_out(struct gpu_stream *s, unsigned slot, void *to, uint64_t from, size_t bytes);
int gpu_stream_done(struct gpu_stream *s, unsigned slot); /* 1 done, 0 not yet, or negative */
/* Raises the fault for such a failure RC. Cold; returns -1. */
int gpu_stream_failed(const struct gpu_stream *s, int rc, struct fault *f) __attribute__((cold));

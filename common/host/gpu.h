/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpu: one CUDA GPU: which one, what it can do, its memory, copies to and from it.
 *
 * The driver is opened at run time (dlopen of libcuda.so.1), so one binary serves machines with and
 * without GPUs; cuda.h is needed to build gpu_cuda.c, and gpu_none.c stands in its place without
 * it. The primary context is used, which every CUDA version and library shares. Addresses are
 * device addresses as uint64_t: the CPU must not touch what lies there.
 *
 * One thread at a time may use a struct gpu or a stream of it; it need not be the one that opened
 * it. Results of the driver (CUresult) are plain ints here.
 */
#ifndef RDMARK_HOST_GPU_H
#define RDMARK_HOST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define GPU_ALIGN_BYTES 65536 /* of what gpu_alloc() returns: NVIDIA's GPU page */

struct gpu;

struct gpu_info {
	int index;
	char name[96];
	char uuid[48];      /* "GPU-12345678-…" */
	char pci[16];       /* "0000:17:00.0", as sysfs writes it; "" if the driver does not say */
	int driver_version; /* 12040 is CUDA 12.4 */
	int capability;     /* 90 is compute capability 9.0 */
	bool gpudirect;     /* CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED; true if unknown */
	bool dmabuf;        /* CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, and the driver has the call */
	bool can_flush;     /* cuFlushGPUDirectRDMAWrites from the host */
	int ordering;       /* of writes by NICs: 0 none, 100 owner, 200 all devices; -1 unknown */
	uint64_t memory_bytes;
	uint64_t bar1_bytes; /* PCI window through which others reach its memory; 0 unknown */
};

/* Which GPU: exactly one of the three. */
struct gpu_wish {
	int index;        /* -1: not by index */
	const char *uuid; /* "GPU-…", a prefix will do if it is unique; NULL */
	const char *pci;  /* "17:00.0" or "0000:17:00.0", any case; NULL */
};

/*
 * Every GPU of this machine. *LIST is the caller's to free(). Raises FAULT_UNAVAILABLE with a
 * message of its own for: built without CUDA, no libcuda.so.1, the toolkit's stub, a driver too
 * old, no device, a driver that does not start (fabric manager, 802; unknown, 999).
 */
int gpu_list(struct gpu_info **list, size_t *count, struct fault *f);

/*
 * Open the GPU that WISH names. Never another one: FAULT_USAGE if there is no such GPU (the fix
 * lists what there is), FAULT_UNAVAILABLE as gpu_list(). GPUs without GPUDirect RDMA open all the
 * same; their info says so. *G is to be released with gpu_close().
 */
int gpu_open(struct gpu **g, const struct gpu_wish *wish, struct fault *f);
void gpu_close(struct gpu *g); /* NULL is fine */

const struct gpu_info *gpu_about(const struct gpu *g);

/*
 * Device memory of at least BYTES, rounded up to 2 MiB, GPU_ALIGN_BYTES aligned, zeroed, with
 * CU_POINTER_ATTRIBUTE_SYNC_MEMOPS set. 0 with the fault raised on failure.
 */
uint64_t gpu_alloc(struct gpu *g, size_t bytes, struct fault *f);
void gpu_free(struct gpu *g, uint64_t addr); /* 0 is fine */

/*
 * A dma-buf of [ADDR, ADDR + BYTES): *FD is the caller's to close, *OFFSET where ADDR lies in it.
 * PCIE asks for the BAR1 mapping that mlx5 Data Direct needs, and only that. Returns 0 or the
 * positive CUresult (801 not supported, 1 unaligned or out of range); raises nothing, since a
 * probe may fail. gpu_error_name() gives its name.
 */
int gpu_export(struct gpu *g, uint64_t addr, size_t bytes, bool pcie, int *fd, uint64_t *offset);
const char *gpu_error_name(int result); /* "CUDA_ERROR_NOT_SUPPORTED"; static storage */

/* Copies that are complete when the call returns. */
int gpu_copy_in(struct gpu *g, uint64_t to, const void *from, size_t bytes, struct fault *f);
int gpu_copy_out(struct gpu *g, void *to, uint64_t from, size_t bytes, struct fault *f);

/* Writes of NICs are not in order for the GPU by themselves: gpu_flush() does something. */
static inline bool gpu_needs_flush(const struct gpu_info *info)
{
	return info->ordering < 100;
}

/*
 * Make what NICs have written visible to the owner of the memory (cuFlushGPUDirectRDMAWrites). A
 * no-op where info.ordering is 100 or more, and where info.can_flush is false: work that is given
 * to the GPU after a completion was seen, as gpu_copy_out() is, sees the data all the same.
 */
int gpu_flush(struct gpu *g, struct fault *f);

/*
 * The same whatever the ordering is: after writes that came by Data Direct, and to see what a flush
 * costs. FAULT_UNAVAILABLE if info.can_flush is false.
 */
int gpu_flush_now(struct gpu *g, struct fault *f);

/* Host memory that copies go to and from at full speed. It must stay until gpu_host_release(). */
int gpu_host_register(struct gpu *g, void *addr, size_t bytes, struct fault *f);
void gpu_host_release(struct gpu *g, void *addr);

/*
 * A non-blocking stream with SLOTS events: copies run in order, and event I tells when those
 * submitted before its mark are done. Hot, but for open and close.
 */
struct gpu_stream;
int gpu_stream_open(struct gpu_stream **s, struct gpu *g, unsigned slots, struct fault *f);
void gpu_stream_close(struct gpu_stream *s); /* waits for what is under way; NULL is fine */
int gpu_stream_copy_in(struct gpu_stream *s, uint64_t to, const void *from, size_t bytes);
int gpu_stream_copy_out(struct gpu_stream *s, void *to, uint64_t from, size_t bytes);
int gpu_stream_mark(struct gpu_stream *s, unsigned slot);
int gpu_stream_done(struct gpu_stream *s, unsigned slot); /* 1 done, 0 not yet, else -CUresult */
/* The stream calls return 0 or -CUresult; this raises such a failure of CALL. Cold; returns -1. */
int gpu_stream_failed(int rc, const char *call, struct fault *f) __attribute__((cold));

#endif

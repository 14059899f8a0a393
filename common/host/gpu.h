/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpu: one CUDA GPU: its properties, its memory, and copies to and from it.
 *
 * The driver is opened at run time (dlopen of libcuda.so.1), so one binary runs on machines with
 * and without GPUs, and builds with or without the toolkit (gpu_abi.h). It uses the primary
 * context, which all CUDA versions and libraries share. Addresses are device addresses as uint64_t;
 * the CPU must not access them.
 *
 * One thread at a time may use a struct gpu or a stream of it; it need not be the thread that
 * opened it. Results of the driver (CUresult) are plain ints here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define GPU_ALIGN_BYTES 65536 /* alignment of gpu_alloc(): NVIDIA's GPU page */

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
	int ordering;       /* ordering of NIC writes: 0 none, 100 owner, 200 all devices; -1
			       unknown */
	uint64_t memory_bytes;
	uint64_t bar1_bytes; /* PCI window to its memory for other devices; 0 unknown */
};

/* Which GPU. Exactly one of the three is set. */
struct gpu_attr {
	int index;        /* -1: not by index */
	const char *uuid; /* "GPU-…", or a unique prefix; NULL */
	const char *pci;  /* "17:00.0" or "0000:17:00.0", any case; NULL */
};

/*
 * List the GPUs of this machine. The caller frees *LIST; there is none after a failure. Raises
 * FAULT_UNAVAILABLE with a different message for each of: no libcuda.so.1, the toolkit's stub, a
 * driver that is too old, no device, and a driver that does not start (fabric manager, 802;
 * unknown, 999).
 */
int gpu_list(struct gpu_info **list, size_t *count, struct fault *f);

/*
 * Open the GPU that WANTED names, and no other. Raises FAULT_USAGE if it does not exist (the fix
 * lists the GPUs), or FAULT_UNAVAILABLE as gpu_list() does. A GPU without GPUDirect RDMA can be
 * opened, too; see gpu_about(). Close *G with gpu_close().
 */
int gpu_open(struct gpu **g, const struct gpu_attr *wanted, struct fault *f);
void gpu_close(struct gpu *g); /* NULL is allowed */

const struct gpu_info *gpu_about(const struct gpu *g);

/*
 * Allocate device memory of at least BYTES, rounded up to 2 MiB, aligned to GPU_ALIGN_BYTES,
 * zeroed, with CU_POINTER_ATTRIBUTE_SYNC_MEMOPS set. Returns its address, or 0 with the fault
 * raised.
 */
uint64_t gpu_alloc(struct gpu *g, size_t bytes, struct fault *f);
void gpu_free(struct gpu *g, uint64_t addr); /* 0 is allowed */

/*
 * Export [ADDR, ADDR + BYTES) as a dma-buf: the caller closes *FD; *OFFSET is the offset of ADDR in
 * it. PCIE requests the BAR1 mapping that mlx5 Data Direct needs. Returns 0 or the positive
 * CUresult (801 not supported, 1 unaligned or out of range; see gpu_error_name()). Raises no fault,
 * because a probe may fail.
 */
int gpu_export(struct gpu *g, uint64_t addr, size_t bytes, bool pcie, int *fd, uint64_t *offset);
const char *gpu_error_name(int result); /* "CUDA_ERROR_NOT_SUPPORTED"; static storage */

/* Copy to or from the GPU. The copy is complete when the call returns. */
int gpu_copy_in(struct gpu *g, uint64_t to, const void *from, size_t bytes, struct fault *f);
int gpu_copy_out(struct gpu *g, void *to, uint64_t from, size_t bytes, struct fault *f);

/* True if nvidia_peermem or its predecessor is loaded. Does not start the driver. */
bool gpu_has_peermem(void);

/* True if the GPU needs gpu_flush() to see the writes of NICs in order. */
static inline bool gpu_needs_flush(const struct gpu_info *info)
{
	return info->ordering < 100;
}

/*
 * Make the writes of NICs visible to the owner of the memory (cuFlushGPUDirectRDMAWrites). Does
 * nothing if info.ordering is 100 or more, or if info.can_flush is false: work that the GPU gets
 * after a completion, such as gpu_copy_out(), sees the data anyway.
 */
int gpu_flush(struct gpu *g, struct fault *f);

/*
 * The same for any ordering: after writes through Data Direct, and to measure the cost of a flush.
 * FAULT_UNAVAILABLE if info.can_flush is false.
 */
int gpu_flush_now(struct gpu *g, struct fault *f);

/* Register host memory for copies at full speed. Keep it until gpu_host_release(). */
int gpu_host_register(struct gpu *g, void *addr, size_t bytes, struct fault *f);
void gpu_host_release(struct gpu *g, void *addr);

/*
 * A non-blocking stream with SLOTS events. Copies run in order; event I tells when the copies
 * submitted before its mark are complete. Hot, except open and close.
 */
struct gpu_stream;
int gpu_stream_open(struct gpu_stream **s, struct gpu *g, unsigned slots, struct fault *f);
void gpu_stream_close(struct gpu_stream *s); /* waits for copies in progress; NULL is allowed */
int gpu_stream_copy_in(struct gpu_stream *s, uint64_t to, const void *from, size_t bytes);
int gpu_stream_copy_out(struct gpu_stream *s, void *to, uint64_t from, size_t bytes);
int gpu_stream_mark(struct gpu_stream *s, unsigned slot);
int gpu_stream_done(struct gpu_stream *s, unsigned slot); /* 1 done, 0 not yet, else -CUresult */
/*
 * The stream calls return 0 or -CUresult. This function raises the fault for such a failure of
 * CALL. Cold; returns -1.
 */
int gpu_stream_failed(int rc, const char *call, struct fault *f) __attribute__((cold));

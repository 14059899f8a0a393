/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpu_cuda: what the files behind gpu.h share: NVIDIA's driver library and the parts of struct gpu.
 *
 * Only gpu_cuda*.c include this. The prototypes are cuda.h's own, the symbols are looked up at run
 * time under the names that cuda.h's macros give them (cuMemAlloc is cuMemAlloc_v2), so no table of
 * names is kept by hand. What newer drivers only have may be NULL.
 */
#ifndef RDMARK_HOST_GPU_CUDA_H
#define RDMARK_HOST_GPU_CUDA_H

#include <cuda.h>

#include "host/gpu.h"

#define CUDA_LIBRARY    "libcuda.so.1"
#define CUDA_OLDEST     11000 /* cuDevicePrimaryCtxRelease_v2 */
#define CUDA_PCIE_SINCE 12080 /* CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE */

/* clang-format off */
#define CUDA_ENTRIES(X)							\
	X(init, cuInit)							\
	X(driver_get_version, cuDriverGetVersion)			\
	X(device_get_count, cuDeviceGetCount)				\
	X(device_get, cuDeviceGet)					\
	X(device_get_name, cuDeviceGetName)				\
	X(device_get_pci, cuDeviceGetPCIBusId)				\
	X(device_get_attribute, cuDeviceGetAttribute)			\
	X(device_total_mem, cuDeviceTotalMem)				\
	X(ctx_retain, cuDevicePrimaryCtxRetain)				\
	X(ctx_release, cuDevicePrimaryCtxRelease)			\
	X(ctx_set_current, cuCtxSetCurrent)				\
	X(ctx_synchronize, cuCtxSynchronize)				\
	X(mem_alloc, cuMemAlloc)					\
	X(mem_free, cuMemFree)						\
	X(memset_d8, cuMemsetD8)					\
	X(copy_in, cuMemcpyHtoD)					\
	X(copy_out, cuMemcpyDtoH)					\
	X(copy_in_async, cuMemcpyHtoDAsync)				\
	X(copy_out_async, cuMemcpyDtoHAsync)				\
	X(pointer_set_attribute, cuPointerSetAttribute)			\
	X(host_register, cuMemHostRegister)				\
	X(host_unregister, cuMemHostUnregister)				\
	X(stream_create, cuStreamCreate)				\
	X(stream_destroy, cuStreamDestroy)				\
	X(stream_synchronize, cuStreamSynchronize)			\
	X(event_create, cuEventCreate)					\
	X(event_destroy, cuEventDestroy)				\
	X(event_record, cuEventRecord)					\
	X(event_query, cuEventQuery)
#define CUDA_OPTIONAL_ENTRIES(X)					\
	X(device_get_uuid, cuDeviceGetUuid) /* 9.2; as _v2 11.4 */	\
	X(get_handle, cuMemGetHandleForAddressRange) /* 11.7 */		\
	X(flush_writes, cuFlushGPUDirectRDMAWrites) /* 11.3 */
/* clang-format on */

#define CUDA_ENTRY(member, function) __typeof__(function) *member;

struct cuda_driver {
	CUDA_ENTRIES(CUDA_ENTRY)
	CUDA_OPTIONAL_ENTRIES(CUDA_ENTRY)
	int version;
};

struct gpu_block {
	struct gpu_block *next;
	CUdeviceptr base; /* as allocated */
	CUdeviceptr addr; /* aligned */
};

struct gpu {
	struct cuda_driver cu;
	struct gpu_info info;
	CUdevice device;
	CUcontext ctx; /* primary; NULL: not retained */
	struct gpu_block *blocks;
};

/*
 * Open the library, look its entries up and start the driver. Raises FAULT_UNAVAILABLE. The library
 * stays loaded for the life of the process: the driver has threads that run its code.
 */
int cuda_driver_start(struct cuda_driver *cu, struct fault *f);

/* Everything about device INDEX; what the driver does not tell stays 0, "" or unknown. */
int cuda_describe(const struct cuda_driver *cu, int index, struct gpu_info *info, struct fault *f);

/* The index of the GPU that WISH means; -1 with the fault raised if it is not exactly one. */
int cuda_choose(const struct cuda_driver *cu, const struct gpu_wish *wish, struct fault *f);

/* Raise FAULT_LOCAL for RESULT of a driver call (printf), with its name, cause and fix. */
int cuda_failed(struct fault *f, CUresult result, const char *call, ...)
	__attribute__((format(printf, 3, 4), cold));

/* Make the GPU's context the calling thread's. */
static inline CUresult cuda_enter(const struct gpu *g)
{
	return g->cu.ctx_set_current(g->ctx);
}

#endif

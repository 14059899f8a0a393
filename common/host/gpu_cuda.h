/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpu_cuda: what the files that implement gpu.h share: NVIDIA's driver library and the members of
 * struct gpu.
 *
 * Only gpu_cuda*.c include this. The symbols are looked up at run time, under the names in
 * gpu_abi.h. Optional entries, which only newer drivers have, may be NULL.
 */
#pragma once

#include "host/gpu.h"
#include "host/gpu_abi.h"

#define CUDA_LIBRARY    "libcuda.so.1"
#define CUDA_OLDEST     11000 /* cuDevicePrimaryCtxRelease_v2 */
#define CUDA_PCIE_SINCE 12080 /* CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE */

/* clang-format off */
#define CUDA_ENTRIES(X)							\
	X(cuInit) X(cuDriverGetVersion)					\
	X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName)		\
	X(cuDeviceGetPCIBusId) X(cuDeviceGetAttribute) X(cuDeviceTotalMem_v2) \
	X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease_v2)	\
	X(cuCtxSetCurrent) X(cuCtxSynchronize)				\
	X(cuMemAlloc_v2) X(cuMemFree_v2) X(cuMemsetD8_v2)		\
	X(cuMemcpyHtoD_v2) X(cuMemcpyDtoH_v2)				\
	X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2)			\
	X(cuPointerSetAttribute) X(cuMemHostRegister_v2) X(cuMemHostUnregister) \
	X(cuStreamCreate) X(cuStreamDestroy_v2) X(cuStreamSynchronize)	\
	X(cuEventCreate) X(cuEventDestroy_v2) X(cuEventRecord) X(cuEventQuery)
#define CUDA_OPTIONAL_ENTRIES(X)					\
	X(cuDeviceGetUuid_v2) /* 11.4; without _v2 9.2 */		\
	X(cuMemGetHandleForAddressRange) /* 11.7 */			\
	X(cuFlushGPUDirectRDMAWrites) /* 11.3 */
/* clang-format on */

#define CUDA_ENTRY(function) __typeof__(function) *function;

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
 * Open the library, look up its symbols and start the driver. Raises FAULT_UNAVAILABLE. The library
 * stays loaded until the process ends, because the driver has threads that run its code.
 */
int cuda_driver_start(struct cuda_driver *cu, struct fault *f);

/* Find the GPU that WANTED names. Returns -1 with the fault raised if not exactly one matches. */
int cuda_choose(const struct cuda_driver *cu, const struct gpu_attr *wanted, struct gpu_info *info,
		struct fault *f);

/*
 * Raise FAULT_LOCAL for RESULT of a driver call (printf), with its name, cause and fix. Returns -1.
 */
int cuda_failed(struct fault *f, CUresult result, const char *call, ...)
	__attribute__((format(printf, 3, 4), cold));

/* Make G's context current in the calling thread, and call the driver's FUNCTION. Its result. */
#define CUDA_CALL(g, function, ...)                                                                \
	((g)->cu.cuCtxSetCurrent((g)->ctx) ?: (g)->cu.function(__VA_ARGS__))

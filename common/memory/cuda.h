/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuda: what the files of NVIDIA's GPUs share: the driver library and its words.
 *
 * Only cuda*.c include this. The library is opened at run time, and its symbols are looked up under
 * the names in cuda_abi.h, so it builds with or without the toolkit. Optional entries, which only
 * newer drivers have, may be NULL.
 */
#pragma once

#include "memory/cuda_abi.h"
#include "memory/memory.h"

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

/*
 * Open the library, look up its symbols and start the driver. Raises FAULT_UNAVAILABLE with a
 * different message for each of: no libcuda.so.1, the toolkit's stub, a driver that is too old, no
 * device, and a driver that does not start (fabric manager, 802; unknown, 999). The library stays
 * loaded until the process ends, because the driver has threads that run its code.
 */
int cuda_driver_start(struct cuda_driver *cu, struct fault *f);

/* cuda_why.c: as in struct memory_ops */
bool cuda_has_peermem(void);             /* nvidia_peermem or its predecessor */
const char *cuda_error_name(int result); /* "CUDA_ERROR_NOT_SUPPORTED"; static storage */
int cuda_failed(struct fault *f, int result, const char *call, ...)
	__attribute__((format(printf, 3, 4), cold));
int cuda_why(const struct gpu_info *g, enum memory_refusal refusal, int number, size_t bytes,
	     struct fault *f);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hip_abi: what rdmark calls of AMD's libraries: libamdhip64 from ROCm 5 on, and libhsa-runtime64.
 * Nothing is linked against them, and their headers are not needed: a library has the same
 * functions under all its sonames.
 *
 * tests/standin/hip/abi.bats includes this file after their headers, with their types for these, so
 * that a function which they declare differently does not compile. hipGetDeviceProperties is not
 * here: its layout changed under the same name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef HIP_RESULT
#define HIP_RESULT    int
#define HIP_STREAM    void *
#define HIP_EVENT     void *
#define HIP_ATTRIBUTE int
#define HIP_POINTER   void *
#define HIP_UUID      struct hip_uuid
#define HSA_RESULT    int
#define HSA_INFO      int

struct hip_uuid {
	char bytes[16];
};
#endif

enum {
	HIP_ATTRIBUTE_INTEGRATED = 16,
	HIP_ATTRIBUTE_LARGE_BAR = 10011,
	HIP_STREAM_NON_BLOCKING = 1,
	HIP_EVENT_NO_TIMING = 2,
	HIP_RANGE_DMABUF = 1,
	HIP_RANGE_PCIE = 1,
	HSA_INFO_DMABUF = 0x204,

	HIP_OUT_OF_MEMORY = 2,
	HIP_OLD_DRIVER = 35,
	HIP_NO_DEVICE = 100,
	HIP_NOT_READY = 600,
	HIP_NOT_SUPPORTED = 801,
};

HIP_RESULT hipInit(unsigned int flags);
HIP_RESULT hipRuntimeGetVersion(int *version); /* 60443483: ROCm 6.4.43483 */
HIP_RESULT hipGetDeviceCount(int *count);
HIP_RESULT hipSetDevice(int device); /* of the calling thread */
HIP_RESULT hipDeviceGetName(char *name, int size, int device);
HIP_RESULT hipDeviceGetPCIBusId(char *id, int size, int device);
HIP_RESULT hipDeviceGetAttribute(int *value, HIP_ATTRIBUTE attribute, int device);
HIP_RESULT hipDeviceTotalMem(size_t *bytes, int device);
HIP_RESULT hipDeviceGetUuid(HIP_UUID *uuid, int device); /* 5.1 */
HIP_RESULT hipDeviceSynchronize(void);
HIP_RESULT hipMalloc(void **addr, size_t bytes);
HIP_RESULT hipFree(void *addr);
HIP_RESULT hipMemsetD8(HIP_POINTER to, unsigned char value, size_t bytes);
HIP_RESULT hipMemcpyHtoD(HIP_POINTER to, void *from, size_t bytes);
HIP_RESULT hipMemcpyDtoH(void *to, HIP_POINTER from, size_t bytes);
HIP_RESULT hipMemcpyHtoDAsync(HIP_POINTER to, void *from, size_t bytes, HIP_STREAM stream);
HIP_RESULT hipMemcpyDtoHAsync(void *to, HIP_POINTER from, size_t bytes, HIP_STREAM stream);
HIP_RESULT hipHostRegister(void *addr, size_t bytes, unsigned int flags);
HIP_RESULT hipHostUnregister(void *addr);
HIP_RESULT hipStreamCreateWithFlags(HIP_STREAM *stream, unsigned int flags);
HIP_RESULT hipStreamSynchronize(HIP_STREAM stream);
HIP_RESULT hipStreamDestroy(HIP_STREAM stream);
HIP_RESULT hipEventCreateWithFlags(HIP_EVENT *event, unsigned flags);
HIP_RESULT hipEventRecord(HIP_EVENT event, HIP_STREAM stream);
HIP_RESULT hipEventQuery(HIP_EVENT event);
HIP_RESULT hipEventDestroy(HIP_EVENT event);

HSA_RESULT hsa_init(void);
HSA_RESULT hsa_system_get_info(HSA_INFO attribute, void *value);

/* Not in the headers of ROCm 5.2: */
int hsa_amd_portable_export_dmabuf(const void *addr, size_t bytes, int *fd, uint64_t *offset);
/* HIP's own, from 7.0 on; for a whole allocation */
int hipMemGetHandleForAddressRange(void *handle, void *addr, size_t bytes, int type,
				   unsigned long long flags);

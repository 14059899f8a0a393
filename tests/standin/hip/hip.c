// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libamdhip64: HIP's calls, on the GPU of ../cuda. HIP has no contexts: each thread has a device, the
 * first one if it says nothing. Its results have CUDA's numbers.
 */
#include "simhip.h"

#include <stdlib.h>
#include <string.h>

#define HIP_FAILURE(call)                      \
	do {                                   \
		int rc_ = simhip_failure(call); \
		if (rc_)                       \
			return rc_;            \
	} while (0)

#ifdef HIP_ALIEN
EXPORTED int hipNothing(void);
int hipNothing(void)
{
	return 0;
}
#else

enum {
	ATTRIBUTE_INTEGRATED = 16,
	ATTRIBUTE_LARGE_BAR = 10011,
	NON_BLOCKING = 1
};

static __thread bool chosen;

/* The calling thread has a device. */
static int ready(void)
{
	int rc = chosen ? 0 : simhip_current(0);

	chosen = chosen || !rc;
	return rc;
}

#define HIP_READY(call)             \
	do {                        \
		int ready_;         \
		HIP_FAILURE(call);  \
		ready_ = ready();   \
		if (ready_)         \
			return ready_; \
	} while (0)

EXPORTED int hipInit(unsigned flags);
int hipInit(unsigned flags)
{
	HIP_FAILURE("hipInit");
	return cuInit(flags);
}

EXPORTED int hipGetDeviceCount(int *count);
int hipGetDeviceCount(int *count)
{
	HIP_FAILURE("hipGetDeviceCount");
	*count = 0;
	return cuDeviceGetCount(count);
}

EXPORTED int hipSetDevice(int device);
int hipSetDevice(int device)
{
	int rc;

	HIP_FAILURE("hipSetDevice");
	rc = simhip_current(device);
	chosen = chosen || !rc;
	return rc;
}

EXPORTED int hipRuntimeGetVersion(int *version);
int hipRuntimeGetVersion(int *version)
{
	*version = simhip_version();
	return 0;
}

EXPORTED int hipDriverGetVersion(int *version);
int hipDriverGetVersion(int *version)
{
	return hipRuntimeGetVersion(version);
}

EXPORTED int hipDeviceGetAttribute(int *value, int attribute, int device);
int hipDeviceGetAttribute(int *value, int attribute, int device)
{
	const struct sim_gpu *g = simhip_gpu(device);

	HIP_FAILURE("hipDeviceGetAttribute");
	if (!g)
		return CUDA_ERROR_INVALID_DEVICE;
	if (attribute != ATTRIBUTE_INTEGRATED && attribute != ATTRIBUTE_LARGE_BAR)
		return CUDA_ERROR_INVALID_VALUE;
	*value = attribute == ATTRIBUTE_INTEGRATED ? g->integrated : g->largebar;
	return 0;
}

EXPORTED int hipDeviceGetName(char *name, int len, int device);
int hipDeviceGetName(char *name, int len, int device)
{
	HIP_FAILURE("hipDeviceGetName");
	return cuDeviceGetName(name, len, device);
}

/* In small letters, with the domain. */
EXPORTED int hipDeviceGetPCIBusId(char *text, int len, int device);
int hipDeviceGetPCIBusId(char *text, int len, int device)
{
	int rc;

	HIP_FAILURE("hipDeviceGetPCIBusId");
	rc = cuDeviceGetPCIBusId(text, len, device);
	for (; !rc && *text; text++)
		if (*text >= 'A' && *text <= 'F')
			*text += 'a' - 'A';
	return rc;
}

EXPORTED int hipDeviceTotalMem(size_t *bytes, int device);
int hipDeviceTotalMem(size_t *bytes, int device)
{
	HIP_FAILURE("hipDeviceTotalMem");
	return cuDeviceTotalMem_v2(bytes, device);
}

/* HIP's are 16 letters: the hexadecimal digits of AMD's unique_id. */
EXPORTED int hipDeviceGetUuid(CUuuid *uuid, int device);
int hipDeviceGetUuid(CUuuid *uuid, int device)
{
	const struct sim_gpu *g = simhip_gpu(device);
	char text[17];

	HIP_FAILURE("hipDeviceGetUuid");
	if (!g)
		return CUDA_ERROR_INVALID_DEVICE;
	for (int i = 0; i < 8; i++)
		snprintf(text + 2 * i, 3, "%02x", g->uuid[i]);
	memcpy(uuid->bytes, text, 16);
	return 0;
}

EXPORTED int hipMalloc(void **addr, size_t bytes);
int hipMalloc(void **addr, size_t bytes)
{
	CUdeviceptr at = 0;
	int rc;

	HIP_READY("hipMalloc");
	rc = cuMemAlloc_v2(&at, bytes);
	*addr = (void *)(uintptr_t)at;
	return rc;
}

EXPORTED int hipExtMallocWithFlags(void **addr, size_t bytes, unsigned flags);
int hipExtMallocWithFlags(void **addr, size_t bytes, unsigned flags)
{
	HIP_FAILURE("hipExtMallocWithFlags");
	return flags > 1 ? CUDA_ERROR_INVALID_VALUE : hipMalloc(addr, bytes);
}

EXPORTED int hipFree(void *addr);
int hipFree(void *addr)
{
	HIP_READY("hipFree");
	return addr ? cuMemFree_v2((uintptr_t)addr) : 0;
}

EXPORTED int hipMemGetAddressRange(void **base, size_t *bytes, void *addr);
int hipMemGetAddressRange(void **base, size_t *bytes, void *addr)
{
	uint64_t begin;
	int rc;

	HIP_READY("hipMemGetAddressRange");
	rc = simhip_allocation((uintptr_t)addr, &begin, bytes);
	*base = (void *)(uintptr_t)begin;
	return rc;
}

EXPORTED int hipMemsetD8(void *addr, unsigned char value, size_t bytes);
int hipMemsetD8(void *addr, unsigned char value, size_t bytes)
{
	HIP_READY("hipMemsetD8");
	return cuMemsetD8_v2((uintptr_t)addr, value, bytes);
}

EXPORTED int hipMemcpyHtoD(void *to, const void *from, size_t bytes);
int hipMemcpyHtoD(void *to, const void *from, size_t bytes)
{
	HIP_READY("hipMemcpyHtoD");
	return cuMemcpyHtoD_v2((uintptr_t)to, from, bytes);
}

EXPORTED int hipMemcpyDtoH(void *to, void *from, size_t bytes);
int hipMemcpyDtoH(void *to, void *from, size_t bytes)
{
	HIP_READY("hipMemcpyDtoH");
	return cuMemcpyDtoH_v2(to, (uintptr_t)from, bytes);
}

EXPORTED int hipMemcpyHtoDAsync(void *to, const void *from, size_t bytes, void *stream);
int hipMemcpyHtoDAsync(void *to, const void *from, size_t bytes, void *stream)
{
	HIP_READY("hipMemcpyHtoDAsync");
	return cuMemcpyHtoDAsync_v2((uintptr_t)to, from, bytes, stream);
}

EXPORTED int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream);
int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream)
{
	HIP_READY("hipMemcpyDtoHAsync");
	return cuMemcpyDtoHAsync_v2(to, (uintptr_t)from, bytes, stream);
}

EXPORTED int hipDeviceSynchronize(void);
int hipDeviceSynchronize(void)
{
	HIP_READY("hipDeviceSynchronize");
	return cuCtxSynchronize();
}

EXPORTED int hipStreamCreateWithFlags(void **stream, unsigned flags);
int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
	HIP_READY("hipStreamCreateWithFlags");
	return flags > NON_BLOCKING ? CUDA_ERROR_INVALID_VALUE : cuStreamCreate((CUstream *)stream, flags);
}

EXPORTED int hipStreamSynchronize(void *stream);
int hipStreamSynchronize(void *stream)
{
	HIP_READY("hipStreamSynchronize");
	return cuStreamSynchronize(stream);
}

EXPORTED int hipStreamDestroy(void *stream);
int hipStreamDestroy(void *stream)
{
	HIP_READY("hipStreamDestroy");
	return cuStreamDestroy_v2(stream);
}

EXPORTED int hipEventCreateWithFlags(void **event, unsigned flags);
int hipEventCreateWithFlags(void **event, unsigned flags)
{
	HIP_READY("hipEventCreateWithFlags");
	return cuEventCreate((CUevent *)event, flags);
}

EXPORTED int hipEventDestroy(void *event);
int hipEventDestroy(void *event)
{
	HIP_READY("hipEventDestroy");
	return cuEventDestroy_v2(event);
}

EXPORTED int hipEventRecord(void *event, void *stream);
int hipEventRecord(void *event, void *stream)
{
	HIP_READY("hipEventRecord");
	return cuEventRecord(event, stream);
}

EXPORTED int hipEventQuery(void *event);
int hipEventQuery(void *event)
{
	HIP_READY("hipEventQuery");
	return cuEventQuery(event);
}

EXPORTED int hipHostRegister(void *addr, size_t bytes, unsigned flags);
int hipHostRegister(void *addr, size_t bytes, unsigned flags)
{
	HIP_READY("hipHostRegister");
	return cuMemHostRegister_v2(addr, bytes, flags);
}

EXPORTED int hipHostUnregister(void *addr);
int hipHostUnregister(void *addr)
{
	HIP_READY("hipHostUnregister");
	return cuMemHostUnregister(addr);
}

EXPORTED const char *hipGetErrorName(int result);
const char *hipGetErrorName(int result)
{
	static const struct {
		int result;
		const char *name;
	} names[] = {
		{0, "hipSuccess"},
		{1, "hipErrorInvalidValue"},
		{2, "hipErrorOutOfMemory"},
		{3, "hipErrorNotInitialized"},
		{17, "hipErrorInvalidDevicePointer"},
		{35, "hipErrorInsufficientDriver"},
		{100, "hipErrorNoDevice"},
		{101, "hipErrorInvalidDevice"},
		{209, "hipErrorNoBinaryForGpu"},
		{303, "hipErrorSharedObjectInitFailed"},
		{600, "hipErrorNotReady"},
		{712, "hipErrorHostMemoryAlreadyRegistered"},
		{801, "hipErrorNotSupported"},
		{999, "hipErrorUnknown"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].result == result)
			return names[i].name;
	return "hipErrorUnknown";
}

#ifdef HIP_EXPORTS
EXPORTED int hipMemGetHandleForAddressRange(void *handle, void *addr, size_t bytes, int type,
					    unsigned long long flags);
int hipMemGetHandleForAddressRange(void *handle, void *addr, size_t bytes, int type,
				   unsigned long long flags)
{
	uint64_t offset;
	int rc;

	HIP_READY("hipMemGetHandleForAddressRange");
	if (type != 1 || flags > 1)
		return CUDA_ERROR_INVALID_VALUE;
	rc = simhip_export((uintptr_t)addr, bytes, handle, &offset);
	return rc ? CUDA_ERROR_NOT_SUPPORTED : 0;
}
#endif

/* Its layout changed under the same name: who calls it has it wrong on one side or the other. */
EXPORTED int hipGetDeviceProperties(void *properties, int device);
int hipGetDeviceProperties(void *properties, int device)
{
	(void)properties;
	fprintf(stderr, "simhip: hipGetDeviceProperties(%d) was called\n", device);
	abort();
}
#endif

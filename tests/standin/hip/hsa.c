// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libhsa-runtime64: what rdmark calls of it, and the GPU for HIP's half. */
#include "simhip.h"

#include <string.h>
#include <unistd.h>

#define HSA_ALLOCATION	  0x1003
#define HSA_ARGUMENT	  0x1001
#define HSA_AGENT	  0x1004
#define HSA_NO_INIT	  0x100B
#define HSA_RESOURCES	  0x1008
#define INFO_DMABUF	  0x204

static _Atomic int started;

int simhip_failure(const char *call)
{
	int rc = sim_enter(call, false);

	if (rc == CUDA_ERROR_NOT_INITIALIZED)
		return 0; /* the caller checks that itself */
	if (!rc)
		sim_leave(CUDA_SUCCESS);
	return rc;
}

const struct sim_gpu *simhip_gpu(int device)
{
	return device >= 0 && device < sim_conf()->ngpu ? &sim_conf()->gpu[device] : NULL;
}

int simhip_current(int device)
{
	static _Atomic int retained[SIM_GPUS];
	CUcontext ctx;
	int rc;

	if (!simhip_gpu(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!retained[device]++) {
		rc = cuDevicePrimaryCtxRetain(&ctx, device);
		if (rc)
			return rc;
	}
	return cuCtxSetCurrent((CUcontext)simhip_gpu(device));
}

int simhip_allocation(uint64_t addr, uint64_t *base, size_t *bytes)
{
	CUdeviceptr begin;
	bool found;

	sim_lock();
	found = sim_allocation(addr, &begin, bytes);
	sim_unlock();
	*base = found ? begin : 0;
	return found ? 0 : CUDA_ERROR_INVALID_VALUE;
}

int simhip_export(uint64_t addr, size_t bytes, int *fd, uint64_t *offset)
{
	struct sim_gpu *g;
	int rc = 0;

	sim_lock();
	g = sim_gpu_of(addr);
	if (!g)
		rc = HSA_ALLOCATION;
	else if (!g->dmabuf)
		rc = HSA_AGENT;
	if (!rc) {
		*fd = sim_export_whole(addr, bytes, offset);
		rc = *fd < 0 ? HSA_ALLOCATION : 0;
	}
	sim_unlock();
	return rc;
}

EXPORTED int hsa_init(void);
EXPORTED int hsa_shut_down(void);
EXPORTED int hsa_status_string(int status, const char **text);
EXPORTED int hsa_system_get_info(int attribute, void *value);

int hsa_init(void)
{
	int rc = simhip_failure("hsa_init");

	if (!rc && !sim_conf()->ngpu)
		rc = HSA_RESOURCES;
	if (!rc)
		started++;
	return rc;
}

int hsa_shut_down(void)
{
	if (!started)
		return HSA_NO_INIT;
	started--;
	return 0;
}

int hsa_status_string(int status, const char **text)
{
	static const struct {
		int status;
		const char *text;
	} texts[] = {
		{0, "HSA_STATUS_SUCCESS"},
		{HSA_ARGUMENT, "HSA_STATUS_ERROR_INVALID_ARGUMENT: One of the actual arguments does not meet a precondition"},
		{HSA_ALLOCATION, "HSA_STATUS_ERROR_INVALID_ALLOCATION: The requested allocation is not valid."},
		{HSA_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT: The agent is invalid."},
		{HSA_RESOURCES, "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources."},
		{HSA_NO_INIT, "HSA_STATUS_ERROR_NOT_INITIALIZED: An API other than hsa_init has been invoked while the reference count of the HSA runtime is zero."},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].status == status) {
			*text = texts[i].text;
			return 0;
		}
	return HSA_ARGUMENT;
}

int hsa_system_get_info(int attribute, void *value)
{
	if (!started)
		return HSA_NO_INIT;
#ifdef HSA_WITHOUT_DMABUF
	(void)value;
	return attribute == INFO_DMABUF ? HSA_ARGUMENT : 0;
#else
	if (attribute != INFO_DMABUF)
		return HSA_ARGUMENT;
	*(bool *)value = sim_conf()->ngpu && sim_conf()->gpu[0].dmabuf;
	return 0;
#endif
}

#ifndef HSA_WITHOUT_DMABUF
EXPORTED int hsa_amd_portable_export_dmabuf(const void *addr, size_t bytes, int *fd, uint64_t *offset);
EXPORTED int hsa_amd_portable_close_dmabuf(int fd);

int hsa_amd_portable_export_dmabuf(const void *addr, size_t bytes, int *fd, uint64_t *offset)
{
	int rc = simhip_failure("hsa_amd_portable_export_dmabuf");

	if (!started)
		return HSA_NO_INIT;
	return rc ? rc : simhip_export((uintptr_t)addr, bytes, fd, offset);
}

int hsa_amd_portable_close_dmabuf(int fd)
{
	return close(fd) ? HSA_ARGUMENT : 0;
}
#endif

int simhip_version(void)
{
	return sim_conf()->driver;
}

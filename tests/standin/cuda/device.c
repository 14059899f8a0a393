// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices, their attributes, and primary contexts: the context of GPU i is the address of its
 * entry.
 */
#include "simcuda.h"

#include <ctype.h>
#include <string.h>

static __thread struct sim_gpu *current;

static struct sim_gpu *gpu_of(CUdevice dev)
{
	struct sim_conf *c = sim_conf();

	return dev >= 0 && dev < c->ngpu ? &c->gpu[dev] : NULL;
}

struct sim_gpu *sim_current(void)
{
	return current;
}

EXPORTED CUresult cuDeviceGetCount(int *count)
{
	CUresult rc = sim_enter("cuDeviceGetCount", false);

	if (rc)
		return rc;
	*count = sim_conf()->ngpu;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuDeviceGet(CUdevice *dev, int ordinal)
{
	CUresult rc = sim_enter("cuDeviceGet", false);

	if (rc)
		return rc;
	*dev = ordinal;
	return sim_leave(gpu_of(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

EXPORTED CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	CUresult rc = sim_enter("cuDeviceGetName", false);

	if (rc)
		return rc;
	if (!gpu_of(dev) || len <= 0)
		return sim_leave(CUDA_ERROR_INVALID_DEVICE);
	snprintf(name, (size_t)len, "%s", gpu_of(dev)->name);
	return sim_leave(CUDA_SUCCESS);
}

/* Both names are exported, as the driver does; cuda.h 13 makes the plain one a macro for _v2. */
EXPORTED CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	CUresult rc = sim_enter("cuDeviceGetUuid", false);

	if (rc)
		return rc;
	if (!gpu_of(dev))
		return sim_leave(CUDA_ERROR_INVALID_DEVICE);
	memcpy(uuid->bytes, gpu_of(dev)->uuid, 16);
	return sim_leave(CUDA_SUCCESS);
}
#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) ALIAS("cuDeviceGetUuid_v2");

EXPORTED CUresult cuDeviceGetPCIBusId(char *text, int len, CUdevice dev)
{
	CUresult rc = sim_enter("cuDeviceGetPCIBusId", false);

	if (rc)
		return rc;
	if (!gpu_of(dev) || len <= 0)
		return sim_leave(CUDA_ERROR_INVALID_DEVICE);
	snprintf(text, (size_t)len, "%s", gpu_of(dev)->pci);
	for (; *text; text++)
		*text = (char)toupper((unsigned char)*text);
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	CUresult rc = sim_enter("cuDeviceTotalMem", false);

	if (rc)
		return rc;
	if (!gpu_of(dev))
		return sim_leave(CUDA_ERROR_INVALID_DEVICE);
	*bytes = gpu_of(dev)->memory_bytes;
	return sim_leave(CUDA_SUCCESS);
}

/* A driver knows an attribute from its version SINCE on. */
static CUresult answer(int *value, int number, const struct sim_gpu *g)
{
	const struct {
		int number, since, value;
	} table[] = {
		{18, 5000, g->integrated},      {75, 5000, g->capability / 10},
		{76, 5000, g->capability % 10}, {116, 11030, g->gpudirect},
		{117, 11030, g->flush},         {118, 11030, g->ordering},
		{124, 11070, g->dmabuf},
	};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].number == number && sim_conf()->driver >= table[i].since) {
			*value = table[i].value;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

EXPORTED CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute number, CUdevice dev)
{
	CUresult rc = sim_enter("cuDeviceGetAttribute", false);

	if (rc)
		return rc;
	if (!gpu_of(dev))
		return sim_leave(CUDA_ERROR_INVALID_DEVICE);
	return sim_leave(answer(value, (int)number, gpu_of(dev)));
}

EXPORTED CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	CUresult rc = sim_enter("cuDevicePrimaryCtxRetain", false);

	if (rc)
		return rc;
	if (!gpu_of(dev))
		return sim_leave(CUDA_ERROR_INVALID_DEVICE);
	gpu_of(dev)->retained++;
	sim_conf()->count.retains++;
	*ctx = (CUcontext)gpu_of(dev);
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	CUresult rc = sim_enter("cuDevicePrimaryCtxRelease", false);

	if (rc)
		return rc;
	if (!gpu_of(dev) || !gpu_of(dev)->retained)
		return sim_leave(CUDA_ERROR_INVALID_CONTEXT);
	gpu_of(dev)->retained--;
	sim_conf()->count.releases++;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuCtxSetCurrent(CUcontext ctx)
{
	CUresult rc = sim_enter("cuCtxSetCurrent", false);
	struct sim_gpu *g = (struct sim_gpu *)ctx;

	if (rc)
		return rc;
	if (g && !g->retained)
		return sim_leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
	current = g;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuCtxSynchronize(void)
{
	CUresult rc = sim_enter("cuCtxSynchronize", true);

	if (rc)
		return rc;
	sim_drain();
	return sim_leave(CUDA_SUCCESS);
}

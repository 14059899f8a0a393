// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* NVIDIA's GPUs, through the primary context, which all CUDA versions and libraries share. */
#include "base/phase.h"
#include "finding/why.h"
#include "memory/cuda.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "host/pci.h"
#include "host/sysfs.h"
#include "memory/gpu.h"
#include "memory/vendors.h"

#define ALLOC_STEP_BYTES ((size_t)2 << 20) /* the driver's own granularity */
#define EXPORT_PCIE      1u                /* CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE */

struct cuda_gpu {
	struct gpu gpu;
	struct cuda_driver cu;
	CUdevice device;
	CUcontext ctx; /* primary; NULL: not retained */
};

static struct cuda_gpu *cuda(struct gpu *g)
{
	return (struct cuda_gpu *)g;
}

/*
 * Make G's context current in the calling thread, and call the driver's FUNCTION. Its result. It
 * costs nothing compared with a copy, and so any thread may call.
 */
#define CUDA_CALL(g, function, ...) \
	(int)(cuda(g)->cu.cuCtxSetCurrent(cuda(g)->ctx) ?: cuda(g)->cu.function(__VA_ARGS__))

static size_t round_up(size_t n, size_t step)
{
	return (n + step - 1) / step * step;
}

/* The attribute WHICH of the device; UNKNOWN if the driver does not know it. */
static int device_attribute(const struct cuda_driver *cu, CUdevice dev, CUdevice_attribute which,
			    int unknown)
{
	int value;

	if (cu->cuDeviceGetAttribute(&value, which, dev))
		return unknown;
	return value;
}

static void format_uuid(const struct cuda_driver *cu, CUdevice dev, char *buf, size_t size)
{
	CUuuid id;
	unsigned char b[16];

	if (!cu->cuDeviceGetUuid_v2 || cu->cuDeviceGetUuid_v2(&id, dev))
		return;
	memcpy(b, id.bytes, sizeof(b));
	snprintf(buf, size,
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
		 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
		 b[14], b[15]);
}

/*
 * The size of BAR1, the second memory window; 0 if unknown. In `resource` each window is a line of
 * first byte, last byte and flags. A 64-bit BAR0 has two lines, the second of them all zeros.
 */
static uint64_t bar1_bytes(const char *pci)
{
	uint64_t first[2] = {0}, last[2] = {0};
	char text[512] = "";

	if (!pci[0] ||
	    sysfs_read_raw(text, sizeof(text) - 1, "bus/pci/devices/%s/resource", pci) < 0)
		return 0;
	sscanf(text, "%*s %*s %*s %" SCNx64 " %" SCNx64 " %*s %" SCNx64 " %" SCNx64, &first[0],
	       &last[0], &first[1], &last[1]);
	for (int i = 0; i < 2; i++)
		if (last[i] > first[i])
			return last[i] - first[i] + 1;
	return 0;
}

/* Fill INFO for device INDEX. What the driver does not tell is 0, "" or unknown (-1). */
static int describe_device(const struct cuda_driver *cu, int index, struct gpu_info *info,
			   struct fault *f)
{
	char pci[32] = "";
	size_t memory = 0;
	CUdevice dev;
	CUresult rc = cu->cuDeviceGet(&dev, index);

	memset(info, 0, sizeof(*info));
	if (rc)
		return cuda_failed(f, (int)rc, "cuDeviceGet(%d)", index);
	info->driver_version = cu->version;
	if (cu->cuDeviceGetName(info->name, sizeof(info->name), dev))
		info->name[0] = '\0';
	format_uuid(cu, dev, info->uuid, sizeof(info->uuid));
	if (cu->cuDeviceGetPCIBusId(pci, sizeof(pci), dev) || !pci_parse(pci, info->pci))
		info->pci[0] = '\0';
	info->capability =
		device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) * 10 +
		device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
	info->integrated = device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_INTEGRATED, 0) > 0;
	/* a driver that does not know this attribute may still support it */
	info->gpudirect =
		device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 1) > 0;
	info->dmabuf = cu->cuMemGetHandleForAddressRange &&
		       device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0) > 0;
	info->can_flush =
		cu->cuFlushGPUDirectRDMAWrites &&
		(device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS,
				  0) &
		 CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST);
	info->ordering =
		device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, -1);
	if (!cu->cuDeviceTotalMem_v2(&memory, dev))
		info->memory_bytes = memory;
	info->bar1_bytes = bar1_bytes(info->pci);
	return 0;
}

static int cuda_list(struct gpu_info **list, size_t *count, struct fault *f)
{
	struct cuda_driver cu;
	int n = 0, rc;

	if (cuda_driver_start(&cu, f))
		return -1;
	rc = (int)cu.cuDeviceGetCount(&n);
	if (rc)
		return cuda_failed(f, rc, "cuDeviceGetCount");
	*list = calloc((size_t)n + 1, sizeof(**list));
	if (!*list)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating a list of %d GPUs", n);
	for (*count = 0; (int)*count < n; ++*count)
		if (describe_device(&cu, (int)*count, &(*list)[*count], f))
			return -1;
	return 0;
}

static void cuda_close(struct gpu *g)
{
	if (cuda(g)->ctx) {
		cuda(g)->cu.cuCtxSetCurrent(NULL);
		cuda(g)->cu.cuDevicePrimaryCtxRelease_v2(cuda(g)->device);
	}
	free(g);
}

static int cuda_open(struct gpu **out, const struct gpu_info *info, struct fault *f)
{
	struct cuda_gpu *g = calloc(1, sizeof(*g));
	CUresult rc;

	if (!g)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating struct gpu");
	if (cuda_driver_start(&g->cu, f))
		goto out;
	rc = g->cu.cuDeviceGet(&g->device, info->ordinal);
	if (!rc)
		rc = g->cu.cuDevicePrimaryCtxRetain(&g->ctx, g->device);
	if (!rc)
		rc = g->cu.cuCtxSetCurrent(g->ctx);
	if (rc) {
		cuda_failed(f, (int)rc, "cuDevicePrimaryCtxRetain(%s)", info->name);
		goto out;
	}
	*out = &g->gpu;
	return 0;
out:
	cuda_close(&g->gpu);
	return -1;
}

static void cuda_free(struct memory *m)
{
	CUDA_CALL(m->gpu, cuMemFree_v2, m->base);
}

/* Allocate BYTES, aligned to GPU_ALIGN_BYTES. If the driver aligns to less, allocate more and align
 * within it. */
static int allocate_aligned(struct memory *m, size_t bytes)
{
	CUdeviceptr base = 0;
	int rc = CUDA_CALL(m->gpu, cuMemAlloc_v2, &base, bytes);

	if (!rc && base % GPU_ALIGN_BYTES) {
		CUDA_CALL(m->gpu, cuMemFree_v2, base);
		rc = CUDA_CALL(m->gpu, cuMemAlloc_v2, &base, bytes + GPU_ALIGN_BYTES);
	}
	m->base = base;
	m->addr = round_up(base, GPU_ALIGN_BYTES);
	return rc;
}

static int cuda_alloc(struct memory *m, const struct memory_attr *attr, struct fault *f)
{
	size_t bytes = round_up(attr->bytes ? attr->bytes : 1, ALLOC_STEP_BYTES);
	unsigned one = 1;
	int rc;

	if (bytes < attr->bytes)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "%s", units_size(bytes).text);
	rc = allocate_aligned(m, bytes);
	if (rc)
		return cuda_failed(f, rc, "cuMemAlloc(%s)", units_size(bytes).text);
	rc = CUDA_CALL(m->gpu, cuPointerSetAttribute, &one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
		       m->addr);
	if (!rc || rc == CUDA_ERROR_NOT_SUPPORTED) /* this module waits for copies anyway */
		rc = CUDA_CALL(m->gpu, cuMemsetD8_v2, m->addr, 0, bytes);
	if (!rc)
		rc = CUDA_CALL(m->gpu, cuCtxSynchronize);
	if (!rc)
		return 0;
	cuda_failed(f, rc, "preparing %s of GPU memory", units_size(bytes).text);
	cuda_free(m);
	return -1;
}

static int cuda_export(struct gpu *g, uint64_t addr, size_t bytes, bool pcie, int *fd,
		       uint64_t *offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t base = addr & ~(page - 1);

	*fd = -1;
	*offset = addr - base;
	if (!cuda(g)->cu.cuMemGetHandleForAddressRange ||
	    (pcie && cuda(g)->cu.version < CUDA_PCIE_SINCE))
		return CUDA_ERROR_NOT_SUPPORTED;
	return CUDA_CALL(g, cuMemGetHandleForAddressRange, fd, base,
			 round_up(*offset + bytes, page), CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
			 pcie ? EXPORT_PCIE : 0);
}

static int cuda_copy_in(struct gpu *g, uint64_t to, const void *from, size_t bytes, struct fault *f)
{
	int rc = CUDA_CALL(g, cuMemcpyHtoD_v2, to, from, bytes);

	fault_phase(f, PHASE_COPY_TO_GPU);
	if (!rc) /* from pageable memory the call may return early */
		rc = CUDA_CALL(g, cuCtxSynchronize);
	return rc ? cuda_failed(f, rc, "cuMemcpyHtoD(%zu bytes)", bytes) : 0;
}

static int cuda_copy_out(struct gpu *g, void *to, uint64_t from, size_t bytes, struct fault *f)
{
	int rc = CUDA_CALL(g, cuMemcpyDtoH_v2, to, from, bytes);

	fault_phase(f, PHASE_COPY_FROM_GPU);
	return rc ? cuda_failed(f, rc, "cuMemcpyDtoH(%zu bytes)", bytes) : 0;
}

static int cuda_flush(struct gpu *g, struct fault *f)
{
	int rc = CUDA_CALL(g, cuFlushGPUDirectRDMAWrites,
			   CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
			   CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);

	return rc ? cuda_failed(f, rc, "cuFlushGPUDirectRDMAWrites") : 0;
}

static int cuda_host_register(struct gpu *g, void *addr, size_t bytes)
{
	return CUDA_CALL(g, cuMemHostRegister_v2, addr, bytes, CU_MEMHOSTREGISTER_PORTABLE);
}

static void cuda_host_release(struct gpu *g, void *addr)
{
	CUDA_CALL(g, cuMemHostUnregister, addr);
}

static int cuda_stream_create(struct gpu *g, void **stream)
{
	return CUDA_CALL(g, cuStreamCreate, (CUstream *)stream, CU_STREAM_NON_BLOCKING);
}

static void cuda_stream_destroy(struct gpu *g, void *stream)
{
	CUDA_CALL(g, cuStreamSynchronize, stream);
	CUDA_CALL(g, cuStreamDestroy_v2, stream);
}

static int cuda_event_create(struct gpu *g, void **event)
{
	return CUDA_CALL(g, cuEventCreate, (CUevent *)event, CU_EVENT_DISABLE_TIMING);
}

static void cuda_event_destroy(struct gpu *g, void *event)
{
	CUDA_CALL(g, cuEventDestroy_v2, event);
}

static int cuda_stream_in(struct gpu *g, void *stream, uint64_t to, const void *from, size_t bytes)
{
	return CUDA_CALL(g, cuMemcpyHtoDAsync_v2, to, from, bytes, stream);
}

static int cuda_stream_out(struct gpu *g, void *stream, void *to, uint64_t from, size_t bytes)
{
	return CUDA_CALL(g, cuMemcpyDtoHAsync_v2, to, from, bytes, stream);
}

static int cuda_stream_mark(struct gpu *g, void *stream, void *event)
{
	return CUDA_CALL(g, cuEventRecord, event, stream);
}

static int cuda_stream_done(struct gpu *g, void *event)
{
	int rc = CUDA_CALL(g, cuEventQuery, event);

	return rc == CUDA_ERROR_NOT_READY ? 0 : rc ? -rc : 1;
}

const struct memory_ops *memory_cuda(void)
{
	static const struct memory_ops ops = {
		.name = "CUDA",
		.module = "nvidia",
		.alloc = cuda_alloc,
		.free = cuda_free,
		.hidden_by = "CUDA_VISIBLE_DEVICES",
		.option = "use_cuda",
		.list = cuda_list,
		.open = cuda_open,
		.close = cuda_close,
		.copy_in = cuda_copy_in,
		.copy_out = cuda_copy_out,
		.host_register = cuda_host_register,
		.host_release = cuda_host_release,
		.export = cuda_export,
		.flush = cuda_flush,
		.has_peermem = cuda_has_peermem,
		.stream_create = cuda_stream_create,
		.stream_destroy = cuda_stream_destroy,
		.event_create = cuda_event_create,
		.event_destroy = cuda_event_destroy,
		.stream_in = cuda_stream_in,
		.stream_out = cuda_stream_out,
		.stream_mark = cuda_stream_mark,
		.stream_done = cuda_stream_done,
		.error_name = cuda_error_name,
		.failed = cuda_failed,
		.why = cuda_why,
	};

	return &ops;
}

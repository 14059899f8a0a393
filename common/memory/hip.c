// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * AMD's GPUs, by HIP; dma-bufs by HSA, whose library HIP needs anyway, or by HIP where that has the
 * call. The libraries stay loaded, because they have threads. HIP has no contexts: each thread has
 * a current device.
 */
#include "memory/hip.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/phase.h"
#include "base/units.h"
#include "host/pci.h"
#include "host/sysfs.h"
#include "memory/gpu.h"
#include "memory/vendors.h"

#define HIP7_LIBRARY "libamdhip64.so.7"
#define HIP6_LIBRARY "libamdhip64.so.6"
#define HIP5_LIBRARY "libamdhip64.so.5"
#define HSA_LIBRARY  "libhsa-runtime64.so.1"

#define ALLOC_STEP_BYTES ((size_t)2 << 20)

/* clang-format off */
#define HIP_ENTRIES(X)							\
	X(hipInit) X(hipRuntimeGetVersion) X(hipGetDeviceCount) X(hipSetDevice) \
	X(hipDeviceGetName) X(hipDeviceGetPCIBusId) X(hipDeviceGetAttribute) X(hipDeviceTotalMem) \
	X(hipDeviceGetUuid) X(hipDeviceSynchronize)			\
	X(hipMalloc) X(hipFree) X(hipMemsetD8) X(hipMemcpyHtoD) X(hipMemcpyDtoH) \
	X(hipMemcpyHtoDAsync) X(hipMemcpyDtoHAsync) X(hipHostRegister) X(hipHostUnregister) \
	X(hipStreamCreateWithFlags) X(hipStreamSynchronize) X(hipStreamDestroy) \
	X(hipEventCreateWithFlags) X(hipEventRecord) X(hipEventQuery) X(hipEventDestroy)
/* what may be missing: in HSA's library, and in HIP's before 7.0 */
#define HSA_ENTRIES(X) X(hsa_init) X(hsa_system_get_info) X(hsa_amd_portable_export_dmabuf)
/* clang-format on */

#define HIP_ENTRY(function) __typeof__(function) *function;

struct hip_driver {
	HIP_ENTRIES(HIP_ENTRY)
	HSA_ENTRIES(HIP_ENTRY)
	HIP_ENTRY(hipMemGetHandleForAddressRange)
	bool exports_dmabuf; /* by HSA */
};

struct hip_gpu {
	struct gpu gpu;
	struct hip_driver hip;
};

static struct hip_gpu *hip(struct gpu *g)
{
	return (struct hip_gpu *)g;
}

/* Make G the calling thread's device, and call HIP's FUNCTION. Its result. */
#define HIP_CALL(g, function, ...) \
	(hip(g)->hip.hipSetDevice((g)->info.ordinal) ?: hip(g)->hip.function(__VA_ARGS__))

/* HSA's part, which may be missing: then there are no dma-bufs. */
static void start_hsa(struct hip_driver *d)
{
	void *library = dlopen(HSA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool known = true, exports = false;

#define LOOK_UP(function) known = vendor_look_up(library, #function, &d->function) && known;
	HSA_ENTRIES(LOOK_UP)
#undef LOOK_UP
	d->exports_dmabuf = known && d->hsa_init() == 0 &&
			    d->hsa_system_get_info(HSA_INFO_DMABUF, &exports) == 0 && exports;
}

static int raise_no_library(struct fault *f)
{
	int errnum = errno;

	if (errnum == ENOMEM)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "dlopen(" HIP7_LIBRARY ")");
	fault_raise(f, FAULT_UNAVAILABLE, 0, "there is no " HIP7_LIBRARY ", .6 or .5");
	fault_cause(f,
		    "This machine or container has no ROCm library, or it is not in the loader's "
		    "path");
	return fault_fix(f, "install hip-runtime-amd (Debian: libamdhip64-5); if it is there, set "
			    "LD_LIBRARY_PATH=/opt/rocm/lib");
}

/* Open the libraries and start the driver. Returns the number of its devices, or -1. */
static int hip_start(struct hip_driver *d, struct fault *f)
{
	const char *missing = NULL;
	void *library;
	int rc, count = 0;

	memset(d, 0, sizeof(*d));
	errno = 0;
	library = dlopen(HIP7_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	library = library ?: dlopen(HIP6_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	library = library ?: dlopen(HIP5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return raise_no_library(f);
#define LOOK_UP(function)                                      \
	if (!vendor_look_up(library, #function, &d->function)) \
		missing = #function;
	HIP_ENTRIES(LOOK_UP)
#undef LOOK_UP
	if (missing) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "libamdhip64 has no %s", missing);
		fault_cause(f, "The file is not AMD's library, or it is older than ROCm 5.1");
		return fault_fix(f, "install ROCm 5.2 or newer; check LD_LIBRARY_PATH");
	}
	vendor_look_up(library, "hipMemGetHandleForAddressRange",
		       &d->hipMemGetHandleForAddressRange);
	rc = d->hipInit(0);
	if (!rc)
		rc = d->hipGetDeviceCount(&count);
	if (rc || !count)
		return hip_no_device(f, rc);
	start_hsa(d);
	return count;
}

/* A file of the GPU's PCI function, in bytes; -1 if there is none. */
static int64_t amdgpu_bytes(const struct gpu_info *g, const char *file)
{
	char text[32], *end;
	long long bytes;

	if (!g->pci[0] || sysfs_read(text, sizeof(text), "bus/pci/devices/%s/%s", g->pci, file))
		return -1;
	bytes = strtoll(text, &end, 10);
	return end != text && !*end && bytes >= 0 ? bytes : -1;
}

static int64_t hip_moved_bytes(const struct gpu_info *g)
{
	return g->integrated ? -1 : amdgpu_bytes(g, "mem_info_gtt_used");
}

/* Fill INFO for device INDEX. What the driver does not tell is 0, "" or assumed to work. */
static void describe_device(const struct hip_driver *d, int index, struct gpu_info *g)
{
	int integrated = 0, large_bar = 1;
	struct hip_uuid id;
	char pci[32] = "";
	int64_t visible;

	d->hipRuntimeGetVersion(&g->driver_version);
	if (d->hipDeviceGetName(g->name, sizeof(g->name), index))
		g->name[0] = '\0';
	if (!d->hipDeviceGetUuid(&id, index))
		snprintf(g->uuid, sizeof(g->uuid), "GPU-%.16s", id.bytes);
	if (d->hipDeviceGetPCIBusId(pci, sizeof(pci), index) || !pci_parse(pci, g->pci))
		g->pci[0] = '\0';
	if (d->hipDeviceTotalMem(&g->memory_bytes, index))
		g->memory_bytes = 0;
	d->hipDeviceGetAttribute(&integrated, HIP_ATTRIBUTE_INTEGRATED, index);
	d->hipDeviceGetAttribute(&large_bar, HIP_ATTRIBUTE_LARGE_BAR, index);
	g->integrated = integrated > 0;
	g->dmabuf = d->exports_dmabuf || d->hipMemGetHandleForAddressRange;
	g->gpudirect = true;
	g->ordering = 200; /* what the host gets after a completion sees it */
	/* without a large BAR other devices reach only a part of it */
	visible = amdgpu_bytes(g, "mem_info_vis_vram_total");
	if (visible > 0 && visible < amdgpu_bytes(g, "mem_info_vram_total"))
		g->bar1_bytes = (uint64_t)visible;
	else if (!large_bar && !g->integrated)
		g->bar1_bytes = (uint64_t)256 << 20;
}

static int hip_list(struct gpu_info **list, size_t *count, struct fault *f)
{
	struct hip_driver d;
	int n = hip_start(&d, f);

	if (n < 0)
		return -1;
	*list = calloc((size_t)n + 1, sizeof(**list));
	if (!*list)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating a list of %d GPUs", n);
	for (*count = 0; *count < (size_t)n; ++*count)
		describe_device(&d, (int)*count, &(*list)[*count]);
	return 0;
}

static void hip_close(struct gpu *g)
{
	free(g);
}

static int hip_open(struct gpu **out, const struct gpu_info *info, struct fault *f)
{
	struct hip_gpu *g = calloc(1, sizeof(*g));
	int rc;

	if (!g)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating struct gpu");
	if (hip_start(&g->hip, f) >= 0) {
		rc = g->hip.hipSetDevice(info->ordinal);
		if (!rc) {
			*out = &g->gpu;
			return 0;
		}
		hip_failed(f, rc, "hipSetDevice(%s)", info->name);
	}
	hip_close(&g->gpu);
	return -1;
}

static void hip_free(struct memory *m)
{
	HIP_CALL(m->gpu, hipFree, (void *)(uintptr_t)m->base);
}

/* More than is wanted, so that it can begin at a multiple of GPU_ALIGN_BYTES. */
static int hip_alloc(struct memory *m, const struct memory_attr *attr, struct fault *f)
{
	size_t bytes = (attr->bytes | (ALLOC_STEP_BYTES - 1)) + 1;
	void *at = NULL;
	int rc;

	if (bytes < attr->bytes)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "%s", units_size(attr->bytes).text);
	rc = HIP_CALL(m->gpu, hipMalloc, &at, bytes);
	if (!rc && (uintptr_t)at % GPU_ALIGN_BYTES) {
		HIP_CALL(m->gpu, hipFree, at);
		rc = HIP_CALL(m->gpu, hipMalloc, &at, bytes + GPU_ALIGN_BYTES);
	}
	if (rc)
		return hip_failed(f, rc, "hipMalloc(%s)", units_size(bytes).text);
	m->base = (uintptr_t)at;
	m->addr = (m->base + GPU_ALIGN_BYTES - 1) / GPU_ALIGN_BYTES * GPU_ALIGN_BYTES;
	rc = HIP_CALL(m->gpu, hipMemsetD8, (void *)(uintptr_t)m->addr, 0, attr->bytes);
	if (!rc)
		rc = HIP_CALL(m->gpu, hipDeviceSynchronize);
	if (!rc)
		return 0;
	hip_failed(f, rc, "preparing %s of GPU memory", units_size(bytes).text);
	hip_free(m);
	return -1;
}

/* mlx5 Data Direct is NVIDIA's. */
static int hip_export(struct gpu *g, uint64_t addr, size_t bytes, bool pcie, int *fd,
		      uint64_t *offset)
{
	const struct hip_driver *d = &hip(g)->hip;

	*fd = -1;
	*offset = 0;
	if (pcie)
		return HIP_NOT_SUPPORTED;
	if (d->exports_dmabuf)
		return d->hsa_amd_portable_export_dmabuf((void *)(uintptr_t)addr, bytes, fd,
							 offset);
	if (!d->hipMemGetHandleForAddressRange)
		return HIP_NOT_SUPPORTED;
	return HIP_CALL(g, hipMemGetHandleForAddressRange, fd, (void *)(uintptr_t)addr, bytes,
			HIP_RANGE_DMABUF, 0);
}

static int hip_copy_in(struct gpu *g, uint64_t to, const void *from, size_t bytes, struct fault *f)
{
	int rc = HIP_CALL(g, hipMemcpyHtoD, (void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);

	fault_phase(f, PHASE_COPY_TO_GPU);
	if (!rc)
		rc = HIP_CALL(g, hipDeviceSynchronize);
	return rc ? hip_failed(f, rc, "hipMemcpyHtoD(%zu bytes)", bytes) : 0;
}

static int hip_copy_out(struct gpu *g, void *to, uint64_t from, size_t bytes, struct fault *f)
{
	int rc = HIP_CALL(g, hipMemcpyDtoH, to, (void *)(uintptr_t)from, bytes);

	fault_phase(f, PHASE_COPY_FROM_GPU);
	return rc ? hip_failed(f, rc, "hipMemcpyDtoH(%zu bytes)", bytes) : 0;
}

static int hip_host_register(struct gpu *g, void *addr, size_t bytes)
{
	return HIP_CALL(g, hipHostRegister, addr, bytes, 0);
}

static void hip_host_release(struct gpu *g, void *addr)
{
	HIP_CALL(g, hipHostUnregister, addr);
}

static int hip_stream_create(struct gpu *g, void **stream)
{
	return HIP_CALL(g, hipStreamCreateWithFlags, stream, HIP_STREAM_NON_BLOCKING);
}

static void hip_stream_destroy(struct gpu *g, void *stream)
{
	HIP_CALL(g, hipStreamSynchronize, stream);
	HIP_CALL(g, hipStreamDestroy, stream);
}

static int hip_event_create(struct gpu *g, void **event)
{
	return HIP_CALL(g, hipEventCreateWithFlags, event, HIP_EVENT_NO_TIMING);
}

static void hip_event_destroy(struct gpu *g, void *event)
{
	HIP_CALL(g, hipEventDestroy, event);
}

static int hip_stream_in(struct gpu *g, void *stream, uint64_t to, const void *from, size_t bytes)
{
	return HIP_CALL(g, hipMemcpyHtoDAsync, (void *)to, (void *)(uintptr_t)from, bytes, stream);
}

static int hip_stream_out(struct gpu *g, void *stream, void *to, uint64_t from, size_t bytes)
{
	return HIP_CALL(g, hipMemcpyDtoHAsync, to, (void *)(uintptr_t)from, bytes, stream);
}

static int hip_stream_mark(struct gpu *g, void *stream, void *event)
{
	return HIP_CALL(g, hipEventRecord, event, stream);
}

static int hip_stream_done(struct gpu *g, void *event)
{
	int rc = HIP_CALL(g, hipEventQuery, event);

	return rc == HIP_NOT_READY ? 0 : rc ? -rc : 1;
}

const struct memory_ops *memory_hip(void)
{
	static const struct memory_ops ops = {
		.name = "HIP",
		.module = "amdgpu",
		.alloc = hip_alloc,
		.free = hip_free,
		.hidden_by = "HIP_VISIBLE_DEVICES",
		.option = "use_rocm",
		.list = hip_list,
		.open = hip_open,
		.close = hip_close,
		.copy_in = hip_copy_in,
		.copy_out = hip_copy_out,
		.host_register = hip_host_register,
		.host_release = hip_host_release,
		.export = hip_export,
		.moved_bytes = hip_moved_bytes,
		.has_peermem = hip_has_peermem,
		.stream_create = hip_stream_create,
		.stream_destroy = hip_stream_destroy,
		.event_create = hip_event_create,
		.event_destroy = hip_event_destroy,
		.stream_in = hip_stream_in,
		.stream_out = hip_stream_out,
		.stream_mark = hip_stream_mark,
		.stream_done = hip_stream_done,
		.error_name = hip_error_name,
		.failed = hip_failed,
		.why = hip_why,
	};

	return &ops;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The words for NVIDIA's GPUs: the driver's results, by number, so that they are known without the
 * driver, and as faults; and why NICs cannot reach the memory, which is found by checks.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/units.h"
#include "finding/why.h"
#include "host/sysfs.h"
#include "memory/cuda.h"
#include "memory/gpu.h"

#define TURING_CAPABILITY   75
#define DMABUF_CUDA_VERSION 11070
#define KERNEL_ENOTSUPP     524 /* Linux's internal ENOTSUPP, which strerror() lacks */

#define ROW(number, name)                   \
	{                                   \
		number, "CUDA_ERROR_" #name \
	}

const char *cuda_error_name(int result)
{
	static const struct {
		int number;
		const char *name;
	} table[] = {
		{0, "CUDA_SUCCESS"},
		ROW(1, INVALID_VALUE),
		ROW(2, OUT_OF_MEMORY),
		ROW(3, NOT_INITIALIZED),
		ROW(4, DEINITIALIZED),
		ROW(34, STUB_LIBRARY),
		ROW(46, DEVICE_UNAVAILABLE),
		ROW(100, NO_DEVICE),
		ROW(101, INVALID_DEVICE),
		ROW(201, INVALID_CONTEXT),
		ROW(214, ECC_UNCORRECTABLE),
		ROW(217, PEER_ACCESS_UNSUPPORTED),
		ROW(304, OPERATING_SYSTEM),
		ROW(400, INVALID_HANDLE),
		ROW(600, NOT_READY),
		ROW(700, ILLEGAL_ADDRESS),
		ROW(709, CONTEXT_IS_DESTROYED),
		ROW(712, HOST_MEMORY_ALREADY_REGISTERED),
		ROW(713, HOST_MEMORY_NOT_REGISTERED),
		ROW(719, LAUNCH_FAILED),
		ROW(800, NOT_PERMITTED),
		ROW(801, NOT_SUPPORTED),
		ROW(802, SYSTEM_NOT_READY),
		ROW(803, SYSTEM_DRIVER_MISMATCH),
		ROW(804, COMPAT_NOT_SUPPORTED_ON_DEVICE),
		ROW(999, UNKNOWN),
	};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].number == result)
			return table[i].name;
	return "unknown error";
}

/* Add cause and fix for RESULT; an invalid value has none. */
static void explain_result(struct fault *f, int result)
{
	switch (result) {
	case CUDA_ERROR_OUT_OF_MEMORY:
		EXPLAIN(f, GPU_MEMORY, {"tool", "nvidia-smi"});
		break;
	case CUDA_ERROR_DEVICE_UNAVAILABLE:
		EXPLAIN(f, GPU_EXCLUSIVE);
		break;
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
		EXPLAIN(f, GPU_CONTEXT);
		break;
	case CUDA_ERROR_INVALID_VALUE:
		break;
	default:
		EXPLAIN(f, GPU_OTHER, {"logs", "NVRM and Xid"});
		break;
	}
}

int cuda_failed(struct fault *f, int result, const char *call, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, call);
	vsnprintf(text, sizeof(text), call, ap);
	va_end(ap);
	fault_raise(f, FAULT_LOCAL, 0, "%s: %s (%d)", text, cuda_error_name(result), result);
	explain_result(f, result);
	return -1;
}

/* "7.5". */
static struct units_text version_text(int major, int minor)
{
	struct units_text t;

	snprintf(t.text, sizeof(t.text), "%d.%d", major, minor);
	return t;
}

/* The causes are found from the driver's version, the GPU's generation and its attributes, which
 * tell more than RESULT. */
static enum why why_no_export(const struct gpu_info *g, int result)
{
	if (g->driver_version < DMABUF_CUDA_VERSION)
		return WHY_OLD_DRIVER;
	if (!g->gpudirect)
		return g->integrated ? WHY_GPU_SHARES : WHY_NO_GPUDIRECT;
	if (g->capability && g->capability < TURING_CAPABILITY)
		return WHY_OLD_GPU;
	if (!g->dmabuf)
		return WHY_CLOSED_MODULES;
	return result == 1 ? WHY_EXPORT_RANGE : WHY_EXPORT_REFUSED;
}

/* Why the NIC's driver refused to register an exported dma-buf. */
static enum why why_dmabuf_refused(int errnum)
{
	return errnum == KERNEL_ENOTSUPP ? WHY_NO_PEER_TRANSFER
	       : errnum == EINVAL        ? WHY_DMABUF_REJECTED
					 : WHY_DMABUF_FAILED;
}

bool cuda_has_peermem(void)
{
	return sysfs_exists("module/nvidia_peermem/version") ||
	       sysfs_exists("module/nv_peer_mem/version") ||
	       sysfs_exists("kernel/mm/memory_peers/nv_mem/version") ||
	       sysfs_exists("kernel/mm/memory_peers/nv_mem_nc/version");
}

/* Every module of MLNX_OFED and DOCA-OFED needs mlx_compat, so it tells that they are installed.
 * The kernel's own RDMA stack lacks the peer-memory interface: there nvidia_peermem cannot be
 * loaded. */
static enum why why_peermem_refused(const struct gpu_info *g, int errnum)
{
	if (errnum != EFAULT)
		return WHY_PEERMEM_FAILED;
	if (!g->gpudirect)
		return g->integrated ? WHY_GPU_SHARES : WHY_NO_GPUDIRECT;
	if (cuda_has_peermem())
		return WHY_PEERMEM_REFUSES;
	return sysfs_exists("module/mlx_compat/initstate") ? WHY_PEERMEM_UNLOADED
							   : WHY_PEERMEM_ABSENT;
}

static enum why find_why(const struct gpu_info *g, enum memory_refusal refusal, int number)
{
	switch (refusal) {
	case MEMORY_EXPORT:
		return why_no_export(g, number);
	case MEMORY_EXPORT_DIRECT:
		return WHY_EXPORT_DIRECT;
	case MEMORY_NO_DMABUF:
		return number == EPROTONOSUPPORT ? WHY_OLD_KERNEL : WHY_NO_DMABUF;
	case MEMORY_DMABUF:
	case MEMORY_PEERMEM:
	case MEMORY_MOVED:
		break;
	}
	if (number == ENOMEM)
		return WHY_BAR1_FULL;
	return refusal == MEMORY_PEERMEM ? why_peermem_refused(g, number)
					 : why_dmabuf_refused(number);
}

int cuda_why(const struct gpu_info *g, enum memory_refusal refusal, int number, size_t bytes,
	     struct fault *f)
{
	bool old = g->capability && g->capability < TURING_CAPABILITY;

	if (refusal == MEMORY_EXPORT || refusal == MEMORY_EXPORT_DIRECT)
		fault_raise(f, FAULT_LOCAL, 0, "cuMemGetHandleForAddressRange(%s): %s (%d)",
			    units_size(bytes).text, cuda_error_name(number), number);
	return why_explain(
		f, find_why(g, refusal, number),
		WHY_VALUES(
			{"gpu", g->name}, {"old", old ? g->name : NULL, NAN},
			{"rebuild", old ? "" : NULL, NAN},
			{"verb", old ? "install" : "use dma-buf; or install"},
			{"logs", refusal == MEMORY_EXPORT ? "NVRM" : "mlx5 and NVRM"},
			{"bytes", units_size(bytes).text},
			{"bar1", g->bar1_bytes ? units_size(g->bar1_bytes).text : "size unknown"},
			{"cuda",
			 version_text(g->driver_version / 1000, g->driver_version % 1000 / 10)
				 .text},
			{"capability", version_text(g->capability / 10, g->capability % 10).text},
			{"result", cuda_error_name(number)}, FINDING_NUMBER("number", number, ""),
			{"text", f->text}));
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The words for NVIDIA's GPUs: the driver's results, by number, so that they are known without the
 * driver, and as faults; and why NICs cannot reach the memory, which is found by checks.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/units.h"
#include "host/sysfs.h"
#include "memory/cuda.h"
#include "memory/gpu.h"

#define TURING_CAPABILITY   75
#define DMABUF_CUDA_VERSION 11070
#define KERNEL_ENOTSUPP     524 /* Linux's internal ENOTSUPP, which strerror() lacks */
#define OFED                "MLNX_OFED or DOCA-OFED"

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
		fault_cause(f, "The GPU has too little free memory");
		fault_fix(f, "see in nvidia-smi which processes use it; use smaller messages (-s) "
			     "or fewer QPs (-q)");
		break;
	case CUDA_ERROR_DEVICE_UNAVAILABLE:
		fault_cause(f, "The GPU is in exclusive mode, and another process uses it");
		fault_fix(f, "nvidia-smi -c DEFAULT, or end that process");
		break;
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
		fault_cause(f, "The GPU reported an error that destroyed its context");
		fault_fix(f, "check dmesg for Xid");
		break;
	case CUDA_ERROR_INVALID_VALUE:
		break;
	default:
		fault_fix(f, "check dmesg for NVRM and Xid");
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

/* The size of G's BAR1, the window through which other devices access its memory. */
static struct units_text format_bar1_size(const struct gpu_info *g)
{
	return g->bar1_bytes ? units_size(g->bar1_bytes) : (struct units_text){"size unknown"};
}

static int explain_no_gpudirect(const struct gpu_info *g, struct fault *f)
{
	fault_cause(
		f, "The driver says that %s does not support GPUDirect RDMA (attribute 116 is 0)%s",
		g->name,
		g->integrated ? ": it shares the host's memory" : "; GeForce cards do not");
	if (g->integrated)
		return fault_fix(f, "use host memory, which this GPU reads, too");
	return fault_fix(f, "use a data-centre or RTX PRO GPU");
}

static int explain_window_full(const struct gpu_info *g, size_t bytes, struct fault *f)
{
	fault_cause(f,
		    "%s of GPU memory could not be mapped for the NIC: BAR1 (%s) or the IOMMU's "
		    "address space is full; RLIMIT_MEMLOCK does not matter here",
		    units_size(bytes).text, format_bar1_size(g).text);
	return fault_fix(f, "use smaller messages (-s) or fewer QPs (-q); see BAR1 in nvidia-smi "
			    "-q; enable large BARs (Above 4G, Resizable BAR) in the BIOS");
}

/* The causes are found from the driver's version, the GPU's generation and its attributes, which
 * tell more than RESULT. */
static int explain_no_export(const struct gpu_info *g, int result, struct fault *f)
{
	const char *name = cuda_error_name(result);

	if (g->driver_version < DMABUF_CUDA_VERSION) {
		fault_cause(f,
			    "The NVIDIA driver (CUDA %d.%d) is too old to export dma-bufs, which "
			    "needs CUDA 11.7",
			    g->driver_version / 1000, g->driver_version % 1000 / 10);
		return fault_fix(f,
				 "install NVIDIA driver 515 or newer with its open kernel modules");
	}
	if (!g->gpudirect)
		return explain_no_gpudirect(g, f);
	if (g->capability && g->capability < TURING_CAPABILITY) {
		fault_cause(f,
			    "%s (compute capability %d.%d) cannot export dma-bufs: that needs "
			    "NVIDIA's open kernel modules, which run on Turing (7.5) and newer",
			    g->name, g->capability / 10, g->capability % 10);
		return fault_fix(f, "use nvidia_peermem with " OFED);
	}
	if (!g->dmabuf) {
		fault_cause(f,
			    "The driver says that %s cannot export dma-bufs (attribute 124 is 0): "
			    "it runs NVIDIA's closed kernel modules, or the kernel is older than "
			    "5.12",
			    g->name);
		return fault_fix(f, "install the driver's open kernel modules (nvidia-open)");
	}
	if (result == 1)
		return fault_cause(f, "The driver rejects this address range for an export (%s)",
				   name);
	fault_cause(f, "The driver does not export this memory: %s (%d)", name, result);
	return fault_fix(f, "check dmesg for NVRM; SLI and vGPU prevent the export");
}

static int explain_no_dmabuf(int errnum, struct fault *f)
{
	if (errnum == EPROTONOSUPPORT) {
		fault_cause(f, "The kernel's RDMA stack is too old to register dma-bufs, which "
			       "needs Linux 5.12 (Protocol not supported)");
		return fault_fix(f, "use a newer kernel, or " OFED " with nvidia_peermem");
	}
	fault_cause(f, "The device's driver or library cannot register dma-bufs (Operation not "
		       "supported): not all devices can, and mlx5 needs a kernel with "
		       "CONFIG_INFINIBAND_ON_DEMAND_PAGING");
	return fault_fix(f, "use nvidia_peermem with " OFED ", or a kernel with on-demand paging");
}

/* Explain why the NIC's driver refused to register an exported dma-buf. */
static int explain_dmabuf_refused(const struct gpu_info *g, int errnum, struct fault *f)
{
	if (errnum == KERNEL_ENOTSUPP) {
		fault_cause(f,
			    "The NVIDIA driver refuses the NIC as a peer of %s: the chipset is not "
			    "known to forward PCIe transfers between the two, and they share no "
			    "PCIe switch (error 524)",
			    g->name);
		return fault_fix(f, "put NIC and GPU under one PCIe switch; on Grace systems, use "
				    "Data Direct");
	}
	if (errnum == EINVAL) {
		fault_cause(f, "The NIC's driver rejects the offset, the length or the page size");
		return fault_fix(f, "check dmesg; use peermem, and report this to rdmark");
	}
	fault_cause(f, "The exported memory could not be registered: %s", f->text);
	return fault_fix(f, "check dmesg for mlx5 and NVRM");
}

bool cuda_has_peermem(void)
{
	return sysfs_exists("module/nvidia_peermem/version") ||
	       sysfs_exists("module/nv_peer_mem/version") ||
	       sysfs_exists("kernel/mm/memory_peers/nv_mem/version") ||
	       sysfs_exists("kernel/mm/memory_peers/nv_mem_nc/version");
}

/* Explain that nvidia_peermem is not loaded. The kernel's own RDMA stack lacks the peer-memory
 * interface, so there the module cannot be loaded at all. */
static int explain_peermem_absent(const struct gpu_info *g, struct fault *f)
{
	bool old = g->capability && g->capability < TURING_CAPABILITY;

	/* Every module of MLNX_OFED and DOCA-OFED needs mlx_compat, so it tells that they are
	 * installed. */
	if (sysfs_exists("module/mlx_compat/initstate")) {
		fault_cause(f, "nvidia_peermem is not loaded");
		return fault_fix(f, "modprobe nvidia_peermem");
	}
	fault_cause(f,
		    "nvidia_peermem is not loaded, and the kernel's own RDMA stack does not "
		    "support it: modprobe would fail with \"Invalid argument\"%s%s%s",
		    old ? ". " : "", old ? g->name : "",
		    old ? " is older than Turing and cannot export dma-bufs either: without " OFED
			  " there is no direct route"
			: "");
	return fault_fix(f, "%s " OFED "%s and modprobe nvidia_peermem",
			 old ? "install" : "use dma-buf; or install",
			 old ? ", rebuild the NVIDIA modules" : "");
}

static int explain_peermem_refused(const struct gpu_info *g, int errnum, struct fault *f)
{
	if (errnum != EFAULT) {
		fault_cause(f, "The device address could not be registered: %s", f->text);
		return fault_fix(f, "check dmesg for mlx5, NVRM and nvidia_peermem");
	}
	if (!g->gpudirect)
		return explain_no_gpudirect(g, f);
	if (!cuda_has_peermem())
		return explain_peermem_absent(g, f);
	fault_cause(f,
		    "nvidia_peermem is loaded, but does not accept the memory: BAR1 (%s) is full, "
		    "the GPU is not supported, or the memory is not a GPU's",
		    format_bar1_size(g).text);
	return fault_fix(f, "check BAR1 in nvidia-smi -q, and dmesg; load nvidia_peermem after the "
			    "NIC's driver; use smaller messages");
}

int cuda_why(const struct gpu_info *g, enum memory_refusal refusal, int number, size_t bytes,
	     struct fault *f)
{
	switch (refusal) {
	case MEMORY_EXPORT:
	case MEMORY_EXPORT_DIRECT:
		fault_raise(f, FAULT_LOCAL, 0, "cuMemGetHandleForAddressRange(%s): %s (%d)",
			    units_size(bytes).text, cuda_error_name(number), number);
		if (refusal == MEMORY_EXPORT)
			return explain_no_export(g, number, f);
		return fault_cause(f,
				   "The driver does not map %s's memory for Data Direct: %s (%d)",
				   g->name, cuda_error_name(number), number);
	case MEMORY_NO_DMABUF:
		return explain_no_dmabuf(number, f);
	case MEMORY_DMABUF:
	case MEMORY_PEERMEM:
	case MEMORY_MOVED:
		break;
	}
	if (number == ENOMEM)
		return explain_window_full(g, bytes, f);
	return refusal == MEMORY_PEERMEM ? explain_peermem_refused(g, number, f)
					 : explain_dmabuf_refused(g, number, f);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a failed registration of GPU memory means: causes found by looking, and what to do. */
#include "verbs/gpu_route_try.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/units.h"
#include "host/sysfs.h"

#define TURING          75
#define DMABUF_SINCE    11070
#define KERNEL_ENOTSUPP 524 /* Linux' own; strerror() does not know it */
#define OFED            "MLNX_OFED or DOCA-OFED"

static void why(struct gpu_route_state *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void fix(struct gpu_route_state *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void why(struct gpu_route_state *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->why, sizeof(s->why), fmt, ap);
	va_end(ap);
}

static void fix(struct gpu_route_state *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->fix, sizeof(s->fix), fmt, ap);
	va_end(ap);
}

static bool exists(const char *path)
{
	char text[64];

	return !sysfs_read(text, sizeof(text), "%s", path);
}

static bool peermem_is_loaded(void)
{
	return exists("module/nvidia_peermem/version") || exists("module/nv_peer_mem/version") ||
	       exists("kernel/mm/memory_peers/nv_mem/version") ||
	       exists("kernel/mm/memory_peers/nv_mem_nc/version");
}

/* Each module of MLNX_OFED and DOCA needs mlx_compat. */
static bool ofed_is_loaded(void)
{
	return exists("module/mlx_compat/initstate");
}

static void not_allowed(const struct gpu_info *g, struct gpu_route_state *s)
{
	why(s,
	    "The driver says that %s does not support GPUDirect RDMA (attribute 116 is 0), as "
	    "GeForce cards do",
	    g->name);
	fix(s, "use a data-centre or RTX PRO GPU, or --gpu-path staged");
}

static void out_of_window(const struct gpu_mr_ask *ask, struct gpu_route_state *s)
{
	const struct gpu_info *g = gpu_about(ask->gpu);
	char want[32], have[32];

	units_format_size(ask->bytes, want, sizeof(want));
	units_format_size(g->bar1_bytes, have, sizeof(have));
	why(s,
	    "%s of GPU memory could not be mapped for the NIC: BAR1 (%s) or the IOMMU's space is "
	    "full; RLIMIT_MEMLOCK has no part in it",
	    want, g->bar1_bytes ? have : "size unknown");
	fix(s, "use smaller messages (-s) or fewer QPs (-q); see BAR1 in nvidia-smi -q; enable "
	       "large BARs (Above 4G, Resizable BAR) in the BIOS");
}

/* The driver does not export: why, by its version and the GPU's generation. */
static void no_export(const struct gpu_info *g, int result, struct gpu_route_state *s)
{
	if (g->driver_version < DMABUF_SINCE) {
		why(s,
		    "The NVIDIA driver (CUDA %d.%d) is older than dma-buf export, which came with "
		    "CUDA 11.7",
		    g->driver_version / 1000, g->driver_version % 1000 / 10);
		fix(s, "install NVIDIA driver 515 or newer with its open kernel modules");
	} else if (!g->gpudirect) {
		not_allowed(g, s);
	} else if (g->capability && g->capability < TURING) {
		why(s,
		    "%s (compute capability %d.%d) cannot export dma-bufs: that needs NVIDIA's open "
		    "kernel modules, which run on Turing (7.5) and newer",
		    g->name, g->capability / 10, g->capability % 10);
		fix(s, "use nvidia_peermem with " OFED);
	} else if (!g->dmabuf) {
		why(s,
		    "The driver says that %s cannot export dma-bufs (attribute 124 is 0): it "
		    "runs NVIDIA's closed kernel modules, or the kernel is older than 5.12",
		    g->name);
		fix(s, "install the driver's open kernel modules (nvidia-open)");
	} else if (result == 1) {
		why(s, "The driver does not take this range for an export (%s)",
		    gpu_error_name(result));
	} else {
		why(s, "The driver does not export this memory: %s (%d)", gpu_error_name(result),
		    result);
		fix(s, "look at dmesg for NVRM; SLI and vGPU exclude the export");
	}
}

/* ibv_reg_dmabuf_mr() does not even look at the descriptor. */
static void no_chain(int errnum, struct gpu_route_state *s)
{
	if (errnum == EPROTONOSUPPORT) {
		why(s, "The kernel's RDMA stack is older than dma-buf registration, which came "
		       "with Linux 5.12 (Protocol not supported)");
		fix(s, "use a newer kernel, or " OFED " with nvidia_peermem");
		return;
	}
	why(s, "The device's driver or its library cannot register dma-bufs (Operation not "
	       "supported): not every kind of device can, and mlx5 needs a kernel with "
	       "CONFIG_INFINIBAND_ON_DEMAND_PAGING");
	fix(s, "use nvidia_peermem with " OFED ", or a kernel with on-demand paging");
}

static void dmabuf_refused(const struct gpu_try *t, const struct gpu_mr_ask *ask,
			   struct gpu_route_state *s)
{
	const struct gpu_info *g = gpu_about(ask->gpu);
	char text[128];

	switch (t->errnum) {
	case KERNEL_ENOTSUPP:
		why(s,
		    "The NVIDIA driver refuses the NIC as a peer of %s: the chipset is not known "
		    "to pass PCIe transfers between the two, and no PCIe switch joins them "
		    "(error 524)",
		    g->name);
		fix(s, "put NIC and GPU under one PCIe switch; on Grace systems use Data Direct; "
		       "else --gpu-path staged");
		break;
	case ENOMEM:
		out_of_window(ask, s);
		break;
	case EINVAL:
		why(s, "The NIC's driver does not take the range: offset, length or page size");
		fix(s, "look at dmesg; use peermem, and report this to rdmark");
		break;
	default:
		fault_errno_text(t->errnum, text, sizeof(text));
		why(s, "The registration of the exported memory failed: %s", text);
		fix(s, "look at dmesg for mlx5 and NVRM");
		break;
	}
}

/* In-box RDMA stacks have no door for peer memory: the module cannot even be loaded. */
static void peermem_absent(const struct gpu_info *g, struct gpu_route_state *s)
{
	bool old = g->capability && g->capability < TURING;

	if (ofed_is_loaded()) {
		why(s, "nvidia_peermem is not loaded");
		fix(s, "modprobe nvidia_peermem");
		return;
	}
	why(s,
	    "nvidia_peermem is not loaded, and the kernel's own RDMA stack has no place for it: "
	    "modprobe would say \"Invalid argument\"%s%s%s",
	    old ? ". " : "", old ? g->name : "",
	    old ? " is older than Turing, so dma-buf is closed to it, too: without " OFED
		  " there is no direct route"
		: "");
	fix(s, old ? "install " OFED ", rebuild the NVIDIA modules and modprobe nvidia_peermem"
		   : "use dma-buf; or install " OFED " and modprobe nvidia_peermem");
}

static void peermem_refused(const struct gpu_try *t, const struct gpu_mr_ask *ask,
			    struct gpu_route_state *s)
{
	const struct gpu_info *g = gpu_about(ask->gpu);
	char text[128], have[32];

	if (t->errnum == ENOMEM) {
		out_of_window(ask, s);
	} else if (t->errnum != EFAULT) {
		fault_errno_text(t->errnum, text, sizeof(text));
		why(s, "The registration of the device address failed: %s", text);
		fix(s, "look at dmesg for mlx5, NVRM and nvidia_peermem");
	} else if (!g->gpudirect) {
		not_allowed(g, s);
	} else if (!peermem_is_loaded()) {
		peermem_absent(g, s);
	} else {
		units_format_size(g->bar1_bytes, have, sizeof(have));
		why(s,
		    "nvidia_peermem is loaded and says that the memory is not its own: it says so "
		    "too when BAR1 (%s) is full or the GPU is not supported",
		    g->bar1_bytes ? have : "size unknown");
		fix(s,
		    "see BAR1 in nvidia-smi -q and dmesg; load nvidia_peermem after the driver of "
		    "the NIC; use smaller messages");
	}
}

void gpu_try_explain(const struct gpu_try *t, const struct gpu_mr_ask *ask,
		     struct gpu_route_state *s)
{
	bool direct = ask->route == GPU_ROUTE_DATA_DIRECT;

	s->errnum = t->errnum;
	s->why[0] = s->fix[0] = '\0';
	switch (t->step) {
	case GPU_STEP_DONE:
		break;
	case GPU_STEP_LIBRARY:
		why(s, direct ? "It needs a ConnectX of mlx5 and rdma-core 54 or newer"
			      : "libibverbs has no ibv_reg_dmabuf_mr: rdma-core is older than 34");
		fix(s, "%s", direct ? "" : "install a newer rdma-core");
		break;
	case GPU_STEP_DEVICE:
		why(s, "The NIC has no Data Direct function");
		break;
	case GPU_STEP_PROBE:
		no_chain(t->errnum, s);
		break;
	case GPU_STEP_EXPORT:
		if (direct)
			why(s, "The driver does not map %s's memory for Data Direct: %s (%d)",
			    gpu_about(ask->gpu)->name, gpu_error_name(t->result), t->result);
		else
			no_export(gpu_about(ask->gpu), t->result, s);
		break;
	case GPU_STEP_REGISTER:
		if (ask->route == GPU_ROUTE_PEERMEM)
			peermem_refused(t, ask, s);
		else
			dmabuf_refused(t, ask, s);
		break;
	}
}

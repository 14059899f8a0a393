// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The words for AMD's GPUs: results of HIP and HSA, and why NICs cannot reach the memory. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "host/sysfs.h"
#include "memory/gpu.h"
#include "memory/hip.h"

enum {
	HSA_ERROR_ALLOCATION = 0x1003,
	HSA_ERROR_AGENT = 0x1004,
};

const char *hip_error_name(int result)
{
	static const struct {
		int number;
		const char *name;
	} table[] = {
		{0, "hipSuccess"},
		{1, "hipErrorInvalidValue"},
		{HIP_OUT_OF_MEMORY, "hipErrorOutOfMemory"},
		{3, "hipErrorNotInitialized"},
		{17, "hipErrorInvalidDevicePointer"},
		{HIP_OLD_DRIVER, "hipErrorInsufficientDriver"},
		{HIP_NO_DEVICE, "hipErrorNoDevice"},
		{101, "hipErrorInvalidDevice"},
		{209, "hipErrorNoBinaryForGpu"},
		{303, "hipErrorSharedObjectInitFailed"},
		{HIP_NOT_READY, "hipErrorNotReady"},
		{700, "hipErrorIllegalAddress"},
		{712, "hipErrorHostMemoryAlreadyRegistered"},
		{719, "hipErrorLaunchFailure"},
		{HIP_NOT_SUPPORTED, "hipErrorNotSupported"},
		{999, "hipErrorUnknown"},
		{0x1001, "HSA_STATUS_ERROR_INVALID_ARGUMENT"},
		{HSA_ERROR_ALLOCATION, "HSA_STATUS_ERROR_INVALID_ALLOCATION"},
		{HSA_ERROR_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT"},
		{0x1008, "HSA_STATUS_ERROR_OUT_OF_RESOURCES"},
		{0x100b, "HSA_STATUS_ERROR_NOT_INITIALIZED"},
	};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].number == result)
			return table[i].name;
	return "unknown error";
}

int hip_failed(struct fault *f, int result, const char *call, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, call);
	vsnprintf(text, sizeof(text), call, ap);
	va_end(ap);
	fault_raise(f, FAULT_LOCAL, 0, "%s: %s (%d)", text, hip_error_name(result), result);
	if (result != HIP_OUT_OF_MEMORY)
		return fault_fix(f, "check dmesg for amdgpu and kfd");
	fault_cause(f, "The GPU has too little free memory");
	return fault_fix(f,
			 "see in rocm-smi --showpids which processes use it; use smaller messages "
			 "(-s) or fewer QPs (-q)");
}

int hip_no_device(struct fault *f, int rc)
{
	const char *visible = getenv("HIP_VISIBLE_DEVICES") ?: getenv("ROCR_VISIBLE_DEVICES");

	if (rc == HIP_OUT_OF_MEMORY)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "hipInit: %s", hip_error_name(rc));
	if (!rc)
		rc = HIP_NO_DEVICE;
	fault_raise(f, FAULT_UNAVAILABLE, 0, "hipInit: %s (%d)", hip_error_name(rc), rc);
	if (rc == HIP_OLD_DRIVER) {
		fault_cause(f, "The kernel's amdgpu driver is too old for this ROCm library");
		return fault_fix(f, "install the amdgpu-dkms of the same ROCm release");
	}
	if (visible) {
		fault_cause(f,
			    "HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES is '%s', which may hide "
			    "all GPUs",
			    visible);
		return fault_fix(f, "unset it, or name a GPU in it");
	}
	if (!sysfs_exists("module/amdgpu")) {
		fault_cause(f, "The kernel module amdgpu is not loaded");
		return fault_fix(f, "modprobe amdgpu; check dmesg");
	}
	fault_cause(f,
		    "ROCm finds no GPU, or this user may not open /dev/kfd and /dev/dri/renderD*");
	return fault_fix(f, "add the user to the groups render and video; in a container, pass "
			    "--device /dev/kfd --device /dev/dri; see rocminfo");
}

static int explain_no_export(const struct gpu_info *g, int result, struct fault *f)
{
	if (!g->dmabuf) {
		fault_cause(f,
			    "This ROCm cannot export dma-bufs, or HSA's library is missing: that "
			    "needs ROCm 5.6 and a kernel driver with interface 1.12");
		return fault_fix(f, "install a newer ROCm and amdgpu driver");
	}
	if (result == HSA_ERROR_AGENT)
		return fault_cause(f, "The memory of %s cannot be exported", g->name);
	return fault_cause(f, "The driver does not export this memory: %s (%d)",
			   hip_error_name(result), result);
}

bool hip_has_peermem(void)
{
	return sysfs_exists("kernel/mm/memory_peers/amdkfd/version") ||
	       sysfs_exists("kernel/memory_peers/amdkfd/version") ||
	       sysfs_exists("memory_peers/amdkfd/version");
}

/* amdgpu does not refuse a NIC that cannot reach the GPU: it moves the buffer. */
static int explain_moved(const struct gpu_info *g, size_t bytes, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, 0, "ibv_reg_dmabuf_mr(%s of GPU memory)",
		    units_size(bytes).text);
	fault_cause(f,
		    "The driver moved the buffer to host memory when the NIC attached it: the NIC "
		    "would access the host's memory, not that of %s",
		    g->name);
	return fault_fix(
		f, "use a kernel with CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY (6.16 or "
		   "newer for NICs that pin), large BARs, iommu=pt, and no ACS between NIC and "
		   "GPU");
}

static int explain_peermem(int errnum, struct fault *f)
{
	if (hip_has_peermem()) {
		fault_cause(f, "amdgpu's peer memory is there, but does not accept the memory: %s",
			    f->text);
		return fault_fix(f, "check dmesg for amdgpu and amdkfd");
	}
	(void)errnum;
	fault_cause(
		f,
		"amdgpu has no peer memory here: the kernel's own RDMA stack does not support it");
	return fault_fix(
		f, "use dma-buf; or install MLNX_OFED or DOCA-OFED for this kernel and rebuild "
		   "amdgpu-dkms");
}

int hip_why(const struct gpu_info *g, enum memory_refusal refusal, int number, size_t bytes,
	    struct fault *f)
{
	switch (refusal) {
	case MEMORY_EXPORT:
	case MEMORY_EXPORT_DIRECT:
		fault_raise(f, FAULT_LOCAL, 0, "exporting %s of GPU memory: %s (%d)",
			    units_size(bytes).text, hip_error_name(number), number);
		if (refusal == MEMORY_EXPORT)
			return explain_no_export(g, number, f);
		return fault_cause(f, "Data Direct is for NVIDIA's GPUs");
	case MEMORY_MOVED:
		return explain_moved(g, bytes, f);
	case MEMORY_NO_DMABUF:
		fault_cause(
			f,
			"The device's driver, the kernel or libibverbs cannot register dma-bufs");
		return fault_fix(f, "use a kernel from 5.12 on, for mlx5 one with "
				    "CONFIG_INFINIBAND_ON_DEMAND_PAGING");
	case MEMORY_PEERMEM:
		return explain_peermem(number, f);
	case MEMORY_DMABUF:
		break;
	}
	fault_cause(f, "The exported memory could not be registered: %s", f->text);
	return fault_fix(
		f, "check dmesg for amdgpu and the NIC's driver; enable large BARs (Above 4G, "
		   "Resizable BAR) in the BIOS");
}

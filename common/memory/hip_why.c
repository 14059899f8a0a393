// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The words for AMD's GPUs: results of HIP and HSA, and why NICs cannot reach the memory. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "finding/why.h"
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
		return EXPLAIN(f, GPU_OTHER, {"logs", "amdgpu and kfd"});
	return EXPLAIN(f, GPU_MEMORY, {"tool", "rocm-smi --showpids"});
}

int hip_no_device(struct fault *f, int rc)
{
	const char *visible = getenv("HIP_VISIBLE_DEVICES") ?: getenv("ROCR_VISIBLE_DEVICES");

	if (rc == HIP_OUT_OF_MEMORY)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "hipInit: %s", hip_error_name(rc));
	if (!rc)
		rc = HIP_NO_DEVICE;
	fault_raise(f, FAULT_UNAVAILABLE, 0, "hipInit: %s (%d)", hip_error_name(rc), rc);
	if (rc == HIP_OLD_DRIVER)
		return EXPLAIN(f, HIP_OLD);
	if (visible)
		return EXPLAIN(f, HIP_HIDDEN, {"visible", visible});
	if (!sysfs_exists("module/amdgpu"))
		return EXPLAIN(f, HIP_NO_MODULE);
	return EXPLAIN(f, HIP_NO_GPU);
}

bool hip_has_peermem(void)
{
	return sysfs_exists("kernel/mm/memory_peers/amdkfd/version") ||
	       sysfs_exists("kernel/memory_peers/amdkfd/version") ||
	       sysfs_exists("memory_peers/amdkfd/version");
}

static enum why find_why(const struct gpu_info *g, enum memory_refusal refusal, int number)
{
	switch (refusal) {
	case MEMORY_EXPORT:
		return !g->dmabuf                  ? WHY_HIP_NO_EXPORT
		       : number == HSA_ERROR_AGENT ? WHY_HIP_AGENT
						   : WHY_EXPORT_REFUSED;
	case MEMORY_EXPORT_DIRECT:
		return WHY_HIP_DATA_DIRECT;
	case MEMORY_MOVED:
		return WHY_HIP_MOVED;
	case MEMORY_NO_DMABUF:
		return WHY_HIP_NO_DMABUF;
	case MEMORY_PEERMEM:
		return hip_has_peermem() ? WHY_HIP_PEER_REFUSES : WHY_HIP_NO_PEER;
	case MEMORY_DMABUF:
		break;
	}
	return WHY_DMABUF_FAILED;
}

/* amdgpu does not refuse a NIC that cannot reach the GPU: it moves the buffer. */
int hip_why(const struct gpu_info *g, enum memory_refusal refusal, int number, size_t bytes,
	    struct fault *f)
{
	struct units_text size = units_size(bytes);

	if (refusal == MEMORY_EXPORT || refusal == MEMORY_EXPORT_DIRECT)
		fault_raise(f, FAULT_LOCAL, 0, "exporting %s of GPU memory: %s (%d)", size.text,
			    hip_error_name(number), number);
	else if (refusal == MEMORY_MOVED)
		fault_raise(f, FAULT_LOCAL, 0, "ibv_reg_dmabuf_mr(%s of GPU memory)", size.text);
	return why_explain(
		f, find_why(g, refusal, number),
		WHY_VALUES({"gpu", g->name}, {"result", hip_error_name(number)},
			   FINDING_NUMBER("number", number, ""), {"text", f->text},
			   {"logs",
			    refusal == MEMORY_DMABUF
				    ? "amdgpu and the NIC's driver; enable large BARs (Above "
				      "4G, Resizable BAR) in the BIOS"
				    : NULL,
			    NAN}));
}

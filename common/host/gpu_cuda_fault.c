// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Raises faults for failed calls of the driver. */
#include <stdarg.h>
#include <stdio.h>

#include "host/gpu_cuda.h"

/* Add cause and fix for RESULT; an invalid value has none. */
static void explain_result(struct fault *f, CUresult result)
{
	switch ((int)result) {
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

int cuda_failed(struct fault *f, CUresult result, const char *call, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, call);
	vsnprintf(text, sizeof(text), call, ap);
	va_end(ap);
	fault_raise(f, FAULT_LOCAL, 0, "%s: %s (%d)", text, gpu_error_name((int)result),
		    (int)result);
	explain_result(f, result);
	return -1;
}

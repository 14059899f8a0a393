// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The driver's results: their names, by number, so that they are known without the driver; and as
 * faults. */
#include <stdarg.h>
#include <stdio.h>

#include "host/gpu_cuda.h"

#define ROW(number, name)                   \
	{                                   \
		number, "CUDA_ERROR_" #name \
	}

const char *gpu_error_name(int result)
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

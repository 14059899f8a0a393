// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of the driver's results, by number, so that they are known without the driver. */
#include "host/gpu.h"

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

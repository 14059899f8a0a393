/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vendors: whose GPUs rdmark can use. A row is a vendor's name, as in memory_hip(), which its file
 * defines. GPUs are numbered in the order of these rows.
 */
#pragma once

#include "memory/memory.h"

/* clang-format off */
#define MEMORY_VENDORS(X) \
	X(cuda) \
	X(hip)
/* clang-format on */

#define MEMORY_VENDOR_DECLARATION(name) const struct memory_ops *memory_##name(void);

MEMORY_VENDORS(MEMORY_VENDOR_DECLARATION)

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vendors: whose GPUs rdmark can use. A row is a vendor's name, as in memory_hip(), which its file
 * defines. GPUs are numbered in the order of these rows.
 */
#pragma once

#include <dlfcn.h>
#include <string.h>

#include "memory/memory.h"

/* clang-format off */
#define MEMORY_VENDORS(X) \
	X(cuda) \
	X(hip)
/* clang-format on */

#define MEMORY_VENDOR_DECLARATION(name) const struct memory_ops *memory_##name(void);

MEMORY_VENDORS(MEMORY_VENDOR_DECLARATION)

/* For these files: look up FUNCTION of LIBRARY (NULL: none) for *ENTRY; false if it has none. */
static inline bool vendor_look_up(void *library, const char *function, void *entry)
{
	void *symbol = library ? dlsym(library, function) : NULL;

	memcpy(entry, &symbol, sizeof(symbol));
	return symbol != NULL;
}

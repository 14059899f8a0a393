/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * touch: memory that a measuring loop first writes while its clock runs.
 *
 * Memory from calloc(3) has no pages yet. The first write to each page enters the kernel, and that
 * would be measured. The thread that will use the memory must call this, so that the pages are on
 * its NUMA node.
 */
#pragma once

#include <stddef.h>

/* As calloc(3), with all pages present. The caller frees it. NULL: out of memory. */
void *touch_calloc(size_t count, size_t bytes);

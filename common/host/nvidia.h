/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nvidia: NVIDIA's GPUs and kernel modules as any user sees them in sysfs. Unlike gpu.h, it does
 * not start the driver's library, which takes seconds on a large machine. Nothing is raised.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NVIDIA_MAX 32

struct nvidia {
	char gpu[NVIDIA_MAX][16]; /* PCI addresses of those that the kernel module drives */
	unsigned gpus;
	bool closed;  /* the module is not the open one, so it exports no dma-bufs */
	bool peermem; /* nvidia_peermem or its predecessor is loaded */
};

/* Read what is known. */
void nvidia_read(struct nvidia *n);

/* True if nvidia_peermem or its predecessor is loaded. */
bool nvidia_has_peermem(void);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpus: facts about the GPUs of a host and their distance from its RDMA ports. Nothing is raised:
 * what cannot be read is PATH_UNKNOWN or "".
 */
#pragma once

#include "host/path.h"

struct hca_list;

#define GPUS_PORTS 64 /* ports beyond it are not looked at */
#define NVIDIA_MAX 32

/*
 * NVIDIA's GPUs and kernel modules as any user sees them in sysfs; memory/gpu.h would start the
 * driver's library, which takes seconds on a large machine.
 */
struct nvidia {
	char gpu[NVIDIA_MAX][16]; /* PCI addresses of those that the kernel module drives */
	unsigned gpus;
	bool closed;  /* the module is not the open one, so it exports no dma-bufs */
	bool peermem; /* nvidia_peermem is loaded */
};

struct gpus {
	struct nvidia nvidia;
	/* From each GPU to each port of the list; PATH_UNKNOWN in a virtual machine, too. */
	enum path_class class[NVIDIA_MAX][GPUS_PORTS];
	bool coherent; /* GPUs may be attached to the CPU by another bus than PCIe (Arm) */
};

/*
 * Read the facts about the GPUs and the ports of LIST. Returns 0, or -1 with FAULT_LOCAL: no memory.
 */
int gpus_read(struct gpus *g, const struct hca_list *list, bool virtual_machine, struct fault *f);

/*
 * The index of the port that is nearest to GPU, of PORTS those that are USABLE; -1: there is none, or
 * the distance of one is not known.
 */
int gpus_nearest(const struct gpus *g, unsigned gpu, const bool *usable, size_t ports);

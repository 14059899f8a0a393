/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path: the PCIe path between a NIC and a GPU: distance, speed, and what is on it.
 *
 * All of it is read in sysfs (sysfs.h). Nothing is printed, and no fault is raised but for memory.
 * Any thread may call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "host/gpu.h"
#include "host/pci.h"

/* The nearest class first. The names are NVIDIA's. */
enum path_class {
	PATH_PIX,     /* at most one PCIe switch between them */
	PATH_PXB,     /* several switches, but no host bridge */
	PATH_PHB,     /* through one host bridge */
	PATH_NODE,    /* between host bridges of one NUMA node */
	PATH_SYS,     /* between NUMA nodes */
	PATH_UNKNOWN, /* a device is not in sysfs, or is attached to all nodes alike */
	PATH_CLASSES
};

struct path {
	enum path_class class;
	struct pci_link nic, gpu; /* the slowest link from each device up to the point where the
				     paths meet */
	bool trained_down;        /* a link runs below the capabilities of both its ends */
	struct pci_link down;     /* the worst such link */
	char iommu[PCI_IOMMU];           /* the NIC's: "off", "identity", "DMA", "DMA-FQ"; "" unknown */
	bool iommu_translates;
	bool virtual_machine;      /* the distance is meaningless */
	unsigned payload_bytes;    /* PCIe MaxPayload, for the ceilings */
	bool payload_assumed;      /* an assumed value: only root can read it */
	double ceiling_write_gbps; /* maximum payload rate of posted writes over the slower part;
				      0 unknown */
	double ceiling_read_gbps;  /* the same for read completions */
};

/*
 * Find the path between the devices at the PCI addresses NIC and GPU ("0000:41:00.0"; "" or any
 * other text if it is not on PCI). Never fails. The links are read now: an idle GPU may have
 * reduced its link speed, so call it when the GPU has just been busy.
 */
void path_find(const char *nic, const char *gpu, struct path *p);

/* The distance between these devices alone, at no cost. Never fails. */
enum path_class path_classify(const char *nic, const char *gpu);

/*
 * Sort the COUNT GPUs of LIST by distance from NIC: by class, then slowest link, then index. Returns
 * 0, or -1 with FAULT_LOCAL: no memory.
 */
int path_sort(const char *nic, struct gpu_info *list, size_t count, struct fault *f);

const char *path_class_name(enum path_class c); /* "PIX"; "unknown" */
/* As words: "through one PCIe switch at most". */
const char *path_class_words(enum path_class c);

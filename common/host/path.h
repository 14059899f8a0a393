/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path: the PCIe path between a NIC and a GPU: distance, speed, and what is on it.
 *
 * hwloc provides the tree of this machine, or of HWLOC_XMLFILE. That file is checked: a missing
 * file is an error here, while hwloc would silently use this machine. Link speeds come from sysfs
 * (sysfs.h, so RDMARK_SYSFS changes the root), so those of another machine's XML alone are unknown.
 * With RDMARK_SYSFS and no XML there is no tree: every distance is
 * unknown, but the devices' own links are known. Nothing is printed, and no fault is raised except
 * for a file that cannot be read. A tree does not change; any thread may use it.
 */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "host/pci.h"

/* The nearest class first. The names are NVIDIA's. */
enum path_class {
	PATH_PIX,     /* at most one PCIe switch between them */
	PATH_PXB,     /* several switches, but no host bridge */
	PATH_PHB,     /* through one host bridge */
	PATH_NODE,    /* between host bridges of one NUMA node */
	PATH_SYS,     /* between NUMA nodes */
	PATH_UNKNOWN, /* a device is not in the tree, or is attached to all nodes alike */
	PATH_CLASSES
};

struct path {
	enum path_class class;
	struct pci_link nic, gpu; /* the slowest link from each device up to the point where the
				     paths meet */
	bool trained_down;        /* a link runs below the capabilities of both its ends */
	struct pci_link down;     /* the worst such link */
	char iommu[PCI_IOMMU];    /* the NIC's: "off", "identity", "DMA", "DMA-FQ"; "" unknown */
	bool iommu_translates;
	bool virtual_machine;      /* the distance is meaningless */
	unsigned payload_bytes;    /* PCIe MaxPayload, for the ceilings */
	bool payload_assumed;      /* an assumed value: only root can read it */
	double ceiling_write_gbps; /* maximum payload rate of posted writes over the slower part;
				      0 unknown */
	double ceiling_read_gbps;  /* the same for read completions */
};

struct path_tree;

/* Load the tree. Raises FAULT_LOCAL if HWLOC_XMLFILE cannot be used. Close also after a failure. */
int path_open(struct path_tree **t, struct fault *f);
void path_close(struct path_tree *t); /* NULL is fine */

/*
 * Find the path between the devices at the PCI addresses NIC and GPU ("0000:41:00.0"; "" or any
 * other text if it is not on PCI). Never fails. The links are read now: an idle GPU may have
 * reduced its link speed, so call it when the GPU has just been busy.
 */
void path_find(const struct path_tree *t, const char *nic, const char *gpu, struct path *p);

/* The distance between these devices alone, at no cost. Never fails. */
enum path_class path_classify(const struct path_tree *t, const char *nic, const char *gpu);

struct path_row {
	const char *name, *words; /* "PIX"; "through one PCIe switch at most" */
};
const struct path_row *path_row(enum path_class c);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * topo: the place of a NIC: PCI address, NUMA node, PCIe link.
 *
 * It uses sysfs first. hwloc takes longer to load, so it is used only if sysfs does not know the
 * node and the machine has several, or if HWLOC_XMLFILE describes another machine. A missing
 * HWLOC_XMLFILE gives an unknown place, never silently that of this machine: programs drop it
 * before (hwtree_prepare()). This machine's tree is
 * not used for another sysfs root (RDMARK_SYSFS) either.
 */
#pragma once

#include <stddef.h>

#include "host/pci.h"

struct topo_place {
	char pci[16];         /* "0000:41:00.0"; "" if it is not on PCI */
	int numa_node;        /* -1: unknown or none */
	struct pci_link link; /* the device's link, without a name */
};

/*
 * Find the place of RDMA device IBDEV. A soft-RoCE device has no `device` link and takes the place
 * of its `parent` netdev. A device that is not on PCI itself (virtio) takes that of the first PCI
 * device above it. Never fails: unknown values stay "", 0 or -1. Nothing to release.
 */
void topo_locate(const char *ibdev, struct topo_place *place);

/*
 * Write "PCIe 16.0 GT/s x16" and, if so, ", trained below its 32.0 GT/s x16"; "" if unknown.
 * Returns BUF.
 */
const char *topo_format_link(const struct topo_place *place, char *buf, size_t size);

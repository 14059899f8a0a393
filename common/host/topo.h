/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * topo: where a NIC sits: PCI address, NUMA node, PCIe link.
 *
 * sysfs is asked first; hwloc, which is slower to load, only when sysfs does not know the node and
 * the machine has more than one, or when HWLOC_XMLFILE describes another machine. A missing
 * HWLOC_XMLFILE is an unknown place, never silently the live machine. Nor is the live machine
 * asked about another sysfs tree (RDMARK_SYSFS).
 */
#ifndef RDMARK_HOST_TOPO_H
#define RDMARK_HOST_TOPO_H

#include <stddef.h>

struct topo_place {
	char pci[16];         /* "0000:41:00.0", "" if it is no PCI device */
	char via[32];         /* netdev whose device it is (soft-RoCE), "" if its own */
	int numa_node;        /* -1: unknown or none */
	char numa_source[64]; /* "sysfs", "hwloc", "only node", or why it is unknown */
	double link_gts;      /* current PCIe GT/s, 0 if unknown */
	double link_max_gts;
	int link_width; /* current lanes, 0 if unknown */
	int link_max_width;
};

/*
 * Find the place of RDMA device IBDEV. A soft-RoCE device has no `device` link; its home is its
 * `parent` netdev's. A device that is not on PCI itself (virtio) is where the first PCI device
 * above it is. Never fails: what is not known stays "", 0 or -1; nothing to release.
 */
void topo_locate(const char *ibdev, struct topo_place *place);

/* "PCIe 16.0 GT/s x16" and, if so, ", trained below its 32.0 GT/s x16"; "" if unknown. Returns BUF.
 */
const char *topo_format_link(const struct topo_place *place, char *buf, size_t size);

#endif

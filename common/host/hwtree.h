/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hwtree: hwloc's tree of a machine, with its PCI devices. */
#pragma once

#include <hwloc.h>

/* The value of HWLOC_XMLFILE; NULL: use this machine's tree. */
const char *hwtree_file(void);

/*
 * Load the tree of the file XML, or of this machine if XML is NULL, with any plugins that hwloc has
 * here. The file is checked first, because hwloc silently uses this machine if the file is missing.
 * Returns 0 or -errno, and *TREE is NULL then; -EINVAL: no plugin of this hwloc can read a tree
 * from it. Free *TREE with hwloc_topology_destroy().
 */
int hwtree_load(hwloc_topology_t *tree, const char *xml);

/*
 * For main(), before there are threads and a tree: keep hwloc from loading plugins, each with the
 * libraries of its own, unless HWLOC_PLUGINS_BLACKLIST is set. And if HWLOC_XMLFILE names no file
 * that can be loaded, say so on stderr, and unset it, so that this machine's tree is used. Else
 * there is a NUMA node that is unknown, or no distance.
 */
void hwtree_prepare(void);

/* Write the address of PCI as sysfs does: "0000:41:00.0". */
void hwtree_address(const struct hwloc_pcidev_attr_s *pci, char text[16]);

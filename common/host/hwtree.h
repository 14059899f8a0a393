/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hwtree: hwloc's tree of a machine, with its PCI devices. */
#ifndef RDMARK_HOST_HWTREE_H
#define RDMARK_HOST_HWTREE_H

#include <hwloc.h>

/* HWLOC_XMLFILE, or NULL: the tree is to be this machine's. */
const char *hwtree_file(void);

/*
 * Load the tree of the file XML, or of this machine if that is NULL. The file is checked: hwloc,
 * left to itself, silently takes this machine when HWLOC_XMLFILE is missing. Returns 0 or -errno
 * (-EINVAL: no tree that this hwloc can read), *TREE is then NULL. hwloc_topology_destroy() it.
 */
int hwtree_load(hwloc_topology_t *tree, const char *xml);

/*
 * The NUMA node of HOME, an object with CPUs; -1 if it spans several. Nodes of memory alone (CXL, a
 * GPU's) belong to it, too, but it is not on them.
 */
int hwtree_node(hwloc_topology_t tree, hwloc_obj_t home);

#endif

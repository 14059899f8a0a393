/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* path_class: the part of path that knows only hwloc's tree. For path.c. */
#ifndef RDMARK_HOST_PATH_CLASS_H
#define RDMARK_HOST_PATH_CLASS_H

#include <hwloc.h>
#include <stdbool.h>

#include "host/path.h"

/* Is it a bridge between PCI buses, a port? NULL is none. */
bool path_is_bridge(hwloc_obj_t obj);

/*
 * The lowest object that is above A and B, or is both. hwloc_get_common_ancestor_obj() crashes
 * where two PCI devices nest unequally (2.9 to 2.14).
 */
hwloc_obj_t path_meet(hwloc_obj_t a, hwloc_obj_t b);

/* The distance of two devices that meet at TOP. */
enum path_class path_classify(hwloc_topology_t hwloc, hwloc_obj_t nic, hwloc_obj_t gpu,
			      hwloc_obj_t top);

#endif

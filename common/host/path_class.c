// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* path, how far: where two devices meet in hwloc's tree, and what that is called. */
#include "host/path_class.h"

bool path_is_bridge(hwloc_obj_t obj)
{
	return obj && obj->type == HWLOC_OBJ_BRIDGE &&
	       obj->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
}

static bool is_host_bridge(hwloc_obj_t obj)
{
	return obj->type == HWLOC_OBJ_BRIDGE &&
	       obj->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
}

static unsigned height(hwloc_obj_t obj)
{
	unsigned n = 0;

	for (; obj->parent; obj = obj->parent)
		n++;
	return n;
}

hwloc_obj_t path_meet(hwloc_obj_t a, hwloc_obj_t b)
{
	unsigned up_a = height(a), up_b = height(b);

	for (; up_a > up_b; up_a--)
		a = a->parent;
	for (; up_b > up_a; up_b--)
		b = b->parent;
	while (a != b) {
		a = a->parent;
		b = b->parent;
	}
	return a;
}

/* PCI-PCI bridges strictly between OBJ and TOP: two for each switch, one for that of TOP. */
static unsigned bridges_between(hwloc_obj_t obj, hwloc_obj_t top)
{
	unsigned count = 0;

	for (; obj != top; obj = obj->parent)
		count += path_is_bridge(obj);
	return count;
}

/* Attached to the whole machine although that has smaller nodes: sysfs's numa_node is -1. */
static bool at_all_nodes(hwloc_topology_t hwloc, hwloc_obj_t home)
{
	hwloc_obj_t node = NULL;

	if (!hwloc_bitmap_isequal(home->cpuset, hwloc_topology_get_topology_cpuset(hwloc)))
		return false;
	/* A node without CPUs (a GPU's memory, CXL) has those of what it is attached to. */
	while ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node)) != NULL)
		if (!hwloc_bitmap_isequal(node->cpuset, home->cpuset))
			return true;
	return false;
}

enum path_class path_classify(hwloc_topology_t hwloc, hwloc_obj_t nic, hwloc_obj_t gpu,
			      hwloc_obj_t top)
{
	hwloc_obj_t home[2] = {nic, gpu};

	if (nic == gpu)
		return PATH_PIX;
	if (path_is_bridge(top))
		return bridges_between(nic, top) <= 1 && bridges_between(gpu, top) <= 1 ? PATH_PIX
											: PATH_PXB;
	if (is_host_bridge(top))
		return PATH_PHB;
	for (int i = 0; i < 2; i++) {
		home[i] = hwloc_get_non_io_ancestor_obj(hwloc, home[i]);
		if (!home[i] || at_all_nodes(hwloc, home[i]))
			return PATH_UNKNOWN;
	}
	/* Not node sets: a node of memory alone (CXL) may belong to every socket. */
	return hwloc_bitmap_intersects(home[0]->cpuset, home[1]->cpuset) ? PATH_NODE : PATH_SYS;
}

const char *path_class_name(enum path_class c)
{
	static const char *const names[PATH_CLASSES] = {"PIX",  "PXB", "PHB",
							"NODE", "SYS", "unknown"};

	return (unsigned)c < PATH_CLASSES ? names[c] : names[PATH_UNKNOWN];
}

const char *path_class_words(enum path_class c)
{
	static const char *const words[PATH_CLASSES] = {
		"through one PCIe switch at most", "through several PCIe switches",
		"through a PCIe host bridge",      "between two PCIe host bridges of one NUMA node",
		"between two NUMA nodes",          "not known how far",
	};

	return (unsigned)c < PATH_CLASSES ? words[c] : words[PATH_UNKNOWN];
}

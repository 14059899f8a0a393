// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/topo.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "host/hwtree.h"
#include "host/sysfs.h"

#define NETDEV_SIZE 32

/*
 * Store in PATH the sysfs directory of the hardware of IBDEV. A software device uses that of its
 * netdev, whose name is then stored in NETDEV. Returns 0, or -1 if there is none.
 */
static int find_hardware(const char *ibdev, char netdev[NETDEV_SIZE], char *path, size_t size)
{
	if (!ibdev[0] || strchr(ibdev, '/'))
		return -1;
	if (!sysfs_resolve(path, size, "class/infiniband/%s/device", ibdev))
		return 0;
	sysfs_read(netdev, NETDEV_SIZE, "class/infiniband/%s/parent", ibdev);
	if (strchr(netdev, '/'))
		netdev[0] = '\0';
	return netdev[0] && !sysfs_resolve(path, size, "class/net/%s/device", netdev) ? 0 : -1;
}

/* PATH without the leading root of sysfs; NULL if it is outside of it. */
static char *path_below_root(char *path)
{
	char root[PATH_MAX];
	size_t len;

	if (sysfs_resolve(root, sizeof(root), "."))
		return NULL;
	len = strcmp(root, "/") ? strlen(root) : 0;
	return strncmp(path, root, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

/*
 * Cut PATH back to the nearest directory, itself or a parent, that is a PCI device or has
 * numa_node. Returns false if there is none.
 */
static bool find_located_ancestor(char *path, struct topo_place *place)
{
	for (;;) {
		char *slash = strrchr(path, '/');
		const char *name = slash ? slash + 1 : path;
		int64_t node;

		if (pci_is_address(name) && strlen(name) < sizeof(place->pci)) {
			strcpy(place->pci, name);
			return true;
		}
		if (!sysfs_read_int(&node, "%s/numa_node", path))
			return true;
		if (!slash)
			return false;
		*slash = '\0';
	}
}

/* Find the device in hwloc's tree by its own name, its netdev's name or its PCI address. */
static hwloc_obj_t find_hwloc_device(hwloc_topology_t t, const char *ibdev, const char *netdev,
				     const char *pci)
{
	hwloc_obj_t obj = NULL;

	while ((obj = hwloc_get_next_osdev(t, obj)) != NULL) {
		hwloc_obj_osdev_type_t type = obj->attr->osdev.type;
		const char *name = type == HWLOC_OBJ_OSDEV_OPENFABRICS ? ibdev
				   : type == HWLOC_OBJ_OSDEV_NETWORK   ? netdev
								       : "";

		if (name[0] && obj->name && strcmp(obj->name, name) == 0)
			return obj;
	}
	return pci[0] ? hwloc_get_pcidev_by_busidstring(t, pci) : NULL;
}

/* The NUMA node of HOME, an object with CPUs; -1 if it spans several. Nodes with only memory (CXL,
 * a GPU's) may also belong to HOME, but are not its node. */
static int node_of_object(hwloc_topology_t t, hwloc_obj_t home)
{
	hwloc_obj_t node = NULL, best = NULL;

	/* A node without CPUs has the cpuset of its parent: the smallest one is the CPUs' own. */
	while ((node = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, node)) != NULL) {
		if (!hwloc_bitmap_isset(home->nodeset, node->os_index))
			continue;
		if (!hwloc_bitmap_isincluded(home->cpuset, node->cpuset))
			return -1;
		if (!best || hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(best->cpuset))
			best = node;
	}
	return best ? (int)best->os_index : -1;
}

/* Fill PLACE from hwloc's tree: that of the file XML, or of this machine if XML is NULL. */
static void read_place_from_hwloc(const char *ibdev, const char *netdev, const char *xml,
				  struct topo_place *place)
{
	hwloc_topology_t t;
	hwloc_obj_t obj, home;

	if (hwtree_load(&t, xml))
		return;
	obj = find_hwloc_device(t, ibdev, netdev, place->pci);
	home = obj ? hwloc_get_non_io_ancestor_obj(t, obj) : NULL;
	if (home && home->nodeset)
		place->numa_node = node_of_object(t, home);
	while (obj && obj->type != HWLOC_OBJ_PCI_DEVICE)
		obj = obj->parent;
	if (obj && !place->pci[0])
		hwtree_address(&obj->attr->pcidev, place->pci);
	hwloc_topology_destroy(t);
}

void topo_locate(const char *ibdev, struct topo_place *place)
{
	const char *xml = hwtree_file();
	char path[PATH_MAX], netdev[NETDEV_SIZE] = "";
	int64_t node = -1;
	char *dir = NULL;

	*place = (struct topo_place){.numa_node = -1};
	if (!find_hardware(ibdev, netdev, path, sizeof(path)))
		dir = path_below_root(path);
	if (dir && !find_located_ancestor(dir, place))
		dir = NULL;
	if (dir) {
		pci_read_link_in(dir, &place->link);
		if (sysfs_read_int(&node, "%s/numa_node", dir) || node < 0 || node > INT_MAX)
			node = sysfs_node_count() == 1 ? 0 : -1;
	}
	if (xml || (node < 0 && place->pci[0] && !sysfs_is_made_up()))
		read_place_from_hwloc(ibdev, netdev, xml, place);
	else
		place->numa_node = (int)node;
}

const char *topo_format_link(const struct topo_place *place, char *buf, size_t size)
{
	const struct pci_link *l = &place->link;

	if (size)
		buf[0] = '\0';
	if (!(l->gts > 0) || !l->width)
		return buf;
	if (pci_link_share(l) < 1)
		snprintf(buf, size, "PCIe %.1f GT/s x%u, trained below its %.1f GT/s x%u", l->gts,
			 l->width, l->max_gts, l->max_width);
	else
		snprintf(buf, size, "PCIe %.1f GT/s x%u", l->gts, l->width);
	return buf;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/topo.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/hwtree.h"
#include "host/pci.h"
#include "host/sysfs.h"

static void set_node(struct topo_place *place, int node, const char *source, ...)
	__attribute__((format(printf, 3, 4)));

static void set_node(struct topo_place *place, int node, const char *source, ...)
{
	va_list ap;

	place->numa_node = node;
	va_start(ap, source);
	vsnprintf(place->numa_source, sizeof(place->numa_source), source, ap);
	va_end(ap);
}

/* The directory of the hardware behind IBDEV, in the tree. Returns 0 or -1 if there is none. */
static int find_device(const char *ibdev, struct topo_place *place, char *path, size_t size)
{
	char netdev[sizeof(place->via)];

	if (!ibdev[0] || strchr(ibdev, '/'))
		return -1;
	if (!sysfs_resolve(path, size, "class/infiniband/%s/device", ibdev))
		return 0;
	if (sysfs_read(netdev, sizeof(netdev), "class/infiniband/%s/parent", ibdev) || !netdev[0] ||
	    strchr(netdev, '/'))
		return -1;
	strcpy(place->via, netdev);
	return sysfs_resolve(path, size, "class/net/%s/device", netdev) ? -1 : 0;
}

/* PATH without the root of the tree in front of it, NULL if it lies outside. */
static char *below_root(char *path)
{
	char root[PATH_MAX];
	size_t len;

	if (sysfs_resolve(root, sizeof(root), "."))
		return NULL;
	len = strcmp(root, "/") ? strlen(root) : 0;
	return strncmp(path, root, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

/*
 * Cut PATH back to the nearest directory, from it upwards, that is a PCI device or knows its node.
 * Returns false if there is none.
 */
static bool walk_up(char *path, struct topo_place *place)
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

static void read_link(const char *path, struct topo_place *place)
{
	struct pci_link link;

	pci_read_link(path, &link);
	place->link_gts = link.gts;
	place->link_max_gts = link.max_gts;
	place->link_width = (int)link.width;
	place->link_max_width = (int)link.max_width;
}

/* The device in hwloc's tree: by its own name, its netdev's, or its PCI address. */
static hwloc_obj_t find_object(hwloc_topology_t t, const char *ibdev,
			       const struct topo_place *place)
{
	hwloc_obj_t obj = NULL;

	while ((obj = hwloc_get_next_osdev(t, obj)) != NULL) {
		hwloc_obj_osdev_type_t type = obj->attr->osdev.type;

		if (!obj->name)
			continue;
		if (type == HWLOC_OBJ_OSDEV_OPENFABRICS && strcmp(obj->name, ibdev) == 0)
			return obj;
		if (type == HWLOC_OBJ_OSDEV_NETWORK && place->via[0] &&
		    strcmp(obj->name, place->via) == 0)
			return obj;
	}
	return place->pci[0] ? hwloc_get_pcidev_by_busidstring(t, place->pci) : NULL;
}

static void take_pci(hwloc_obj_t obj, struct topo_place *place)
{
	const struct hwloc_pcidev_attr_s *pci;

	while (obj && obj->type != HWLOC_OBJ_PCI_DEVICE)
		obj = obj->parent;
	if (!obj)
		return;
	pci = &obj->attr->pcidev;
	snprintf(place->pci, sizeof(place->pci), "%04x:%02x:%02x.%x", pci->domain & 0xffffffu,
		 pci->bus, pci->dev, pci->func & 0xfu);
}

/* The node of the first ancestor that is not I/O, if that has one only. */
static void take_node(hwloc_topology_t t, hwloc_obj_t obj, struct topo_place *place)
{
	hwloc_obj_t home = hwloc_get_non_io_ancestor_obj(t, obj);
	int node = home && home->nodeset ? hwtree_node(t, home) : -1;

	if (node < 0)
		set_node(place, -1, "hwloc: attached to %d nodes alike",
			 home && home->nodeset ? hwloc_bitmap_weight(home->nodeset) : 0);
	else if (hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE) == 1)
		set_node(place, node, "only node");
	else
		set_node(place, node, "hwloc");
}

static void ask_hwloc(const char *ibdev, const char *xml, struct topo_place *place)
{
	const char *whose = xml ? "HWLOC_XMLFILE" : "hwloc";
	hwloc_topology_t t;
	hwloc_obj_t obj;
	int rc = hwtree_load(&t, xml);

	if (rc) {
		set_node(place, -1, "%s: %s", whose, strerror(-rc));
		return;
	}
	obj = find_object(t, ibdev, place);
	if (obj) {
		take_node(t, obj, place);
		if (!place->pci[0])
			take_pci(obj, place);
	} else {
		set_node(place, -1, "%s does not show the device", whose);
	}
	hwloc_topology_destroy(t);
}

/* How many nodes the machine of the tree has; a kernel without NUMA shows none. */
static int count_nodes(void)
{
	struct sysfs_set nodes;
	int count;

	if (sysfs_read_set(&nodes, "devices/system/node/online"))
		return 1;
	count = sysfs_set_count(&nodes);
	return count ? count : 1;
}

void topo_locate(const char *ibdev, struct topo_place *place)
{
	const char *xml = hwtree_file();
	char path[PATH_MAX];
	int64_t node = -1;
	char *dir = NULL;

	memset(place, 0, sizeof(*place));
	set_node(place, -1, "no PCI device");
	if (!find_device(ibdev, place, path, sizeof(path)))
		dir = below_root(path);
	if (dir && !walk_up(dir, place))
		dir = NULL;
	if (dir) {
		read_link(dir, place);
		if (sysfs_read_int(&node, "%s/numa_node", dir) || node < 0 || node > INT_MAX)
			node = -1;
	}
	if (xml)
		ask_hwloc(ibdev, xml, place);
	else if (node >= 0)
		set_node(place, (int)node, "sysfs");
	else if (dir && count_nodes() == 1)
		set_node(place, 0, "only node");
	else if (place->pci[0] && strcmp(sysfs_root(), "/sys") == 0)
		ask_hwloc(ibdev, NULL, place);
	else if (dir)
		set_node(place, -1, "sysfs does not know it");
}

static bool trained_below(const struct topo_place *place)
{
	return place->link_max_gts > 0 && place->link_max_width > 0 &&
	       (place->link_gts < place->link_max_gts || place->link_width < place->link_max_width);
}

const char *topo_format_link(const struct topo_place *place, char *buf, size_t size)
{
	if (size)
		buf[0] = '\0';
	if (!(place->link_gts > 0) || place->link_width <= 0)
		return buf;
	if (trained_below(place))
		snprintf(buf, size, "PCIe %.1f GT/s x%d, trained below its %.1f GT/s x%d",
			 place->link_gts, place->link_width, place->link_max_gts,
			 place->link_max_width);
	else
		snprintf(buf, size, "PCIe %.1f GT/s x%d", place->link_gts, place->link_width);
	return buf;
}

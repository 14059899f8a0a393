// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/topo.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "host/sysfs.h"

#define NETDEV_SIZE 32

/*
 * Store in PATH the sysfs directory of the hardware of IBDEV: of a software device that of its
 * netdev. Returns 0, or -1 if there is none.
 */
static int find_hardware(const char *ibdev, char *path, size_t size)
{
	char netdev[NETDEV_SIZE];

	if (!ibdev[0] || strchr(ibdev, '/'))
		return -1;
	if (!sysfs_resolve(path, size, "class/infiniband/%s/device", ibdev))
		return 0;
	sysfs_read(netdev, sizeof(netdev), "class/infiniband/%s/parent", ibdev);
	if (!netdev[0] || strchr(netdev, '/'))
		return -1;
	return sysfs_resolve(path, size, "class/net/%s/device", netdev) ? -1 : 0;
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

void topo_locate(const char *ibdev, struct topo_place *place)
{
	char path[PATH_MAX], *dir = NULL;

	*place = (struct topo_place){.numa_node = -1};
	if (!find_hardware(ibdev, path, sizeof(path)))
		dir = path_below_root(path);
	if (!dir || !find_located_ancestor(dir, place))
		return;
	pci_read_link_in(dir, &place->link);
	place->numa_node = pci_read_node_in(dir);
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

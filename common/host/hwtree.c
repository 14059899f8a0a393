// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/hwtree.h"

#include <errno.h>
#include <stdlib.h>

const char *hwtree_file(void)
{
	const char *xml = getenv("HWLOC_XMLFILE");

	return xml && xml[0] ? xml : NULL;
}

int hwtree_load(hwloc_topology_t *tree, const char *xml)
{
	int rc;

	*tree = NULL;
	errno = 0;
	if (hwloc_topology_init(tree))
		return -ENOMEM;
	/* Bridges with something behind them are important enough to be kept. */
	rc = hwloc_topology_set_io_types_filter(*tree, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (!rc && xml)
		rc = hwloc_topology_set_xml(*tree, xml);
	if (!rc)
		rc = hwloc_topology_load(*tree);
	if (!rc)
		return 0;
	rc = errno ? -errno : -EINVAL;
	hwloc_topology_destroy(*tree);
	*tree = NULL;
	return rc;
}

int hwtree_node(hwloc_topology_t tree, hwloc_obj_t home)
{
	hwloc_obj_t node = NULL, best = NULL;

	/* A node without CPUs has those of what it is attached to: the smallest is the CPUs' own.
	 */
	while ((node = hwloc_get_next_obj_by_type(tree, HWLOC_OBJ_NUMANODE, node)) != NULL) {
		if (!hwloc_bitmap_isset(home->nodeset, node->os_index))
			continue;
		if (!hwloc_bitmap_isincluded(home->cpuset, node->cpuset))
			return -1;
		if (!best || hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(best->cpuset))
			best = node;
	}
	return best ? (int)best->os_index : -1;
}

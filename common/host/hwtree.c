// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/hwtree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/terminal.h"

const char *hwtree_file(void)
{
	const char *xml = getenv("HWLOC_XMLFILE");

	return xml && xml[0] ? xml : NULL;
}

/*
 * Load PATH. Returns 0 or -errno. hwloc reads XML with libxml2 where that plugin is installed, else
 * with its own parser. For a file that is not XML the two set different errnos, or none, so the
 * file is checked here.
 */
static int load_xml(hwloc_topology_t tree, const char *path)
{
	struct stat st;

	if (stat(path, &st) || access(path, R_OK))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) || hwloc_topology_set_xml(tree, path) || hwloc_topology_load(tree))
		return -EINVAL;
	return 0;
}

static int load_this_machine(hwloc_topology_t tree)
{
	errno = 0;
	if (!hwloc_topology_load(tree))
		return 0;
	return errno ? -errno : -EINVAL;
}

/*
 * Disable hwloc's plugins for PCI and GPUs: hwloc itself reads PCI from sysfs. The plugins add
 * nothing that is used here, start drivers, and leak. Disabling one that is not installed fails,
 * which does no harm.
 */
static void disable_plugins(hwloc_topology_t tree)
{
	static const char *const name[] = {"pci",  "gl",   "opencl",   "cuda",
					   "nvml", "rsmi", "levelzero"};

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		hwloc_topology_set_components(tree, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
					      name[i]);
}

int hwtree_load(hwloc_topology_t *tree, const char *xml)
{
	int rc;

	*tree = NULL;
	if (hwloc_topology_init(tree))
		return -ENOMEM;
	disable_plugins(*tree);
	/* KEEP_IMPORTANT keeps the bridges that have devices below them. */
	if (hwloc_topology_set_io_types_filter(*tree, HWLOC_TYPE_FILTER_KEEP_IMPORTANT))
		rc = -EINVAL;
	else
		rc = xml ? load_xml(*tree, xml) : load_this_machine(*tree);
	if (!rc)
		return 0;
	hwloc_topology_destroy(*tree);
	*tree = NULL;
	return rc;
}

void hwtree_drop_unreadable(void)
{
	const char *xml = hwtree_file();
	hwloc_topology_t tree;
	int rc = xml ? hwtree_load(&tree, xml) : 0;

	if (!rc && xml)
		hwloc_topology_destroy(tree);
	if (!rc)
		return;
	terminal_note(stderr, "HWLOC_XMLFILE=%s is ignored, and this machine's topology used: %s",
		      xml, rc == -EINVAL ? "hwloc cannot read a topology from it" : strerror(-rc));
	unsetenv("HWLOC_XMLFILE");
}

void hwtree_address(const struct hwloc_pcidev_attr_s *pci, char text[16])
{
	snprintf(text, 16, "%04x:%02x:%02x.%x", pci->domain & 0xffffffu, pci->bus, pci->dev,
		 pci->func & 0xfu);
}

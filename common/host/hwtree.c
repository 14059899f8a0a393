// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/hwtree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/terminal.h"

/*
 * What hwloc has for PCI and GPUs, in plugins or built in: hwloc itself reads PCI from sysfs. These
 * add nothing that is used here, start drivers, and leak. Disabling one that is not there fails,
 * which does no harm.
 */
#define COMPONENTS(X)     X(pci) X(gl) X(opencl) X(cuda) X(nvml) X(rsmi) X(levelzero)
#define NAME(component)   #component,
#define PLUGIN(component) "hwloc_" #component ","

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

static void disable_components(hwloc_topology_t tree)
{
	static const char *const name[] = {COMPONENTS(NAME)};

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
	disable_components(*tree);
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

void hwtree_prepare(void)
{
	const char *xml = hwtree_file();
	hwloc_topology_t tree;
	int rc;

	setenv("HWLOC_PLUGINS_BLACKLIST",
	       xml ? COMPONENTS(PLUGIN) : COMPONENTS(PLUGIN) "hwloc_xml_libxml", 0);
	rc = xml ? hwtree_load(&tree, xml) : 0;
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

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/path.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/hwtree.h"
#include "host/sysfs.h"
#include "host/virt.h"

struct path_tree {
	hwloc_topology_t hwloc; /* NULL: none */
	bool has_sysfs;         /* sysfs describes the same machine as the tree */
	bool virtual_machine;
};

/* True if OBJ (may be NULL) is a PCI-PCI bridge: a root port, or a port of a switch. */
static bool is_bridge(hwloc_obj_t obj)
{
	return obj && obj->type == HWLOC_OBJ_BRIDGE &&
	       obj->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
}

/* The PCI attributes of OBJ; NULL if it is no PCI function. */
static const struct hwloc_pcidev_attr_s *pci_attributes(hwloc_obj_t obj)
{
	if (is_bridge(obj))
		return &obj->attr->bridge.upstream.pci;
	return obj && obj->type == HWLOC_OBJ_PCI_DEVICE ? &obj->attr->pcidev : NULL;
}

static int load_path_tree(struct path_tree *t, const char *xml, struct fault *f)
{
	int rc = hwtree_load(&t->hwloc, xml);

	if (!rc)
		return 0;
	if (!xml)
		return fault_raise(f, FAULT_LOCAL, -rc, "hwloc_topology_load");
	fault_raise(f, FAULT_LOCAL, -rc, "reading HWLOC_XMLFILE=%s", xml);
	if (rc == -EINVAL)
		fault_cause(f, "The file is not a topology that hwloc %u.%u can read.",
			    hwloc_get_api_version() >> 16, hwloc_get_api_version() >> 8 & 0xff);
	return fault_fix(f, "create it with `lstopo FILE.xml`, or unset HWLOC_XMLFILE");
}

/* True if the vendor or product name in the XML names a virtual machine. */
static bool is_virtual_by_xml(hwloc_topology_t hwloc)
{
	hwloc_obj_t root = hwloc_get_root_obj(hwloc);

	return virt_is_name(hwloc_obj_get_info_by_name(root, "DMISysVendor"),
			    hwloc_obj_get_info_by_name(root, "DMIProductName"));
}

int path_open(struct path_tree **t, struct fault *f)
{
	bool moved = sysfs_is_made_up(), foreign;
	const char *xml = hwtree_file();
	struct path_tree *made = calloc(1, sizeof(*made));

	*t = made;
	if (!made)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating the PCIe tree");
	if ((xml || !moved) && load_path_tree(made, xml, f))
		return -1;
	/* HWLOC_THISSYSTEM=1 tells that the file describes this machine. */
	foreign = xml && !hwloc_topology_is_thissystem(made->hwloc);
	made->has_sysfs = moved || !foreign;
	made->virtual_machine = (foreign && is_virtual_by_xml(made->hwloc)) ||
				(made->has_sysfs && virt_is_machine());
	return 0;
}

void path_close(struct path_tree *t)
{
	if (t && t->hwloc)
		hwloc_topology_destroy(t->hwloc);
	free(t);
}

static hwloc_obj_t find_pci_device(const struct path_tree *t, const char *pci)
{
	return t->hwloc && pci_is_address(pci) ? hwloc_get_pcidev_by_busidstring(t->hwloc, pci)
					       : NULL;
}

static unsigned bridges_above(hwloc_obj_t obj)
{
	unsigned count = 0;

	for (obj = obj->parent; is_bridge(obj); obj = obj->parent)
		count++;
	return count;
}

/*
 * Read the link above OBJ; L is all 0 if there is none. Below a host bridge, ports that face down
 * (root ports, downstream ports of switches) alternate with functions that face up (upstream ports,
 * devices). A downstream port and the upstream port of its switch have no link between them. So
 * those with an odd number of bridges above them have a link above. For a device elsewhere (a
 * virtual machine's root bus) only its own end is known.
 */
static void read_link_above(const struct path_tree *t, hwloc_obj_t obj, struct pci_link *l)
{
	bool faces_up = bridges_above(obj) % 2 == 1;
	struct pci_link high = {.gts = 0};
	char pci[16];

	memset(l, 0, sizeof(*l));
	if (is_bridge(obj) && !faces_up)
		return;
	hwtree_address(pci_attributes(obj), pci);
	if (t->has_sysfs)
		pci_read_link(pci, l);
	strcpy(l->pci, pci);
	if (t->has_sysfs && faces_up) {
		hwtree_address(pci_attributes(obj->parent), pci);
		pci_read_link(pci, &high);
	}
	if (!(l->gts > 0 && l->width)) {
		l->gts = high.gts;
		l->width = high.width;
	}
	pci_link_limit(l, &high);
}

/*
 * Keep L in P if it is trained below its maximum, and further below it than the link kept so far.
 */
static void keep_worst_trained(struct path *p, const struct pci_link *l)
{
	double share = pci_link_share(l);

	if (share >= 1 || (p->trained_down && share >= pci_link_share(&p->down)))
		return;
	p->trained_down = true;
	p->down = *l;
}

/*
 * Find the slowest and the worst trained of the links from the device PCI, FROM in the tree, up to
 * TOP (NULL: to the host bridge). Of one that is not in the tree, its own end's link in sysfs.
 * Returns the slowest.
 */
static struct pci_link walk_leg(const struct path_tree *t, const char *pci, hwloc_obj_t from,
				hwloc_obj_t top, struct path *p)
{
	struct pci_link slowest = {.gts = 0}, l;

	for (hwloc_obj_t obj = from; obj != top && pci_attributes(obj); obj = obj->parent) {
		read_link_above(t, obj, &l);
		pci_link_slower(&slowest, &l);
		keep_worst_trained(p, &l);
	}
	if (from || !t->has_sysfs)
		return slowest;
	pci_read_link(pci, &l);
	l.max_gts = 0; /* of both ends */
	l.max_width = 0;
	pci_link_slower(&slowest, &l);
	return slowest;
}

/* Read the type of the NIC's IOMMU domain: the NIC sends the PCIe requests, so its domain decides
 * whether they are translated. */
static void read_iommu(const char *nic, struct path *p)
{
	char dir[PATH_MAX];

	pci_read_iommu(nic, p->iommu);
	if (!p->iommu[0] && pci_is_address(nic) &&
	    !sysfs_resolve(dir, sizeof(dir), "bus/pci/devices/%s", nic) &&
	    sysfs_resolve(dir, sizeof(dir), "bus/pci/devices/%s/iommu_group", nic) == -ENOENT)
		strcpy(p->iommu, "off");
	p->iommu_translates = pci_iommu_translates(p->iommu);
}

/* Find the largest PCIe payload: the smaller of the NIC's and the GPU's. One that cannot be read is
 * assumed to be PCI_USUAL_PAYLOAD_BYTES. */
static void read_max_payload(const struct path_tree *t, const char *nic, const char *gpu,
			     struct path *p)
{
	const char *device[2] = {nic, gpu};

	p->payload_bytes = 0;
	for (int i = 0; i < 2; i++) {
		unsigned bytes = t->has_sysfs ? pci_read_sizes(device[i]).payload_bytes : 0;

		p->payload_assumed |= !bytes;
		if (bytes && (!p->payload_bytes || bytes < p->payload_bytes))
			p->payload_bytes = bytes;
	}
	if (p->payload_assumed && (!p->payload_bytes || p->payload_bytes > PCI_USUAL_PAYLOAD_BYTES))
		p->payload_bytes = PCI_USUAL_PAYLOAD_BYTES;
}

/* The payload rate in Gb/s of the slower part; 0 if neither is known. */
static double path_ceiling(const struct path *p, bool read)
{
	double nic = pci_link_gbps(&p->nic, p->payload_bytes, read);
	double gpu = pci_link_gbps(&p->gpu, p->payload_bytes, read);

	return nic > 0 && gpu > 0 ? fmin(nic, gpu) : nic + gpu;
}

static bool is_host_bridge(hwloc_obj_t obj)
{
	return obj->type == HWLOC_OBJ_BRIDGE &&
	       obj->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
}

/*
 * The lowest object that is an ancestor of A and B, or one of them. In hwloc 2.9 to 2.14
 * hwloc_get_common_ancestor_obj() crashes where two PCI devices are nested at different depths.
 */
static hwloc_obj_t common_ancestor(hwloc_obj_t a, hwloc_obj_t b)
{
	for (; a; a = a->parent)
		for (hwloc_obj_t at = b; at; at = at->parent)
			if (at == a)
				return a;
	return NULL;
}

/* Count the PCI-PCI bridges from OBJ up to below TOP: two for each switch, one for the switch of
 * TOP. */
static unsigned bridges_between(hwloc_obj_t obj, hwloc_obj_t top)
{
	unsigned count = 0;

	for (; obj != top; obj = obj->parent)
		count += is_bridge(obj);
	return count;
}

/* True if HOME is the whole machine although it has several nodes: then sysfs's numa_node is -1. */
static bool has_no_node(hwloc_topology_t hwloc, hwloc_obj_t home)
{
	hwloc_obj_t node = NULL;

	if (!hwloc_bitmap_isequal(home->cpuset, hwloc_topology_get_topology_cpuset(hwloc)))
		return false;
	/* A node without CPUs (a GPU's memory, CXL) has the cpuset of its parent. */
	while ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node)) != NULL)
		if (!hwloc_bitmap_isequal(node->cpuset, home->cpuset))
			return true;
	return false;
}

/* The class of the path between two devices whose common ancestor is TOP. */
static enum path_class classify_path(hwloc_topology_t hwloc, hwloc_obj_t nic, hwloc_obj_t gpu,
				     hwloc_obj_t top)
{
	hwloc_obj_t home[2] = {nic, gpu};

	if (nic == gpu)
		return PATH_PIX;
	if (is_bridge(top))
		return bridges_between(nic, top) <= 1 && bridges_between(gpu, top) <= 1 ? PATH_PIX
											: PATH_PXB;
	if (is_host_bridge(top))
		return PATH_PHB;
	for (int i = 0; i < 2; i++) {
		home[i] = hwloc_get_non_io_ancestor_obj(hwloc, home[i]);
		if (!home[i] || has_no_node(hwloc, home[i]))
			return PATH_UNKNOWN;
	}
	/* CPU sets, not node sets: a node with only memory (CXL) may belong to every socket. */
	return hwloc_bitmap_intersects(home[0]->cpuset, home[1]->cpuset) ? PATH_NODE : PATH_SYS;
}

enum path_class path_classify(const struct path_tree *t, const char *nic, const char *gpu)
{
	hwloc_obj_t at_nic = find_pci_device(t, nic), at_gpu = find_pci_device(t, gpu);

	if (!at_nic || !at_gpu)
		return PATH_UNKNOWN;
	return classify_path(t->hwloc, at_nic, at_gpu, common_ancestor(at_nic, at_gpu));
}

void path_find(const struct path_tree *t, const char *nic, const char *gpu, struct path *p)
{
	hwloc_obj_t at_nic = find_pci_device(t, nic), at_gpu = find_pci_device(t, gpu), top = NULL;

	memset(p, 0, sizeof(*p));
	p->virtual_machine = t->virtual_machine;
	read_max_payload(t, nic, gpu, p);
	p->class = path_classify(t, nic, gpu);
	if (at_nic && at_gpu)
		top = common_ancestor(at_nic, at_gpu);
	p->nic = walk_leg(t, nic, at_nic, top, p);
	p->gpu = walk_leg(t, gpu, at_gpu, top, p);
	if (t->has_sysfs)
		read_iommu(nic, p);
	p->ceiling_write_gbps = path_ceiling(p, false);
	p->ceiling_read_gbps = path_ceiling(p, true);
}

static const struct path_row classes[PATH_CLASSES] = {
	[PATH_PIX] = {"PIX", "through one PCIe switch at most"},
	[PATH_PXB] = {"PXB", "through several PCIe switches"},
	[PATH_PHB] = {"PHB", "through a PCIe host bridge"},
	[PATH_NODE] = {"NODE", "between two PCIe host bridges of one NUMA node"},
	[PATH_SYS] = {"SYS", "between two NUMA nodes"},
	[PATH_UNKNOWN] = {"unknown", "unknown"},
};

const struct path_row *path_row(enum path_class c)
{
	return &classes[(unsigned)c < PATH_CLASSES ? c : PATH_UNKNOWN];
}

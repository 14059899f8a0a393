// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/hwtree.h"
#include "host/path_class.h"
#include "host/pci.h"
#include "host/sysfs.h"
#include "host/virt.h"

struct path_tree {
	hwloc_topology_t hwloc; /* NULL: there is none */
	bool foreign;           /* another machine's: hwloc's attributes are all we may know */
	bool has_sysfs;         /* and sysfs is of the machine that the tree describes */
	bool virtual_machine;
};

/* What OBJ is as a PCI function; NULL if it is none. */
static const struct hwloc_pcidev_attr_s *pci_of(hwloc_obj_t obj)
{
	if (path_is_bridge(obj))
		return &obj->attr->bridge.upstream.pci;
	return obj && obj->type == HWLOC_OBJ_PCI_DEVICE ? &obj->attr->pcidev : NULL;
}

static int load(struct path_tree *t, const char *xml, struct fault *f)
{
	int rc = hwtree_load(&t->hwloc, xml);

	if (!rc)
		return 0;
	if (!xml)
		return fault_raise(f, FAULT_LOCAL, -rc, "hwloc_topology_load");
	fault_raise(f, FAULT_LOCAL, -rc, "reading HWLOC_XMLFILE=%s", xml);
	if (rc == -EINVAL)
		fault_cause(f, "It is no topology that hwloc %u.%u can read.",
			    hwloc_get_api_version() >> 16, hwloc_get_api_version() >> 8 & 0xff);
	return fault_fix(f, "write it again with `lstopo FILE.xml`, or unset HWLOC_XMLFILE");
}

/* What the XML says that the firmware of its machine calls itself. */
static bool virtual_in_tree(hwloc_topology_t hwloc)
{
	hwloc_obj_t root = hwloc_get_root_obj(hwloc);

	return virt_named(hwloc_obj_get_info_by_name(root, "DMISysVendor"),
			  hwloc_obj_get_info_by_name(root, "DMIProductName"));
}

int path_open(struct path_tree **t, struct fault *f)
{
	bool moved = strcmp(sysfs_root(), "/sys") != 0;
	const char *xml = hwtree_file();
	struct path_tree *made = calloc(1, sizeof(*made));

	*t = made;
	if (!made)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "PCIe tree");
	if ((xml || !moved) && load(made, xml, f))
		return -1;
	/* HWLOC_THISSYSTEM=1 says that the file is about this machine. */
	made->foreign = xml && !hwloc_topology_is_thissystem(made->hwloc);
	made->has_sysfs = moved || !made->foreign;
	made->virtual_machine = (made->foreign && virtual_in_tree(made->hwloc)) ||
				(made->has_sysfs && virt_in_sysfs()) ||
				(!moved && !made->foreign && virt_processor());
	return 0;
}

void path_close(struct path_tree *t)
{
	if (t && t->hwloc)
		hwloc_topology_destroy(t->hwloc);
	free(t);
}

static hwloc_obj_t find_device(const struct path_tree *t, const char *pci)
{
	return t->hwloc && pci_is_address(pci) ? hwloc_get_pcidev_by_busidstring(t->hwloc, pci)
					       : NULL;
}

/* One end's view of its link; zeros where nothing is known. */
static void read_end(const struct path_tree *t, const char *pci, struct pci_link *end)
{
	char dir[64];

	memset(end, 0, sizeof(*end));
	if (!t->has_sysfs)
		return;
	snprintf(dir, sizeof(dir), "bus/pci/devices/%s", pci);
	pci_read_link(dir, end);
}

static void name_of(hwloc_obj_t obj, char *pci, size_t size)
{
	const struct hwloc_pcidev_attr_s *attr = pci_of(obj);

	snprintf(pci, size, "%04x:%02x:%02x.%x", attr->domain & 0xffffffu, attr->bus, attr->dev,
		 attr->func & 0xfu);
}

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

/* The link between two ends. */
static void join_ends(struct path_link *l, const struct pci_link *low, const struct pci_link *high)
{
	const struct pci_link *now = low->gts > 0 && low->width ? low : high;

	l->gts = now->gts;
	l->width = now->width;
	l->max_gts = lesser(low->max_gts, high->max_gts);
	l->max_width = (unsigned)lesser(low->max_width, high->max_width);
}

static unsigned bridges_above(hwloc_obj_t obj)
{
	unsigned count = 0;

	for (obj = obj->parent; path_is_bridge(obj); obj = obj->parent)
		count++;
	return count;
}

/*
 * The link above OBJ. Below a host bridge, ports that look down (root ports, downstream ports of
 * switches) and functions that look up (upstream ports, devices) take turns; between a downstream
 * port and the upstream port of its switch there is no link. So there is one above those that have
 * an odd number of bridges above them. A device elsewhere (a virtual machine's root bus) has only
 * its own word for its link. Of another machine, hwloc may know what sysfs does not.
 */
static void read_link(const struct path_tree *t, hwloc_obj_t obj, struct path_link *l)
{
	bool looks_up = bridges_above(obj) % 2 == 1;
	struct pci_link low, high = {.gts = 0};
	char above[16];

	memset(l, 0, sizeof(*l));
	if (path_is_bridge(obj) && !looks_up)
		return;
	name_of(obj, l->pci, sizeof(l->pci));
	read_end(t, l->pci, &low);
	if (looks_up) {
		name_of(obj->parent, above, sizeof(above));
		read_end(t, above, &high);
	}
	join_ends(l, &low, &high);
	if (t->foreign && !(l->gts > 0 && l->width))
		path_link_of_speed(l, pci_of(obj)->linkspeed);
}

static void take_down(struct path *p, const struct path_link *l)
{
	double share = path_link_share(l);

	if (share >= 1 || (p->trained_down && share >= path_link_share(&p->down)))
		return;
	p->trained_down = true;
	p->down = *l;
}

/* The links from FROM up to TOP (NULL: to the host bridge): the slowest, and the worst trained. */
static void walk_leg(const struct path_tree *t, hwloc_obj_t from, hwloc_obj_t top,
		     struct path_link *slowest, struct path *p)
{
	for (hwloc_obj_t obj = from; obj != top && pci_of(obj); obj = obj->parent) {
		struct path_link l;

		read_link(t, obj, &l);
		path_link_slower(slowest, &l);
		take_down(p, &l);
	}
}

/* A device that is not in the tree: what sysfs says about its own link. */
static void read_alone(const struct path_tree *t, const char *pci, struct path_link *l)
{
	struct pci_link low, high = {.gts = 0};
	struct path_link found = {.gts = 0};

	if (!pci_is_address(pci) || strlen(pci) >= sizeof(found.pci))
		return;
	strcpy(found.pci, pci);
	read_end(t, pci, &low);
	join_ends(&found, &low, &high);
	path_link_slower(l, &found);
}

/* It is the NIC that sends the requests, so its domain decides whether they are translated. */
static void read_iommu(const char *nic, struct path *p)
{
	char dir[PATH_MAX];

	if (!pci_is_address(nic))
		return;
	if (sysfs_read(p->iommu, sizeof(p->iommu), "bus/pci/devices/%s/iommu_group/type", nic) &&
	    !sysfs_resolve(dir, sizeof(dir), "bus/pci/devices/%s", nic) &&
	    sysfs_resolve(dir, sizeof(dir), "bus/pci/devices/%s/iommu_group", nic) == -ENOENT)
		strcpy(p->iommu, "off");
	p->iommu_translates = strncmp(p->iommu, "DMA", 3) == 0;
}

/* Each packet must fit both of them. */
static void read_payload(const struct path_tree *t, const char *nic, const char *gpu,
			 struct path *p)
{
	const char *device[2] = {nic, gpu};
	char dir[64];

	p->payload_bytes = 0;
	for (int i = 0; i < 2; i++) {
		unsigned bytes = 0;

		if (t->has_sysfs && pci_is_address(device[i])) {
			snprintf(dir, sizeof(dir), "bus/pci/devices/%s", device[i]);
			bytes = pci_read_payload_bytes(dir);
		}
		p->payload_assumed |= !bytes;
		if (bytes && (!p->payload_bytes || bytes < p->payload_bytes))
			p->payload_bytes = bytes;
	}
	if (p->payload_assumed &&
	    (!p->payload_bytes || p->payload_bytes > PATH_USUAL_PAYLOAD_BYTES))
		p->payload_bytes = PATH_USUAL_PAYLOAD_BYTES;
}

/* Of the legs whose link is known. */
static double ceiling(const struct path *p, bool read)
{
	double nic = path_link_gbps(&p->nic, p->payload_bytes, read);
	double gpu = path_link_gbps(&p->gpu, p->payload_bytes, read);

	return nic > 0 && gpu > 0 ? lesser(nic, gpu) : nic + gpu;
}

void path_find(const struct path_tree *t, const char *nic, const char *gpu, struct path *p)
{
	hwloc_obj_t at_nic = find_device(t, nic), at_gpu = find_device(t, gpu), top = NULL;

	memset(p, 0, sizeof(*p));
	p->class = PATH_UNKNOWN;
	p->virtual_machine = t->virtual_machine;
	read_payload(t, nic, gpu, p);
	if (at_nic && at_gpu) {
		top = path_meet(at_nic, at_gpu);
		p->class = path_classify(t->hwloc, at_nic, at_gpu, top);
	}
	walk_leg(t, at_nic, top, &p->nic, p);
	walk_leg(t, at_gpu, top, &p->gpu, p);
	if (!at_nic)
		read_alone(t, nic, &p->nic);
	if (!at_gpu)
		read_alone(t, gpu, &p->gpu);
	if (t->has_sysfs)
		read_iommu(nic, p);
	p->ceiling_write_gbps = ceiling(p, false);
	p->ceiling_read_gbps = ceiling(p, true);
}

struct ranked {
	size_t index;
	enum path_class class;
	double ceiling_gbps;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->ceiling_gbps < y->ceiling_gbps || x->ceiling_gbps > y->ceiling_gbps)
		return x->ceiling_gbps > y->ceiling_gbps ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

void path_rank(const struct path_tree *t, const char *nic, const char *const *gpu, size_t count,
	       size_t *rank)
{
	struct ranked *r = calloc(count, sizeof(*r));

	for (size_t i = 0; i < count; i++) {
		struct path p;

		rank[i] = i;
		if (!r)
			continue;
		path_find(t, nic, gpu[i], &p);
		r[i] = (struct ranked){i, p.class, p.ceiling_write_gbps};
	}
	if (r && count)
		qsort(r, count, sizeof(*r), compare);
	for (size_t i = 0; r && i < count; i++)
		rank[i] = r[i].index;
	free(r);
}

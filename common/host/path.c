// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/path.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/pci.h"
#include "host/sysfs.h"
#include "host/virt.h"

#define STEPS_MAX 16

/* Where a device is: its host bridge, and the PCI functions from there down to the device. */
struct way {
	char root[32]; /* "pci0000:40" */
	char step[STEPS_MAX][16];
	unsigned steps; /* 0: it is not known */
};

/* Find the way to the device PCI, which is the kernel's name for it. */
static void find_way(const char *pci, struct way *w)
{
	char path[PATH_MAX], *rest = path, *name;

	memset(w, 0, sizeof(*w));
	if (!pci_is_address(pci) || sysfs_resolve(path, sizeof(path), "bus/pci/devices/%s", pci))
		return;
	while ((name = strsep(&rest, "/"))) {
		if (!pci_is_address(name)) {
			snprintf(w->root, sizeof(w->root), "%.31s", name);
			w->steps = 0;
		} else if (w->steps < STEPS_MAX && strlen(name) < sizeof(w->step[0])) {
			strcpy(w->step[w->steps++], name);
		} else {
			w->steps = 0;
			return;
		}
	}
	if (strncmp(w->root, "pci", 3) != 0)
		w->steps = 0;
}

/* The number of steps that the ways to two devices have in common; -1: not even the host bridge. */
static int common_steps(const struct way *a, const struct way *b)
{
	unsigned n = 0;

	if (strcmp(a->root, b->root) != 0)
		return -1;
	while (n < a->steps && n < b->steps && strcmp(a->step[n], b->step[n]) == 0)
		n++;
	return (int)n;
}

/*
 * Read the link above step N of W; L is all 0 if there is none. Below a host bridge, ports that
 * face down (root ports, downstream ports of switches) alternate with functions that face up
 * (upstream ports, devices). A downstream port and the upstream port of its switch have no link
 * between them. So those with an odd number of ports above them have a link above. For a device
 * elsewhere (a virtual machine's root bus) only its own end is known.
 */
static void read_link_above(const struct way *w, unsigned n, struct pci_link *l)
{
	bool faces_up = n % 2 == 1;
	struct pci_link high = {.gts = 0};

	*l = high;
	if (n + 1 < w->steps && !faces_up)
		return;
	pci_read_link(w->step[n], l);
	if (faces_up)
		pci_read_link(w->step[n - 1], &high);
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
 * Find the slowest and the worst trained of the links from the device of W up to below its step TOP
 * (-1 and 0: to the host bridge). Returns the slowest.
 */
static struct pci_link walk_leg(const struct way *w, int top, struct path *p)
{
	struct pci_link slowest = {.gts = 0}, l;

	for (int n = (int)w->steps - 1; n >= 0 && n >= top; n--) {
		read_link_above(w, (unsigned)n, &l);
		pci_link_slower(&slowest, &l);
		keep_worst_trained(p, &l);
	}
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
static void read_max_payload(const char *nic, const char *gpu, struct path *p)
{
	const char *device[2] = {nic, gpu};

	p->payload_bytes = 0;
	for (int i = 0; i < 2; i++) {
		unsigned bytes = pci_read_payload_bytes(device[i]);

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

/* The NUMA node of the device that W leads to; -1: unknown. */
static int read_node(const struct way *w)
{
	char dir[48];

	snprintf(dir, sizeof(dir), "bus/pci/devices/%s", w->step[w->steps - 1]);
	return pci_read_node_in(dir);
}

/* The class of the path between two devices. */
static enum path_class classify_path(const struct way *nic, const struct way *gpu)
{
	int common = common_steps(nic, gpu), nic_node, gpu_node;

	if (!nic->steps || !gpu->steps)
		return PATH_UNKNOWN;
	/* below the port where they meet: of each switch two ports, of that port's own switch one
	 */
	if (common > 0)
		return (int)nic->steps <= common + 2 && (int)gpu->steps <= common + 2 ? PATH_PIX
										      : PATH_PXB;
	if (common == 0)
		return PATH_PHB;
	nic_node = read_node(nic);
	gpu_node = read_node(gpu);
	if (nic_node < 0 || gpu_node < 0)
		return PATH_UNKNOWN;
	return nic_node == gpu_node ? PATH_NODE : PATH_SYS;
}

enum path_class path_classify(const char *nic, const char *gpu)
{
	struct way to_nic, to_gpu;

	find_way(nic, &to_nic);
	find_way(gpu, &to_gpu);
	return classify_path(&to_nic, &to_gpu);
}

void path_find(const char *nic, const char *gpu, struct path *p)
{
	struct way to_nic, to_gpu;
	int top;

	find_way(nic, &to_nic);
	find_way(gpu, &to_gpu);
	top = common_steps(&to_nic, &to_gpu);
	memset(p, 0, sizeof(*p));
	p->virtual_machine = virt_is_machine();
	p->class = classify_path(&to_nic, &to_gpu);
	read_max_payload(nic, gpu, p);
	p->nic = walk_leg(&to_nic, top, p);
	p->gpu = walk_leg(&to_gpu, top, p);
	read_iommu(nic, p);
	p->ceiling_write_gbps = path_ceiling(p, false);
	p->ceiling_read_gbps = path_ceiling(p, true);
}

/* A GPU with what path_sort() orders by. */
struct gpu_rank {
	struct gpu_info gpu;
	enum path_class class;
	double ceiling_gbps;
};

static int compare_gpu_ranks(const void *a, const void *b)
{
	const struct gpu_rank *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->ceiling_gbps < y->ceiling_gbps || x->ceiling_gbps > y->ceiling_gbps)
		return x->ceiling_gbps > y->ceiling_gbps ? -1 : 1;
	return x->gpu.index < y->gpu.index ? -1 : 1;
}

int path_sort(const char *nic, struct gpu_info *list, size_t count, struct fault *f)
{
	struct gpu_rank *r = calloc(count + 1, sizeof(*r));

	if (!r)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "sorting %zu GPUs", count);
	for (size_t i = 0; i < count; i++) {
		struct path p;

		path_find(nic, list[i].pci, &p);
		r[i] = (struct gpu_rank){list[i], p.class, p.ceiling_write_gbps};
	}
	qsort(r, count, sizeof(*r), compare_gpu_ranks);
	for (size_t i = 0; i < count; i++)
		list[i] = r[i].gpu;
	free(r);
	return 0;
}

static const struct {
	const char *name, *words;
} classes[PATH_CLASSES] = {
	[PATH_PIX] = {"PIX", "through one PCIe switch at most"},
	[PATH_PXB] = {"PXB", "through several PCIe switches"},
	[PATH_PHB] = {"PHB", "through a PCIe host bridge"},
	[PATH_NODE] = {"NODE", "between two PCIe host bridges of one NUMA node"},
	[PATH_SYS] = {"SYS", "between two NUMA nodes"},
	[PATH_UNKNOWN] = {"unknown", "unknown"},
};

const char *path_class_name(enum path_class c)
{
	return classes[(unsigned)c < PATH_CLASSES ? c : PATH_UNKNOWN].name;
}

const char *path_class_words(enum path_class c)
{
	return classes[(unsigned)c < PATH_CLASSES ? c : PATH_UNKNOWN].words;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/facts.h"

#include <errno.h>
#include <linux/capability.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/text.h"
#include "host/devnode.h"
#include "host/sysfs.h"
#include "host/virt.h"
#include "verbs/hca.h"

/*
 * True if this process has CAP_IPC_LOCK. capget(2) has no wrapper in libc; /proc has the same
 * information.
 */
static bool may_lock_memory(void)
{
	uint64_t effective = 0;

	sysfs_proc_number(&effective, "/proc/self/status", "CapEff", 16);
	return effective >> CAP_IPC_LOCK & 1;
}

void host_facts_read(struct host_facts *h)
{
	struct rlimit limit;
	struct devnode cm;

	memset(h, 0, sizeof(*h));
	h->virtual_machine = virt_is_machine();
	h->nodes = sysfs_node_count();
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
		h->memlock_limited = !may_lock_memory();
		h->memlock_bytes = limit.rlim_cur;
	}
	cgroup_find("cpu.max", &h->cpu_limit);
	h->stops = cgroup_stops(NULL);
	devnode_read(&cm, "infiniband/rdma_cm");
	h->cm_errnum = cm.errnum;
}

static void read_aer(struct aer *a, const char *pci)
{
	snprintf(a->pci, sizeof(a->pci), "%s", pci);
	a->known = !pci_read_errors(pci, "aer_dev_correctable", &a->correctable) &&
		   !pci_read_errors(pci, "aer_dev_nonfatal", &a->nonfatal) &&
		   !pci_read_errors(pci, "aer_dev_fatal", &a->fatal);
}

/* Its link, with what both ends can do: both must say so. */
static void read_pci(struct port_facts *x, const char *pci)
{
	struct pci_link above;
	char upstream[16];

	pci_find_upstream(pci, upstream);
	read_aer(&x->own, pci);
	read_aer(&x->upstream, upstream);
	pci_read_link(pci, &x->link);
	pci_read_link(upstream, &above);
	pci_link_limit(&x->link, &above);
	pci_read_iommu(pci, x->iommu);
}

static void read_governors(struct port_facts *x, int node)
{
	struct sysfs_set cpus;
	char governor[sizeof(x->governor)];

	if (node < 0 || sysfs_read_set(&cpus, "devices/system/node/node%d/cpulist", node))
		return;
	for (unsigned i = 0; i < SYSFS_SET_MAX; i++) {
		if (!sysfs_set_has(&cpus, (int)i))
			continue;
		x->cpus++;
		if (sysfs_read(governor, sizeof(governor),
			       "devices/system/cpu/cpu%u/cpufreq/scaling_governor", i) ||
		    strcmp(governor, "performance") == 0)
			continue;
		x->slow_cpus++;
		strcpy(x->governor, governor);
	}
}

/* Read the number in FILE of X's port. Returns 0 or -errno. */
static int read_port(const struct port_facts *x, const char *file, int64_t *value)
{
	return sysfs_read_int(value, "class/infiniband/%s/ports/%u/%s", x->port->device,
			      x->port->port, file);
}

static void read_counters(struct port_facts *x)
{
	const struct pma_counter *pma;

	for (size_t i = 0; (pma = pma_counter(i)) && x->counters < FACTS_COUNTERS; i++) {
		struct counter *k = &x->counter[x->counters];

		if (pma->role == PMA_OTHER || read_port(x, pma->name, &k->before))
			continue;
		snprintf(k->name, sizeof(k->name), "%s", pma->name);
		k->after = k->before;
		x->counters++;
	}
	x->age.read_ns = clock_now_ns();
}

/* Are A and B behind one PCIe link, as ports or functions of one card? */
static bool is_one_slot(const struct hca_port *a, const struct hca_port *b)
{
	size_t card = strcspn(a->place.pci, ".");

	return card && strncmp(a->place.pci, b->place.pci, card + 1) == 0;
}

/* Is B the same function under another name, a subfunction of it, or the reverse? */
static bool is_one_function(const struct hca_port *a, const struct hca_port *b)
{
	return strcmp(a->place.pci, b->place.pci) == 0 && strcmp(a->device, b->device) != 0;
}

/* Has P a share in X's card? A virtual function, which adds nothing of its own, shows no link. */
static bool is_counted(const struct port_facts *x, const struct hca_port *p)
{
	return p == x->port ||
	       (p->port_attr.state == IBV_PORT_ACTIVE && p->place.link.gts > 0 &&
		p->place.link.width && !is_one_function(x->port, p));
}

/* Which ports of LIST share X's PCIe link, and what do all the links of its card carry? */
static void read_card(struct port_facts *x, const struct hca_list *list)
{
	const struct hca_port *own = x->port, *end = list->port + list->count;
	unsigned ports = 0, links = 0;

	for (const struct hca_port *p = list->port; p < end; p++) {
		bool shares = is_one_slot(own, p), adds = own->attr.sys_image_guid;

		if (!is_counted(x, p))
			continue;
		adds &= own->attr.sys_image_guid == p->attr.sys_image_guid;
		for (const struct hca_port *q = list->port; q < p; q++) {
			shares &= !is_counted(x, q) || !is_one_function(q, p);
			adds &= !is_counted(x, q) || !is_one_slot(q, p);
		}
		if (shares) {
			x->sharing_gbps += hca_rate_gbps(p);
			text_add(x->sharing, sizeof(x->sharing), "%s%s:%u", ports++ ? "+" : "",
				 p->device, p->port);
		}
		if (adds) {
			x->beside_gbps += pci_link_gbps(&p->place.link, PCI_USUAL_PAYLOAD_BYTES,
							false);
			text_add(x->beside, sizeof(x->beside), "%s%s", links++ ? ", " : "",
				 p->device);
		}
	}
	if (ports < 2)
		x->sharing[0] = '\0';
	if (links < 2)
		x->beside[0] = '\0';
}

/*
 * Is X's port one that nobody has plugged in? Its link never went down, nothing was received since
 * the counters began, and another port of LIST on its card is in use.
 */
static bool is_unplugged(const struct port_facts *x, const struct hca_list *list)
{
	int64_t downed, received;

	if (x->port->port_attr.state != IBV_PORT_DOWN ||
	    read_port(x, "counters/link_downed", &downed) ||
	    read_port(x, "counters/port_rcv_data", &received) || downed || received)
		return false;
	for (size_t i = 0; i < list->count; i++)
		if (list->port[i].port_attr.state == IBV_PORT_ACTIVE &&
		    is_one_slot(x->port, &list->port[i]))
			return true;
	return false;
}

void port_facts_read(struct port_facts *x, const struct hca_port *port, const struct hca_list *list,
		     const struct host_facts *h)
{
	int64_t key;

	memset(x, 0, sizeof(*x));
	x->port = port;
	x->host = h;
	x->unplugged = is_unplugged(x, list);
	x->no_pkey = port->port_attr.link_layer == IBV_LINK_LAYER_INFINIBAND &&
		     !read_port(x, "pkeys/0", &key) && !key;
	read_pci(x, port->place.pci);
	if (port->netdev[0])
		sysfs_read_int(&x->netdev_mtu, "class/net/%s/mtu", port->netdev);
	read_governors(x, port->place.numa_node);
	for (size_t i = 0; i < list->count; i++) {
		const struct hca_port *p = &list->port[i];

		if (hca_are_alike(p, port) && p->port_attr.state == IBV_PORT_ACTIVE)
			x->sibling_gbps = fmax(x->sibling_gbps, hca_rate_gbps(p));
		x->others |= hca_is_usable(p) && (port->open_errno == EPERM ||
						  port->open_errno == EACCES ||
						  port->open_errno == ENOENT);
	}
	read_card(x, list);
	read_counters(x);
}

void port_facts_read_again(struct port_facts *x, uint64_t least_ns)
{
	x->age.lifespan_ns = least_ns;
	if (x->counters)
		counters_refresh(&x->age);
	for (unsigned i = 0; i < x->counters; i++) {
		struct counter *k = &x->counter[i];

		k->unreadable = read_port(x, k->name, &k->after) != 0;
	}
}

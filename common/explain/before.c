// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/before.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "finding/thresholds.h"
#include "host/pci.h"
#include "verbs/hca.h"
#include "verbs/reach.h"

#define IOMMU_MATTERS_GBPS 99                   /* below it the IOTLB keeps up */
#define MEMLOCK_FAULT      (UINT64_C(16) << 20) /* less: a few QPs and buffers do not fit */

void explain_host(const struct host_facts *h, struct findings *to)
{
	if (h->memlock_limited)
		FINDING_OF_HOST(to, FINDING_MEMLOCK,
				h->memlock_bytes < MEMLOCK_FAULT ? FINDING_FAULT : FINDING_WARN,
				FINDING_NUMBER("RLIMIT_MEMLOCK", (double)h->memlock_bytes, "B"));
	if (h->cpu_limit.text[0])
		FINDING_OF_HOST(to, FINDING_CPU_LIMIT,
				h->stops.count > 0 ? FINDING_WARN : FINDING_NOTE,
				FINDING_WORD("limit", h->cpu_limit.text),
				FINDING_NUMBER("count", h->stops.count ? h->stops.count : NAN, ""),
				FINDING_NUMBER("seconds", h->stops.seconds, "s"));
	if (h->cm_errnum)
		FINDING_OF_HOST(to, FINDING_NO_RDMA_CM, FINDING_NOTE,
				FINDING_WORD("why", strerror(h->cm_errnum)),
				FINDING_WORD("fix", h->cm_errnum == ENOENT ? "modprobe rdma_ucm"
									   : "allow this user to "
									     "open the node"));
	if (h->virtual_machine)
		FINDING_OF_HOST(to, FINDING_VIRTUAL_MACHINE, FINDING_NOTE);
}

/* A finding with the cause and fix of the fault WHY, and TEXT; NULL: its text, too. */
static void add_fault(struct findings *to, enum finding_code code, const struct fault *why,
		      const char *text)
{
	char own[sizeof(why->call) + sizeof(why->text) + 2];

	snprintf(own, sizeof(own), "%s%s%s", why->call, why->text[0] ? ": " : "", why->text);
	text = text ? text : own;
	FINDING_OF_HOST(to, code, FINDING_FAULT, FINDING_WORD("text", text),
			FINDING_WORD("cause", why->cause), FINDING_WORD("fix", why->fix));
}

/* What else is true of the link of a port that is not ACTIVE does not matter. */
static bool is_active(const struct port_facts *x)
{
	return x->port->port_attr.state == IBV_PORT_ACTIVE;
}

static void check_state(const struct port_facts *x, struct findings *to)
{
	struct fault why = {0};
	char text[40];

	if (!is_active(x) && x->unplugged && !x->named) {
		FINDING_OF_HOST(to, FINDING_PORT_UNPLUGGED, FINDING_NOTE);
	} else if (hca_check_usable(x->port, &why)) {
		snprintf(text, sizeof(text), "the port is %s", hca_state_name(x->port));
		if (is_active(x))
			add_fault(to, FINDING_NO_GID, &why, NULL);
		else
			add_fault(to, FINDING_PORT_NOT_ACTIVE, &why, text);
	} else if (x->no_pkey) {
		finding_add(to, &(struct finding_facts){.code = FINDING_NO_PKEY,
							.level = FINDING_FAULT});
	}
}

/* EFA's link layer is neither InfiniBand nor Ethernet: it has no subnet. */
static bool has_subnet(const struct port_facts *x)
{
	return x->port->port_attr.link_layer == IBV_LINK_LAYER_INFINIBAND;
}

/*
 * A warning, not a note: the tests run without, and whatever connects by rdma_cm does not. Refuted
 * by a link layer without subnets.
 */
static void check_subnet_manager(const struct port_facts *x, struct findings *to)
{
	if (is_active(x) && has_subnet(x) && !x->port->port_attr.sm_lid)
		FINDING_OF_HOST(to, FINDING_NO_SUBNET_MANAGER, FINDING_WARN);
}

static void check_guid(const struct port_facts *x, struct findings *to)
{
	const char *which = hca_zero_guid(x->port);

	if (is_active(x) && which)
		FINDING_OF_HOST(to, FINDING_NO_GUID, FINDING_WARN, FINDING_WORD("which", which));
}

static void check_rate(const struct port_facts *x, struct findings *to)
{
	double gbps = hca_rate_gbps(x->port);

	if (!is_active(x) || !(gbps > 0) || gbps >= x->sibling_gbps * 0.99)
		return;
	FINDING_OF_HOST(to, FINDING_LINK_BELOW_SIBLINGS, FINDING_WARN,
			FINDING_NUMBER("rate", gbps, "Gb/s"),
			FINDING_NUMBER("fastest of this kind", x->sibling_gbps, "Gb/s"));
}

static void check_training(const struct port_facts *x, struct findings *to)
{
	struct pci_link can = x->link;
	char now[64], best[64];

	if (x->host->virtual_machine || pci_link_share(&x->link) > 0.99)
		return;
	can.gts = x->link.max_gts;
	can.width = x->link.max_width;
	pci_link_format(&x->link, now, sizeof(now));
	pci_link_format(&can, best, sizeof(best));
	FINDING_OF_HOST(to, FINDING_PCIE_TRAINED_BELOW, FINDING_FAULT,
			FINDING_NUMBER("current speed", x->link.gts, "GT/s"),
			FINDING_NUMBER("current width", x->link.width, "lanes"),
			FINDING_NUMBER("speed of both ends", can.gts, "GT/s"),
			FINDING_NUMBER("width of both ends", can.width, "lanes"),
			FINDING_WORD("now", now), FINDING_WORD("best", best));
}

static void check_slot(const struct port_facts *x, struct findings *to)
{
	double carries = PCIE_SHARE * pci_link_gbps(&x->link, PCI_USUAL_PAYLOAD_BYTES, false);
	const struct pci_link *can = &x->port->place.link; /* the adapter, in whatever slot */
	const char *beside = x->beside[0] ? x->beside : NULL;
	double gbps = hca_rate_gbps(x->port);
	bool better = can->max_gts > x->link.gts || can->max_width > x->link.width;
	char now[64];

	if (x->host->virtual_machine || !(carries > 0) || !(gbps > 0))
		return;
	pci_link_format(&x->link, now, sizeof(now));
	better &= !beside && !x->sharing[0] && pci_link_share(&x->link) > 0.99;
	if (carries < gbps)
		FINDING_OF_HOST(to, FINDING_PCIE_BELOW_LINK, FINDING_WARN,
				FINDING_NUMBER("PCIe payload", carries, "Gb/s"),
				FINDING_NUMBER("rate", gbps, "Gb/s"),
				FINDING_NUMBER("payload of all links",
					       beside ? PCIE_SHARE * x->beside_gbps : NAN, "Gb/s"),
				FINDING_WORD("now", now), FINDING_WORD("card", beside),
				FINDING_WORD("better", better ? "" : NULL));
	if (is_active(x) && x->sharing[0] && carries < x->sharing_gbps)
		FINDING_OF_HOST(to, FINDING_PCIE_SHARED, FINDING_NOTE,
				FINDING_NUMBER("PCIe payload", carries, "Gb/s"),
				FINDING_NUMBER("rates", x->sharing_gbps, "Gb/s"),
				FINDING_WORD("now", now), FINDING_WORD("sharing", x->sharing));
}

static void check_mtu(const struct port_facts *x, struct findings *to)
{
	unsigned active = hca_mtu_bytes(x->port->port_attr.active_mtu);
	unsigned max = hca_mtu_bytes(x->port->port_attr.max_mtu);
	bool roce = x->port->fabric == FABRIC_ROCE, netdev = roce && x->netdev_mtu;

	if (!is_active(x) || x->port->fabric == FABRIC_IWARP || !active || active >= max)
		return;
	FINDING_OF_HOST(to, FINDING_MTU_BELOW_MAXIMUM, roce ? FINDING_NOTE : FINDING_WARN,
			FINDING_NUMBER("active MTU", active, "B"),
			FINDING_NUMBER("maximum MTU", max, "B"),
			FINDING_NUMBER("netdev MTU", netdev ? (double)x->netdev_mtu : NAN, "B"),
			FINDING_NUMBER("larger", netdev ? max == 4096 ? 4200 : max + 104 : NAN, ""),
			FINDING_WORD("netdev", x->port->netdev),
			FINDING_WORD(has_subnet(x) ? "subnet" : "ethernet", ""));
}

static void check_node(const struct port_facts *x, struct findings *to)
{
	if (!x->host->virtual_machine && x->host->nodes >= 2 && x->port->place.numa_node < 0 &&
	    x->link.pci[0])
		FINDING_OF_HOST(to, FINDING_NUMA_UNKNOWN, FINDING_NOTE,
				FINDING_NUMBER("nodes", x->host->nodes, ""),
				FINDING_WORD("device", x->port->device));
}

static void check_iommu(const struct port_facts *x, struct findings *to)
{
	if (pci_iommu_translates(x->iommu) && hca_rate_gbps(x->port) >= IOMMU_MATTERS_GBPS)
		FINDING_OF_HOST(to, FINDING_IOMMU_TRANSLATES, FINDING_WARN,
				FINDING_WORD("type", x->iommu));
}

static void check_aer(const struct port_facts *x, struct findings *to)
{
	const struct aer *const ends[] = {&x->own, &x->upstream};

	for (int i = 0; i < 2; i++) {
		const struct aer *a = ends[i];
		bool bad = a->nonfatal > 0 || a->fatal > 0;

		if (!a->known || (!bad && !a->correctable))
			continue;
		FINDING_OF_HOST(
			to, FINDING_PCIE_ERRORS, bad ? FINDING_WARN : FINDING_NOTE,
			FINDING_NUMBER("correctable", (double)a->correctable, ""),
			FINDING_NUMBER("nonfatal", (double)a->nonfatal, ""),
			FINDING_NUMBER("fatal", (double)a->fatal, ""), FINDING_WORD("pci", a->pci),
			FINDING_WORD("which", i ? "the port above the adapter" : "the adapter"));
	}
}

enum counted {
	GROWS,     /* now */
	SATURATED, /* at its top: whether it grows cannot be seen */
	HISTORY,
	NOTHING
};

/* What K says; COUNT becomes how much it grew, or what it is. */
static enum counted kind_of(const struct counter *k, int64_t *count)
{
	enum port_known known = counter_change(k, count);

	if (known <= PORT_AT_LEAST && *count > 0)
		return GROWS;
	*count = k->before;
	return known == PORT_SATURATED ? SATURATED : k->before > 0 ? HISTORY : NOTHING;
}

/* The error counters of this KIND, as the finding F, or as BAD if the link is broken, or was lost. */
static void add_counters(const struct port_facts *x, enum counted kind, struct finding_facts f,
			 enum finding_level bad, struct findings *to)
{
	char counters[512] = "";
	bool lost = false;
	unsigned n = 0;
	int64_t count;

	for (unsigned i = 0; i < x->counters; i++) {
		const char *name = x->counter[i].name;
		const struct pma_counter *pma = pma_find(name);
		enum pma_role role = pma ? pma->role : PMA_OTHER;

		if (kind_of(&x->counter[i], &count) != kind)
			continue;
		text_add(counters, sizeof(counters), "%s%s %jd", n ? ", " : "", name,
			 (intmax_t)count);
		f.value[n++] = (struct finding_value)FINDING_NUMBER(name, (double)count, "");
		lost |= kind == GROWS ? role >= PMA_BROKEN_LINK : role == PMA_LOST_LINKS;
	}
	if (!n)
		return;
	f.level = lost ? bad : f.level;
	f.value[n++] = (struct finding_value)FINDING_WORD("counters", counters);
	f.value[n] = (struct finding_value)FINDING_WORD(lost ? "lost" : "kept", "");
	finding_add(to, &f);
}

static void check_counters(const struct port_facts *x, struct findings *to)
{
	add_counters(x, GROWS, (struct finding_facts){FINDING_ERRORS_GROW, FINDING_WARN},
		     FINDING_FAULT, to);
	add_counters(x, SATURATED, (struct finding_facts){FINDING_COUNTER_SATURATED, FINDING_NOTE},
		     FINDING_WARN, to);
	add_counters(x, HISTORY, (struct finding_facts){FINDING_ERRORS_BEFORE, FINDING_NOTE},
		     FINDING_NOTE, to);
}

static void check_governor(const struct port_facts *x, struct findings *to)
{
	if (x->slow_cpus)
		FINDING_OF_HOST(to, FINDING_GOVERNOR, FINDING_NOTE,
				FINDING_NUMBER("slow", x->slow_cpus, ""),
				FINDING_NUMBER("cpus", x->cpus, ""),
				FINDING_WORD("governor", x->governor));
}

void explain_port(const struct port_facts *x, struct findings *to)
{
	static void (*const checks[])(const struct port_facts *x, struct findings *to) = {
		check_state, check_subnet_manager, check_guid,     check_rate,  check_training,
		check_slot,  check_mtu,            check_node,  check_iommu,
		check_aer,   check_counters,       check_governor,
	};
	struct fault why = {0};

	if (x->port->open_errno) {
		reach_refused(x->port->device, x->port->open_errno, &why);
		if (x->others && !x->named)
			FINDING_OF_HOST(to, FINDING_NOT_GIVEN, FINDING_NOTE,
					FINDING_WORD("text", why.text));
		else
			add_fault(to, FINDING_CANNOT_OPEN, &why, NULL);
		return;
	}
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](x, to);
}

static void check_distance(const struct gpus *g, const struct hca_list *list, struct findings *to)
{
	unsigned far = 0, farthest = 0;
	enum path_class worst = PATH_PXB;
	char which[48] = "all GPUs";
	bool usable[GPUS_PORTS];
	int port;

	for (size_t i = 0; i < list->count && i < GPUS_PORTS; i++) {
		const struct hca_port *p = &list->port[i];

		usable[i] = !p->open_errno && p->port_attr.state == IBV_PORT_ACTIVE &&
			    !hca_is_soft_roce(p);
	}
	for (unsigned i = 0; i < g->nvidia.gpus; i++) {
		port = gpus_nearest(g, i, usable, list->count);
		if (port < 0 || g->class[i][port] <= PATH_PXB)
			continue;
		far++;
		if (g->class[i][port] <= worst)
			continue;
		farthest = i;
		worst = g->class[i][port];
	}
	if (!far || g->coherent)
		return;
	if (g->nvidia.gpus == 1)
		strcpy(which, "the GPU");
	port = gpus_nearest(g, farthest, usable, list->count);
	if (far < g->nvidia.gpus)
		snprintf(which, sizeof(which), "%u of the %u GPUs", far, g->nvidia.gpus);
	text_add(which, sizeof(which), far == 1 ? " is" : " are");
	FINDING_OF_HOST(to, FINDING_GPU_FAR, FINDING_NOTE, FINDING_WORD("which", which),
			FINDING_WORD("gpu", g->nvidia.gpu[farthest]),
			FINDING_WORD("port", list->port[port].device),
			FINDING_WORD("how", path_row(worst)->words),
			FINDING_WORD("class", path_row(worst)->name));
}

void explain_gpus(const struct gpus *g, const struct hca_list *list, struct findings *to)
{
	if (g->nvidia.gpus && g->nvidia.closed && !g->nvidia.peermem)
		FINDING_OF_HOST(to, FINDING_NO_GPU_ROUTE, FINDING_NOTE);
	check_distance(g, list, to);
}

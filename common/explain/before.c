// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/before.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "host/pci.h"
#include "verbs/reach.h"

#define PCIE_SHARE         0.96 /* of a link's payload rate that adapters reach (gdr_bw(1)) */
#define IOMMU_MATTERS_GBPS 99   /* below it the IOTLB keeps up */
#define MEMLOCK_FAULT      (UINT64_C(16) << 20) /* less: a few QPs and buffers do not fit */
#define ROCE_HEADER_BYTES  60 /* of the netdev's MTU: IP 20, UDP 8, BTH 12, RETH 16, ICRC 4 */

void explain_host(const struct host_facts *h, struct findings *to)
{
	struct finding *f;

	if (h->memlock_limited) {
		f = finding_add(to, "memlock",
				h->memlock_bytes < MEMLOCK_FAULT ? FINDING_FAULT : FINDING_WARN,
				"RLIMIT_MEMLOCK is %s", units_size(h->memlock_bytes).text);
		finding_cause(f, "Registered memory, QPs and CQs count against it");
		finding_next(f, "ulimit -l unlimited, memlock in limits.conf, or "
				"LimitMEMLOCK=infinity of the unit");
		finding_evidence(f, "RLIMIT_MEMLOCK", (double)h->memlock_bytes, "B");
	}
	if (h->cm_errnum) {
		f = finding_add(to, "no_rdma_cm", FINDING_NOTE,
				"/dev/infiniband/rdma_cm cannot be opened: %s",
				strerror(h->cm_errnum));
		finding_cause(f, "-R and iWARP need it");
		finding_next(f, h->cm_errnum == ENOENT ? "modprobe rdma_ucm"
						       : "allow this user to open the node");
	}
	if (h->virtual_machine)
		finding_add(to, "virtual_machine", FINDING_NOTE,
			    "this is a virtual machine: PCIe links and NUMA nodes are the "
			    "hypervisor's, so they are not judged");
}

/* True if the distance of a usable port from GPU is not known: that port may be near. */
static bool may_be_near(const struct gpus *g, unsigned gpu, const bool *usable,
			const struct hca_list *list)
{
	for (size_t i = 0; i < list->count && i < GPUS_PORTS; i++)
		if (usable[i] && g->class[gpu][i] == PATH_UNKNOWN)
			return true;
	return list->count > GPUS_PORTS;
}

static void check_distance(const struct gpus *g, const struct hca_list *list, struct findings *to)
{
	unsigned far = 0, farthest = 0;
	enum path_class worst = PATH_PXB;
	char which[48] = "all GPUs";
	bool usable[GPUS_PORTS];
	struct finding *f;
	int port;

	for (size_t i = 0; i < list->count && i < GPUS_PORTS; i++) {
		const struct hca_port *p = &list->port[i];

		usable[i] = !p->open_errno && p->port_attr.state == IBV_PORT_ACTIVE &&
			    !hca_is_soft_roce(p);
	}
	for (unsigned i = 0; i < g->nvidia.gpus; i++) {
		port = gpus_nearest(g, i, usable, list->count);
		if (port < 0 || g->class[i][port] <= PATH_PXB || may_be_near(g, i, usable, list))
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
	f = finding_add(to, "gpu_far", FINDING_NOTE,
			"%s %s farther than PXB from every active port: %s and %s are connected %s "
			"(%s)",
			which, far == 1 ? "is" : "are", g->nvidia.gpu[farthest],
			list->port[port].device, path_class_words(worst), path_class_name(worst));
	finding_cause(f, "RDMA between them passes the processor, which may be slower");
	finding_next(f, "measure it with gdr_bw");
}

void explain_gpus(const struct gpus *g, const struct hca_list *list, struct findings *to)
{
	struct finding *f;

	if (g->nvidia.gpus && g->nvidia.closed && !g->nvidia.peermem) {
		f = finding_add(to, "no_gpu_route", FINDING_NOTE,
				"nvidia_peermem is not loaded, and NVIDIA's closed kernel module "
				"exports no dma-bufs");
		finding_cause(f, "RDMA with GPU memory needs one of them");
		finding_next(f, "install the driver's open kernel modules (nvidia-open), or "
				"MLNX_OFED or DOCA-OFED and modprobe nvidia_peermem");
	}
	check_distance(g, list, to);
}

/* A finding with the text, cause and fix of the fault WHY. */
static void add_fault(struct findings *to, const char *code, const struct fault *why)
{
	struct finding *f = finding_add(to, code, FINDING_FAULT, "%s%s%s", why->call,
					why->text[0] ? ": " : "", why->text);

	finding_cause(f, "%s", why->cause);
	finding_next(f, "%s", why->fix);
}

/* What else is true of the link of a port that is not ACTIVE does not matter. */
static bool is_active(const struct port_facts *x)
{
	return x->port->port_attr.state == IBV_PORT_ACTIVE;
}

static void check_state(const struct port_facts *x, struct findings *to)
{
	struct fault why = {0};

	if (is_active(x))
		return;
	hca_raise_not_active(x->port, &why);
	add_fault(to, "port_not_active", &why);
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
	struct finding *f;

	if (!is_active(x) || !has_subnet(x) || x->port->port_attr.sm_lid)
		return;
	f = finding_add(to, "no_subnet_manager", FINDING_WARN,
			"the port knows no subnet manager (SM LID 0)");
	finding_cause(f, "rdma_cm (-R) and IPoIB ask it for paths");
	finding_next(f, "start one: opensm on one host, or the switch's own");
}

static void check_rate(const struct port_facts *x, struct findings *to)
{
	double gbps = hca_rate_gbps(x->port);
	struct finding *f;

	if (!is_active(x) || !(gbps > 0) || gbps >= x->sibling_gbps * 0.99)
		return;
	f = finding_add(to, "link_below_siblings", FINDING_WARN,
			"the link runs at %g Gb/s, and another port of this kind at %g Gb/s", gbps,
			x->sibling_gbps);
	finding_cause(f, "A slower cable, transceiver or switch port, or bad training");
	finding_next(f,
		     "compare this port's cable, switch port and speed setting with those of the "
		     "faster port");
	finding_evidence(f, "rate", gbps, "Gb/s");
	finding_evidence(f, "fastest of this kind", x->sibling_gbps, "Gb/s");
}

static void check_training(const struct port_facts *x, struct findings *to)
{
	struct pci_link can = x->link;
	char now[64], best[64];
	struct finding *f;

	if (x->host->virtual_machine || pci_link_share(&x->link) > 0.99)
		return;
	can.gts = x->link.max_gts;
	can.width = x->link.max_width;
	f = finding_add(to, "pcie_trained_below", FINDING_FAULT,
			"the PCIe link is %s; both of its ends support %s",
			pci_link_format(&x->link, now, sizeof(now)),
			pci_link_format(&can, best, sizeof(best)));
	finding_cause(f, "A bad contact, a riser, or the slot's settings");
	finding_next(f, "reseat the adapter; check the riser and the BIOS's settings of the slot");
	finding_evidence(f, "current speed", x->link.gts, "GT/s");
	finding_evidence(f, "current width", x->link.width, "lanes");
	finding_evidence(f, "speed of both ends", x->link.max_gts, "GT/s");
	finding_evidence(f, "width of both ends", x->link.max_width, "lanes");
}

static void check_slot(const struct port_facts *x, struct findings *to)
{
	double carries = PCIE_SHARE * pci_link_gbps(&x->link, PCI_USUAL_PAYLOAD_BYTES, false);
	double gbps = hca_rate_gbps(x->port);
	struct finding *f;
	char now[64];

	if (x->host->virtual_machine || !(carries > 0) || !(gbps > 0) || carries >= gbps)
		return;
	f = finding_add(to, "pcie_below_link", FINDING_WARN,
			"the PCIe link (%s) carries %.1f Gb/s of payload, the port %g Gb/s",
			pci_link_format(&x->link, now, sizeof(now)), carries, gbps);
	finding_cause(f, "Bandwidth is limited by the slot, not by the network");
	finding_next(f, "use a slot with more lanes or a newer generation");
	finding_evidence(f, "PCIe payload", carries, "Gb/s");
	finding_evidence(f, "rate", gbps, "Gb/s");
}

static void check_mtu(const struct port_facts *x, struct findings *to)
{
	unsigned active = hca_mtu_bytes(x->port->port_attr.active_mtu);
	unsigned max = hca_mtu_bytes(x->port->port_attr.max_mtu);
	struct finding *f;

	if (!is_active(x) || x->port->is_iwarp || !active || active >= max)
		return;
	f = finding_add(to, "mtu_below_maximum", x->port->is_ethernet ? FINDING_NOTE : FINDING_WARN,
			"the path MTU is %u; the port supports %u", active, max);
	if (x->port->is_ethernet && x->netdev_mtu) {
		finding_cause(f, "The MTU of %s is %jd, and headers take about %d bytes of it",
			      x->port->netdev, (intmax_t)x->netdev_mtu, ROCE_HEADER_BYTES);
		finding_next(f, "ip link set %s mtu %u, here, on the switch and on the peer",
			     x->port->netdev, max == 4096 ? 4200 : max + 104);
		finding_evidence(f, "netdev MTU", (double)x->netdev_mtu, "B");
	} else if (has_subnet(x)) {
		finding_next(f, "raise the MTU in the subnet manager's partition "
				"(partitions.conf, mtu=5)");
	}
	finding_evidence(f, "active MTU", active, "B");
	finding_evidence(f, "maximum MTU", max, "B");
}

/* Soft-RoCE has no queues of its own, iWARP has TCP. */
static void check_pfc(const struct port_facts *x, struct findings *to)
{
	struct finding *f;

	if (!is_active(x) || !x->port->is_ethernet || x->port->is_iwarp ||
	    hca_is_soft_roce(x->port) || !x->pfc_known || x->pfc.enabled)
		return;
	f = finding_add(to, "no_pfc", FINDING_NOTE, "no priority of %s has PFC", x->port->netdev);
	finding_cause(f, "A switch that is full drops packets, and RoCE sends everything after "
			 "them again, unless congestion control (ECN) or pause frames for all "
			 "traffic (ethtool -a) prevent it");
	finding_next(f, "enable PFC for the priority of RoCE, here and in the switch, if the "
			"network is meant to be lossless: mlnx_qos, or dcb pfc");
}

static void check_node(const struct port_facts *x, struct findings *to)
{
	struct finding *f;

	if (x->host->virtual_machine || x->host->nodes < 2 || x->port->place.numa_node >= 0 ||
	    !x->link.pci[0])
		return;
	f = finding_add(to, "numa_unknown", FINDING_NOTE,
			"the NUMA node of %s is unknown, and this host has %d", x->port->device,
			x->host->nodes);
	finding_cause(f, "The firmware does not say it");
	finding_next(f, "update the BIOS, or use --numa with the right node");
}

static void check_iommu(const struct port_facts *x, struct findings *to)
{
	struct finding *f;

	if (!path_iommu_translates(x->iommu) || hca_rate_gbps(x->port) < IOMMU_MATTERS_GBPS)
		return;
	f = finding_add(to, "iommu_translates", FINDING_WARN,
			"the IOMMU translates the adapter's DMA (type %s)", x->iommu);
	finding_cause(f, "At 200 Gb/s that may cost up to a fifth of the bandwidth");
	finding_next(f, "boot with iommu=pt; try --use_hugepages to see whether it matters");
}

static void check_aer(const struct port_facts *x, struct findings *to)
{
	const struct aer *const ends[] = {&x->own, &x->upstream};
	struct finding *f;

	for (int i = 0; i < 2; i++) {
		const struct aer *a = ends[i];
		bool bad = a->nonfatal > 0 || a->fatal > 0;

		if (!a->known || (!bad && !a->correctable))
			continue;
		f = finding_add(to, "pcie_errors", bad ? FINDING_WARN : FINDING_NOTE,
				"%s (%s) has counted PCIe errors since the machine started", a->pci,
				i ? "the port above the adapter" : "the adapter");
		finding_next(
			f, "look again later, in /sys/bus/pci/devices/%s/aer_dev_*: do they grow?",
			a->pci);
		finding_evidence(f, "correctable", (double)a->correctable, "");
		finding_evidence(f, "nonfatal", (double)a->nonfatal, "");
		finding_evidence(f, "fatal", (double)a->fatal, "");
	}
}

/* True if a growth of the counter means a broken link, with any traffic. */
static bool is_fatal(const char *name)
{
	static const char *const names[] = {
		"counters/link_downed",
		"counters/link_error_recovery",
		"counters/local_link_integrity_errors",
		"counters/excessive_buffer_overrun_errors",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* The error counters: those that grow now, those that are full, and the history of the others. */
static void check_counters(const struct port_facts *x, struct findings *to)
{
	enum {
		GROWS,
		SATURATED,
		HISTORY
	};
	static const struct {
		const char *code, *text, *next;
		enum finding_level level;
	} kinds[] = {
		[GROWS] = {"errors_grow", "error counters of the port grow now",
			   "check the cable, the transceivers and the switch port", FINDING_WARN},
		[SATURATED] = {"counter_saturated",
			       "error counters are at their top, so changes cannot be seen",
			       "clear them: perfquery -R (root)", FINDING_NOTE},
		[HISTORY] = {"errors_before", "the port has counted errors since it was reset",
			     "look again later: do they grow?", FINDING_NOTE},
	};
	struct finding *found[3] = {NULL};

	for (unsigned i = 0; i < x->counters; i++) {
		const struct counter *k = &x->counter[i];
		int64_t change;
		enum counter_caveat caveat = counter_change(k, &change);
		int kind = caveat <= COUNTER_MINIMUM && change > 0 ? GROWS
			   : caveat == COUNTER_SATURATED           ? SATURATED
			   : k->before > 0                         ? HISTORY
								   : -1;

		if (kind < 0)
			continue;
		if (!found[kind])
			found[kind] = finding_add(to, kinds[kind].code, kinds[kind].level, "%s",
						  kinds[kind].text);
		finding_next(found[kind], "%s", kinds[kind].next);
		finding_evidence(found[kind], k->name, (double)(kind == GROWS ? change : k->before),
				 "");
		if (kind == GROWS && is_fatal(k->name))
			found[kind]->level = FINDING_FAULT;
	}
}

static void check_governor(const struct port_facts *x, struct findings *to)
{
	struct finding *f;

	if (!x->slow_cpus)
		return;
	f = finding_add(to, "governor", FINDING_NOTE,
			"%u of the %u CPUs of the port's node use the governor %s", x->slow_cpus,
			x->cpus, x->governor);
	finding_cause(f, "A CPU that clocks up late shows in latency");
	finding_next(f, "run cpupower frequency-set -g performance");
}

void explain_port(const struct port_facts *x, struct findings *to)
{
	static void (*const checks[])(const struct port_facts *x, struct findings *to) = {
		check_state,    check_subnet_manager, check_rate,
		check_training, check_slot,           check_mtu,
		check_pfc,      check_node,           check_iommu,
		check_aer,      check_counters,       check_governor,
	};
	struct fault why = {0};

	if (x->port->open_errno) {
		reach_refused(x->port->device, x->port->open_errno, &why);
		add_fault(to, "cannot_open", &why);
		return;
	}
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](x, to);
}

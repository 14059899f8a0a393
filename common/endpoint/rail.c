// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A device of this end: choosing and opening it, its GID, its MTU. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/text.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "host/identity.h"
#include "host/path.h"
#include "host/virt.h"

const struct hca_port *rail_choose(const struct endpoint *ep, const char *device,
				   struct hca_list *list, char *reason, size_t size)
{
	const struct local_options *l = &ep->options->local;
	const struct hca_attr wanted = {
		.device = device,
		.port = l->ib_port == EXPERIMENT_AUTO ? 0 : (int)l->ib_port,
		.local = ep->local.ss_family ? (const struct sockaddr *)&ep->local : NULL,
	};

	if (hca_scan(list, device, ep->fault))
		return NULL;
	return hca_choose(list, &wanted, reason, size, ep->fault);
}

/* Fill in the facts about the host and how this program was started. */
static void describe_machine(struct end *e)
{
	char argv[END_ARGV_BYTES + 1];
	size_t n = text_read("/proc/self/cmdline", argv, sizeof(argv));

	if (gethostname(e->host, sizeof(e->host) - 1))
		snprintf(e->host, sizeof(e->host), "?");
	identity_kernel(e->kernel, sizeof(e->kernel));
	identity_cpu_model("/proc/cpuinfo", e->cpu_model, sizeof(e->cpu_model));
	identity_rdma_core(e->rdma_core, sizeof(e->rdma_core));
	snprintf(e->version, sizeof(e->version), "%s", RDMARK_VERSION);
	for (size_t at = 0; at < n; at += strlen(argv + at) + 1)
		end_add_argument(e, argv + at);
}

static void describe_rail(const struct endpoint *ep, struct rail *r)
{
	const struct hca_port *p = &r->hca.info;
	struct end *e = &r->mine;

	describe_machine(e);
	snprintf(e->device, sizeof(e->device), "%s", p->device);
	snprintf(e->device_chosen, sizeof(e->device_chosen), "%s", r->hca.chosen);
	e->port = p->port;
	e->transport = p->fabric;
	e->gid_type = GID_KINDS;
	e->gpu_path = GPU_ROUTES;
	e->gpu_distance = PATH_CLASSES;
	e->rate_gbps = hca_rate_gbps(p);
	e->gid_index = -1;
	e->lid = p->port_attr.lid;
	e->active_mtu_bytes = hca_mtu_bytes(p->port_attr.active_mtu);
	snprintf(e->netdev, sizeof(e->netdev), "%s", p->netdev);
	snprintf(e->pci, sizeof(e->pci), "%s", p->place.pci);
	topo_format_link(&p->place, e->pcie_link, sizeof(e->pcie_link));
	e->pcie_trained_down = pci_link_share(&p->place.link) < 1;
	if (!virt_is_machine()) { /* a virtual machine's PCIe is the hypervisor's invention */
		e->pcie_read_gbps =
			pci_link_gbps(&p->place.link, PCI_USUAL_PAYLOAD_BYTES, true);
		e->pcie_write_gbps =
			pci_link_gbps(&p->place.link, PCI_USUAL_PAYLOAD_BYTES, false);
	}
	e->numa_node = p->place.numa_node;
	snprintf(e->clock, sizeof(e->clock), "%s", ep->clock->source);
	snprintf(e->firmware, sizeof(e->firmware), "%s", p->attr.fw_ver);
}

/* Check the options about this end's GIDs and partition, which do not depend on the peer. */
static int check_told(struct endpoint *ep, const struct rail *r)
{
	enum gid_kind kinds[GID_KINDS];
	uint16_t key;

	rail_gid_kinds(ep, r, kinds);
	return fault_is(ep->fault) ? -1 : rail_pkey(ep, r, &key);
}

int rail_open(struct endpoint *ep, struct rail *r, const char *text)
{
	char chosen[sizeof(r->hca.chosen)];
	struct hca_list list;
	const struct hca_port *port = rail_choose(ep, text, &list, chosen, sizeof(chosen));
	int rc = -1;

	if (port) {
		rc = hca_open(&r->hca, port, ep->fault);
		memcpy(r->hca.chosen, chosen, sizeof(chosen));
	}
	hca_list_free(&list);
	if (rc || rail_check_link(ep, r) || check_told(ep, r))
		return -1;
	describe_rail(ep, r);
	return 0;
}

unsigned rail_mtu(const struct endpoint *ep, const struct rail *r)
{
	unsigned active = hca_mtu_bytes(r->hca.info.port_attr.active_mtu);
	uint64_t wanted = ep->options->experiment.mtu_bytes;

	return wanted < active ? (unsigned)wanted : active;
}

int rail_refuse_gid(const struct endpoint *ep, const struct hca_port *p)
{
	uint64_t index = ep->options->local.gid_index;

	fault_phase(ep->fault, PHASE_GID);
	if (index >= (uint64_t)p->port_attr.gid_tbl_len) {
		fault_raise(ep->fault, FAULT_USAGE, 0,
			    "-x/--gid-index %u: %s port %u has only %d GIDs", (unsigned)index,
			    p->device, p->port, p->port_attr.gid_tbl_len);
		return fault_fix(ep->fault, "use 0 to %d, or omit -x",
				 p->port_attr.gid_tbl_len - 1);
	}
	return fault_usage(ep->fault, "give an index that `rdmark list` shows, or omit -x",
			   "-x/--gid-index %u: the GID of %s port %u at that index is empty",
			   (unsigned)index, p->device, p->port);
}

/* The GID that -x names; NULL with the fault raised if that index is empty. */
static const struct gid *explicit_gid(struct endpoint *ep, const struct rail *r)
{
	const struct hca_port *p = &r->hca.info;

	for (size_t i = 0; i < p->gid_count; i++)
		if ((uint64_t)p->gids[i].index == ep->options->local.gid_index)
			return &p->gids[i];
	rail_refuse_gid(ep, p);
	return NULL;
}

/* --ipv6 takes the others away; where all are of one kind, a GID has no family. */
static size_t kinds_wanted(struct endpoint *ep, const struct rail *r,
			   enum gid_kind kinds[GID_KINDS])
{
	const struct hca_port *p = &r->hca.info;
	size_t n = gid_kinds(p->gids, p->gid_count, (const struct sockaddr *)&ep->local, kinds);

	if (!ep->options->local.ipv6 || fabric_row(p->fabric)->kind != GID_KINDS)
		return n;
	n = gid_kinds_ipv6(kinds, n);
	if (!n) {
		fault_phase(ep->fault, PHASE_GID);
		fault_raise(ep->fault, FAULT_USAGE, 0, "--ipv6: %s port %u has no IPv6 GID",
			    p->device, p->port);
		fault_fix(ep->fault, "give the netdev%s%s an IPv6 address, or omit --ipv6",
			  p->netdev[0] ? " " : "", p->netdev);
	}
	return n;
}

size_t rail_gid_kinds(struct endpoint *ep, const struct rail *r, enum gid_kind kinds[GID_KINDS])
{
	const struct gid *one;

	if (ep->options->local.gid_index == EXPERIMENT_AUTO)
		return kinds_wanted(ep, r, kinds);
	one = explicit_gid(ep, r);
	if (!one)
		return 0;
	kinds[0] = one->kind;
	return 1;
}

void rail_describe_gid(struct rail *r, const struct gid *g, const char *chosen)
{
	r->mine.gid_index = g->index;
	gid_format(&g->raw, r->mine.gid, sizeof(r->mine.gid));
	r->mine.gid_type = g->kind;
	text_copy(r->mine.gid_chosen, sizeof(r->mine.gid_chosen), chosen);
}

int rail_use_gid(struct endpoint *ep, struct rail *r, enum gid_kind kind)
{
	const struct hca_port *p = &r->hca.info;
	bool chosen = ep->options->local.gid_index != EXPERIMENT_AUTO;
	bool shown = fabric_row(p->fabric)->shows_gid;
	const struct gid *g =
		chosen ? explicit_gid(ep, r)
		       : gid_pick(p->gids, p->gid_count, kind, (const struct sockaddr *)&ep->local);

	if (fault_is(ep->fault))
		return -1;
	r->route.global = rail_is_global(ep, r) || (shown && g);
	if (!g && r->route.global) {
		fault_raise(ep->fault, FAULT_LOCAL, 0, "%s port %u has no GID of type %s",
			    p->device, p->port, gid_kind_name(kind));
		return fault_fix(ep->fault, "give the netdev%s%s an IP address",
				 p->netdev[0] ? " " : "", p->netdev);
	}
	if (g) {
		r->hca.info.roce_v1 = g->kind == GID_V1;
		r->gid = g->raw;
		r->route.gid_index = g->index;
	}
	if (r->route.global)
		rail_describe_gid(r, g,
				  chosen  ? "named with -x"
				  : shown ? "the only type on iWARP"
					  : "the best type that both ends have");
	return 0;
}

void rail_subnet(const struct rail *r, char *buf, size_t size)
{
	const struct hca_port *p = &r->hca.info;
	union ibv_gid prefix = {{0}};

	buf[0] = '\0';
	if (p->fabric != FABRIC_INFINIBAND || !p->gid_count || p->gids[0].index != 0)
		return;
	prefix.global.subnet_prefix = p->gids[0].raw.global.subnet_prefix;
	gid_format(&prefix, buf, size);
}

bool rail_is_global(const struct endpoint *ep, const struct rail *r)
{
	return hca_needs_gid(&r->hca.info) || ep->options->local.gid_index != EXPERIMENT_AUTO;
}

/* "client's mlx5_0 port 1 (LID 0x3, P_Key 0xffff)" */
static void name_end(struct fault *f, const char *whose, const struct end *e)
{
	text_add(f->cause, sizeof(f->cause), "%s's %s port %d (", whose, e->device, (int)e->port);
	if (e->lid)
		text_add(f->cause, sizeof(f->cause), "LID 0x%x, ", (unsigned)e->lid);
	if (e->address[0])
		text_add(f->cause, sizeof(f->cause), "%s, ", e->address);
	if (e->gid_index >= 0)
		text_add(f->cause, sizeof(f->cause), "GID %d: %s)", (int)e->gid_index, e->gid);
	else
		text_add(f->cause, sizeof(f->cause), "P_Key %s)",
			 e->pkey[0] ? e->pkey : "unknown");
}

void rail_name_ends(const struct endpoint *ep, struct fault *f)
{
	const struct rail *r = &ep->rail[0];

	for (unsigned i = ep->workers_made; i-- > 0;)
		if (fault_is(&ep->worker[i].fault))
			r = ep->worker[i].rail;
	text_add(f->cause, sizeof(f->cause), "%sBetween the ", f->cause[0] ? ". " : "");
	name_end(f, "client", rail_end(r, !ep->server));
	text_add(f->cause, sizeof(f->cause), " and the ");
	name_end(f, "server", rail_end(r, ep->server));
}

bool rail_shared(const struct endpoint *ep)
{
	for (unsigned i = 0; i < ep->rails * ep->rails; i++) {
		const struct end *mine = &ep->rail[i / ep->rails].mine;
		const struct end *theirs = &ep->rail[i % ep->rails].theirs;

		if (strcmp(mine->host, theirs->host) == 0 &&
		    strcmp(mine->device, theirs->device) == 0 && mine->port == theirs->port)
			return true;
	}
	return false;
}

double endpoint_rate_gbps(const struct endpoint *ep)
{
	double sum = 0;

	for (unsigned i = 0; i < ep->rails; i++)
		sum += ep->rail[i].mine.rate_gbps;
	return sum;
}

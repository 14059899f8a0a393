// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A device of this end: choosing and opening it, its GID, its MTU. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/state.h"

static struct hca_wish wish_of(const struct session *s, const char *device)
{
	const struct local_options *l = &s->options.local;

	return (struct hca_wish){
		.device = device,
		.port = l->ib_port == EXPERIMENT_AUTO ? 0 : (int)l->ib_port,
		.local = s->local.ss_family ? (const struct sockaddr *)&s->local : NULL,
	};
}

/* Fill in what is known of the device. */
static void describe(const struct session *s, struct rail *r)
{
	const struct hca_port *p = &r->hca.info;
	struct end *e = &r->mine;

	if (gethostname(e->host, sizeof(e->host) - 1))
		snprintf(e->host, sizeof(e->host), "?");
	snprintf(e->device, sizeof(e->device), "%s", p->device);
	snprintf(e->device_chosen, sizeof(e->device_chosen), "%s", r->hca.chosen);
	e->port = p->port;
	snprintf(e->link_layer, sizeof(e->link_layer), "%s",
		 p->is_ethernet ? "Ethernet" : "InfiniBand");
	e->rate_gbps = hca_rate_gbps(p);
	e->gid_index = -1;
	e->lid = p->port_attr.lid;
	e->active_mtu_bytes = hca_mtu_bytes(p->port_attr.active_mtu);
	snprintf(e->netdev, sizeof(e->netdev), "%s", p->netdev);
	snprintf(e->pci, sizeof(e->pci), "%s", p->place.pci);
	topo_format_link(&p->place, e->pcie_link, sizeof(e->pcie_link));
	e->numa_node = p->place.numa_node;
	snprintf(e->memory, sizeof(e->memory), "host");
	snprintf(e->clock, sizeof(e->clock), "%s", s->clock.source);
	snprintf(e->firmware, sizeof(e->firmware), "%s", p->attr.fw_ver);
	snprintf(e->version, sizeof(e->version), "%s", RDMARK_VERSION);
}

int rail_open(struct session *s, struct rail *r, const char *text)
{
	struct hca_wish wish = wish_of(s, text);
	char chosen[sizeof(r->hca.chosen)];
	struct hca_list list;
	const struct hca_port *port;
	int rc = -1;

	if (hca_scan(&list, text, &s->fault))
		return -1;
	port = hca_choose(&list, &wish, chosen, sizeof(chosen), &s->fault);
	if (port) {
		rc = hca_open(&r->hca, port, &s->fault);
		memcpy(r->hca.chosen, chosen, sizeof(chosen));
	}
	hca_list_free(&list);
	if (rc || rail_check_link(s, r))
		return -1;
	describe(s, r);
	return 0;
}

void rail_release(struct rail *r)
{
	counters_release(&r->counters);
	hca_release(&r->hca);
	memset(r, 0, sizeof(*r));
}

unsigned rail_mtu(const struct session *s, const struct rail *r)
{
	unsigned active = hca_mtu_bytes(r->hca.info.port_attr.active_mtu);
	uint64_t wish = s->options.experiment.mtu_bytes;

	return wish < active ? (unsigned)wish : active;
}

/* The entry that -x names, or NULL with the fault if it is empty. */
static const struct gid *explicit_gid(struct session *s, const struct rail *r)
{
	const struct hca_port *p = &r->hca.info;
	uint64_t index = s->options.local.gid_index;

	for (size_t i = 0; i < p->gid_count; i++)
		if ((uint64_t)p->gids[i].index == index)
			return &p->gids[i];
	fault_phase(&s->fault, "choosing the GID");
	if (index >= (uint64_t)p->port_attr.gid_tbl_len) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "-x/--gid-index %u: %s port %u has %d GIDs",
			    (unsigned)index, p->device, p->port, p->port_attr.gid_tbl_len);
		fault_fix(&s->fault, "use 0 to %d, or leave -x out", p->port_attr.gid_tbl_len - 1);
	} else {
		fault_raise(&s->fault, FAULT_USAGE, 0,
			    "-x/--gid-index %u: the GID of %s port %u at that index is empty",
			    (unsigned)index, p->device, p->port);
		fault_fix(&s->fault, "--list shows the ones there are; or leave -x out");
	}
	return NULL;
}

/* --ipv6 takes the others away; on InfiniBand a GID has no family. */
static size_t kinds_wished(struct session *s, const struct rail *r, enum gid_kind kinds[GID_KINDS])
{
	const struct hca_port *p = &r->hca.info;
	size_t n = gid_kinds(p->gids, p->gid_count, (const struct sockaddr *)&s->local, kinds);

	if (!s->options.local.ipv6 || !p->is_ethernet)
		return n;
	n = gid_kinds_ipv6(kinds, n);
	if (!n) {
		fault_phase(&s->fault, "choosing the GID");
		fault_raise(&s->fault, FAULT_USAGE, 0, "--ipv6: %s port %u has no IPv6 GID",
			    p->device, p->port);
		fault_fix(&s->fault, "give the netdev%s%s an IPv6 address, or leave --ipv6 out",
			  p->netdev[0] ? " " : "", p->netdev);
	}
	return n;
}

size_t rail_kinds(struct session *s, const struct rail *r, enum gid_kind kinds[GID_KINDS])
{
	const struct gid *one;

	if (s->options.local.gid_index == EXPERIMENT_AUTO)
		return kinds_wished(s, r, kinds);
	one = explicit_gid(s, r);
	if (!one)
		return 0;
	kinds[0] = one->kind;
	return 1;
}

int rail_use_gid(struct session *s, struct rail *r, enum gid_kind kind)
{
	const struct hca_port *p = &r->hca.info;
	bool chosen = s->options.local.gid_index != EXPERIMENT_AUTO;
	bool grh = (p->port_attr.flags & IBV_QPF_GRH_REQUIRED) != 0;
	const struct gid *g =
		chosen ? explicit_gid(s, r)
		       : gid_pick(p->gids, p->gid_count, kind, (const struct sockaddr *)&s->local);

	if (fault_is(&s->fault))
		return -1;
	r->route.global = p->is_ethernet || chosen || grh;
	if (!g && r->route.global) {
		fault_raise(&s->fault, FAULT_LOCAL, 0, "%s port %u has no GID of the kind %s",
			    p->device, p->port, gid_kind_name(kind));
		return fault_fix(&s->fault, "give the netdev%s%s an address",
				 p->netdev[0] ? " " : "", p->netdev);
	}
	if (g) {
		r->gid = g->raw;
		r->route.gid_index = g->index;
	}
	if (r->route.global) {
		r->mine.gid_index = g->index;
		gid_format(&g->raw, r->mine.gid, sizeof(r->mine.gid));
		snprintf(r->mine.gid_chosen, sizeof(r->mine.gid_chosen), "%s",
			 chosen ? "named with -x" : "the best kind that both ends have");
		snprintf(r->mine.gid_type, sizeof(r->mine.gid_type), "%s", gid_kind_name(g->kind));
	}
	return 0;
}

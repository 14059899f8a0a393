// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A worker whose QPs rdma_cm connects: where it listens or calls from, and what was chosen. */
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>

#include "endpoint/endpoint.h"

/*
 * A server (AF_UNSPEC) needs an address to listen on. A client (the family of the server's address)
 * may have none: OWN then has family 0, and the kernel chooses.
 */
int worker_cm_open(struct worker *t, int family)
{
	struct endpoint *ep = t->ep;
	const struct sockaddr *local =
		ep->local.ss_family ? (const struct sockaddr *)&ep->local : NULL;
	const struct hca_port *p = &t->rail->hca.info;
	struct sockaddr_storage own;
	struct ifaddrs *list = NULL;
	bool found;

	fault_phase(ep->fault, "preparing rdma_cm");
	if (getifaddrs(&list))
		return fault_raise(ep->fault, FAULT_LOCAL, errno, "getifaddrs");
	found = cm_address(p, &t->rail->gid, local, family, list, &own);
	freeifaddrs(list);
	if (cm_init(&t->cm, p, &own, ep->options->local.timeout_ns, ep->fault))
		return -1;
	if (found || family != AF_UNSPEC)
		return 0;
	fault_raise(ep->fault, FAULT_UNAVAILABLE, 0, "%s port %u has no IP address for rdma_cm",
		    p->device, p->port);
	return fault_fix(ep->fault, "give the netdev%s%s an IP address%s", p->netdev[0] ? " " : "",
			 p->netdev, cm_or_omit(p));
}

void worker_cm_describe(struct worker *t)
{
	const struct hca_port *p = &t->rail->hca.info;
	struct end *e = &t->rail->mine;

	snprintf(e->address.cm, sizeof(e->address.cm), "%s", t->cm.own_name);
	memcpy(t->mine.psn, t->qps.psn, t->qps.count * sizeof(*t->mine.psn));
	for (size_t i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gids[i];

		if (g->index != t->rail->route.gid_index)
			continue;
		t->mine.gid = g->raw;
		if (e->address.gid_index != g->index)
			rail_describe_gid(t->rail, g, "rdma_cm's choice");
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How fast the port is that the programs use. */
#include <string.h>

#include "run.h"
#include "verbs/hca.h"

/* The rate of all ports that programs could choose; 0: they differ, or it is not known. */
static double common_rate(const struct hca_list *list, unsigned port)
{
	double gbps = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct hca_port *p = &list->port[i];

		if (p->open_errno || p->port_attr.state != IBV_PORT_ACTIVE ||
		    (port && port != p->port))
			continue;
		if (gbps > 0 && hca_rate_gbps(p) != gbps)
			return 0;
		gbps = hca_rate_gbps(p);
	}
	return gbps;
}

double run_port_gbps(const struct run *r, unsigned rail)
{
	const char *device = *r->players.rail[rail] ? r->players.rail[rail] : r->line.device;
	struct hca_attr wanted = {.device = device, .port = (int)r->line.ib_port};
	const struct hca_port *port;
	struct hca_list list;
	struct fault f = {0};
	char reason[160];
	double gbps;

	if ((device && strchr(device, ',')) || hca_scan(&list, device, &f))
		return 0;
	port = device ? hca_choose(&list, &wanted, reason, sizeof(reason), &f) : NULL;
	if (device)
		gbps = port ? hca_rate_gbps(port) : 0;
	else
		gbps = common_rate(&list, r->line.ib_port); /* the way to the peer decides */
	hca_list_free(&list);
	return gbps;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/run.h"

#include <math.h>
#include <string.h>

void run_end_unknown(struct run_end *e, const char *name)
{
	memset(e, 0, sizeof(*e));
	e->name = name;
	e->pcie_link = "";
	e->rate_gbps = e->pcie_gbps = NAN;
	e->full_share = e->schedule_share = e->busy_share = e->cpu_share = NAN;
	e->alone_ns = e->completion_ns = e->counted_s = NAN;
	for (int i = 0; i < PORT_EVENTS; i++)
		e->event[i] = NAN;
}

void run_end_count(struct run_end *e, const struct port_snapshot *own,
		   const struct port_snapshot *peer)
{
	for (unsigned i = 0; i < own->ports; i++)
		e->counted_s = fmax(e->counted_s, own->port[i].seconds);
	for (int i = 0; i < PORT_EVENTS; i++)
		e->event[i] = port_snapshot_value(own, i);
	e->event[PORT_LOSS_NAKS] = port_snapshot_naks(own, peer);
	e->event[PORT_ACK_TIMEOUT] = port_snapshot_timeouts(own, peer);
}

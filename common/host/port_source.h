/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port_source: the counters that drivers have for what host/port_events.h names. A name means the
 * same wherever it is found, so the driver is not asked for.
 */
#pragma once

#include "host/port_events.h"

enum port_place {
	PORT_HW,     /* hw_counters/ of the port */
	PORT_DEVICE, /* hw_counters/ of the device */
	PORT_PMA,    /* counters/ of the port */
	PORT_NETDEV, /* statistics of its network interface */
	PORT_AER,    /* AER of the adapter's function */
	PORT_AER_UPSTREAM /* AER of the port above it */
};

struct port_source {
	const char *name;
	enum port_event event;
	enum port_place place;
	unsigned times;       /* what it counts, in the event's unit; 0: 1 */
	bool counts_packets;  /* PORT_RETRANSMITTED: packets */
	bool counts_restarts; /* PORT_RETRANSMITTED: times, whatever the cause */
};

/* All, in order of preference, ended by one without a name. Static storage. */
const struct port_source *port_sources(void);

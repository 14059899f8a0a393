/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port_events: what happened at an RDMA port and its network interface between two moments, under
 * one name for each meaning, whatever the driver calls it.
 *
 * The counters are the port's, so other programs' traffic is in them. Their traps are minded
 * (host/counters.h). What cannot be read is unknown, with the reason, never 0. Nothing is raised.
 */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/counters.h"
#include "host/ethtool.h"

/* Their meanings are in the table. */
enum port_event {
#define PORT_EVENT(symbol, ...) PORT_##symbol,
#include "host/port_events.def"
#undef PORT_EVENT
	PORT_EVENTS
};

/* By how much it grew; a gauge's value at the end. */
struct port_change {
	enum port_known known;
	int64_t change;  /* of EXACT and AT_LEAST; else 0 */
	const char *own; /* the driver's name of it; static storage; NULL: none is known */
};

/* What one port did in SECONDS. Zeros: nothing is known. */
struct port_changes {
	double seconds;
	struct port_change event[PORT_EVENTS];
};

/* What all ports of an end did. */
#define PORT_EVENTS_PORTS 16

struct port_snapshot {
	unsigned ports; /* 0: this end tells nothing */
	struct port_changes port[PORT_EVENTS_PORTS];
};

/* How an event comes of several counters of one port. */
enum port_rule {
	PORT_FIRST,   /* they are the same: the first that there is */
	PORT_SUM,     /* they are parts */
	PORT_LARGEST, /* they overlap */
	PORT_LAST     /* a gauge: its value at the end */
};

struct port_event_row {
	const char *name, *unit; /* "loss_naks"; and "us", "bytes", "percent", "s", "ticks" or "" */
	enum port_rule rule;
};
const struct port_event_row *port_event_row(enum port_event event);

/* The event of that name; PORT_EVENTS: there is none. */
enum port_event port_event_find(const char *name);

/* EVENT's counter that is called NAME by some driver; NULL: there is none. */
const char *port_event_own(enum port_event event, const char *name);

struct port_known_row {
	const char *name, *text; /* "not_counted"; for a user: "this driver does not count it" */
};
const struct port_known_row *port_known_row(enum port_known known);
/* The kind of that name; PORT_KNOWN_KINDS: there is none. */
enum port_known port_known_find(const char *name);

static inline bool port_change_is_known(const struct port_change *c)
{
	return c->known == PORT_EXACT || c->known == PORT_AT_LEAST;
}

/*
 * EVENT at all ports of S together: their sum; of a duration or gauge the largest. Ports that do
 * not know it are left out; if none does, it is the first one's reason.
 */
struct port_change port_snapshot_event(const struct port_snapshot *s, enum port_event event);

/* The same as a number; NaN: not known. */
double port_snapshot_value(const struct port_snapshot *s, enum port_event event);

/*
 * How often S's ports had to send again, for any cause but a receiver that was not ready; *PACKETS:
 * packets are counted, not times. NaN: not known.
 */
double port_snapshot_resent(const struct port_snapshot *s, bool *packets);

/*
 * How often a NAK for a missing packet made S's ports begin again, whose receiver is PEER. rxe
 * counts every restart, but no NAK for the oldest packet in flight: there, gaps that PEER saw are
 * NAKs, too, if there are no more of them than restarts. NaN: not known.
 */
double port_snapshot_naks(const struct port_snapshot *s, const struct port_snapshot *peer);

/*
 * How often no ACK came in time. Where only restarts are counted, these less those that a NAK
 * explains, as above. NaN: not known.
 */
double port_snapshot_timeouts(const struct port_snapshot *s, const struct port_snapshot *peer);

/* How many packets they dropped or could not read. NaN: not known. */
double port_snapshot_lost(const struct port_snapshot *s);

#define PORT_EVENTS_FOUND 96

/* Of one port: its counters, and what they said. */
struct port_events {
	char port[96]; /* "class/infiniband/mlx5_0/ports/1", for sysfs_read() */
	struct port_events_counter {
		const struct port_source *source;
		int64_t value[2]; /* at the start and at the end */
		bool known[2];
	} found[PORT_EVENTS_FOUND];
	size_t count;
	char netdev[IF_NAMESIZE]; /* "": none of this namespace */
	bool is_vf;
	enum port_known ethtool_known; /* EXACT: it is read; else why not */
	struct ethtool ethtool;
	char pci[16], upstream[16]; /* the adapter's function and the port above it; "": none */
	struct counters_age age;
	uint64_t start_ns, stop_ns;
};

/*
 * Find what PORT of DEVICE, its interface NETDEV (NULL or "": none) and its PCI function PCI (or
 * "") have. Nothing is read.
 */
void port_events_open(struct port_events *p, const char *device, unsigned port, const char *netdev,
		      const char *pci);

/* Begin; and end. Each waits until the device's counters are newer than those read last. */
void port_events_start(struct port_events *p);
void port_events_stop(struct port_events *p);

/* What changed between the two. */
void port_events_changes(const struct port_events *p, struct port_changes *to);

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/port_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "host/pci.h"
#include "host/port_source.h"
#include "host/sysfs.h"

static const char *const folders[] = {
	[PORT_HW] = "hw_counters",
	[PORT_DEVICE] = "../../hw_counters",
	[PORT_PMA] = "counters",
};

#define FOLDERS     (sizeof(folders) / sizeof(folders[0]))
#define NAMES_BYTES 16384 /* of the counters in one: hundreds */

static enum port_known known_of_error(int rc)
{
	switch (-rc) {
	case 0:
		return PORT_EXACT;
	case ENODEV:
		return PORT_OTHER_NAMESPACE;
	case EPERM:
	case EACCES:
		return PORT_NO_PERMISSION;
	case EOPNOTSUPP:
	case EAFNOSUPPORT:
	case EPROTONOSUPPORT:
		return PORT_UNSUPPORTED;
	default:
		return PORT_UNREADABLE;
	}
}

/*
 * Is the interface NETDEV here another one than DEVICE's, which has the same name in another
 * network namespace? It is if both are of PCI devices, and not of the same; a bond is of none.
 */
static bool is_namesake(const char *device, const char *netdev)
{
	char mine[256], its[256];

	if (sysfs_resolve(mine, sizeof(mine), "class/infiniband/%s/device", device) ||
	    sysfs_resolve(its, sizeof(its), "class/net/%s", netdev))
		return false;
	if (sysfs_resolve(its, sizeof(its), "class/net/%s/device", netdev))
		return !sysfs_exists("class/net/%s/bonding", netdev);
	return strcmp(mine, its) != 0;
}

static size_t ethtool_place(const struct ethtool *e, const char *name)
{
	size_t i = 0;

	while (i < e->names && (strcmp(e->name[i], name) != 0 || e->at[i] == ETHTOOL_ABSENT))
		i++;
	return i;
}

static bool is_aer(const struct port_source *s)
{
	return s->place == PORT_AER || s->place == PORT_AER_UPSTREAM;
}

/* The PCI function whose errors S counts; "" if there is none. */
static const char *aer_function(const struct port_events *p, const struct port_source *s)
{
	return s->place == PORT_AER ? p->pci : p->upstream;
}

/* Does P have S? NAMES: what is in the folders. */
static bool has_source(const struct port_events *p, const struct port_source *s,
		       char names[FOLDERS][NAMES_BYTES])
{
	char name[80];

	if (s->place == PORT_NETDEV)
		return p->ethtool_known == PORT_EXACT &&
		       ethtool_place(&p->ethtool, s->name) < p->ethtool.names;
	if (is_aer(s))
		return aer_function(p, s)[0] &&
		       sysfs_exists("bus/pci/devices/%s/%s", aer_function(p, s), s->name);
	snprintf(name, sizeof(name), "\n%s\n", s->name);
	return strstr(names[s->place], name);
}

/*
 * The port's interface: NETDEV, or if that is not known the one of its first GID. Returns false if
 * there is none here, with the reason.
 */
static bool find_netdev(struct port_events *p, const char *netdev, enum port_known *why)
{
	char link[32];

	snprintf(p->netdev, sizeof(p->netdev), "%s", netdev ? netdev : "");
	if (!p->netdev[0])
		sysfs_read(p->netdev, sizeof(p->netdev), "%s/gid_attrs/ndevs/0", p->port);
	if (p->netdev[0])
		return true;
	sysfs_read(link, sizeof(link), "%s/link_layer", p->port);
	*why = strcmp(link, "Ethernet") == 0 ? PORT_OTHER_NAMESPACE : PORT_NO_NETDEV;
	return false;
}

/* Find the interface's statistics that any source is of. */
static void open_netdev(struct port_events *p, const char *device, const char *netdev)
{
	const char *names[ETHTOOL_NAMES_MAX];
	enum port_known why = PORT_OTHER_NAMESPACE;
	size_t count = 0;
	bool here = find_netdev(p, netdev, &why) && !is_namesake(device, p->netdev);

	p->ethtool_known = why;
	if (!here)
		return;
	for (const struct port_source *s = port_sources(); s->name && count < ETHTOOL_NAMES_MAX;
	     s++)
		if (s->place == PORT_NETDEV)
			names[count++] = s->name;
	p->ethtool_known = known_of_error(ethtool_find(&p->ethtool, p->netdev, names, count));
}

void port_events_open(struct port_events *p, const char *device, unsigned port, const char *netdev,
		      const char *pci)
{
	char names[FOLDERS][NAMES_BYTES];
	bool found[PORT_EVENTS] = {false};

	memset(p, 0, sizeof(*p));
	snprintf(p->port, sizeof(p->port), "class/infiniband/%.63s/ports/%u", device, port);
	p->is_vf = sysfs_exists("class/infiniband/%s/device/physfn", device);
	if (pci_is_address(pci) && strlen(pci) < sizeof(p->pci))
		strcpy(p->pci, pci);
	pci_find_upstream(p->pci, p->upstream);
	open_netdev(p, device, netdev);
	for (size_t i = 0; i < FOLDERS; i++)
		sysfs_names(names[i], NAMES_BYTES, "%s/%s", p->port, folders[i]);
	for (const struct port_source *s = port_sources(); s->name && p->count < PORT_EVENTS_FOUND;
	     s++) {
		bool one = port_event_row(s->event)->rule == PORT_FIRST;

		if ((one && found[s->event]) || !has_source(p, s, names))
			continue;
		found[s->event] = true;
		p->found[p->count++].source = s;
	}
	p->age = counters_age(p->port);
	p->age.read_ns = 0; /* only the lifespan was read */
}

/* Read S's counter; ETHTOOL: what the interface's statistics are now, NULL if unknown. */
static bool read_counter(const struct port_events *p, const struct port_source *s,
			 const uint64_t *ethtool, int64_t *to)
{
	uint64_t value;

	switch (s->place) {
	case PORT_NETDEV:
		value = ethtool ? ethtool[ethtool_place(&p->ethtool, s->name)] : UINT64_MAX;
		*to = (int64_t)value;
		return value <= INT64_MAX;
	case PORT_AER:
	case PORT_AER_UPSTREAM:
		return !pci_read_errors(aer_function(p, s), s->name, to);
	default:
		return !sysfs_read_int(to, "%s/%s/%s", p->port, folders[s->place], s->name);
	}
}

/* Read all, AFTER or before: those whose values may be old, last and as new ones. */
static void read_counters(struct port_events *p, bool after)
{
	uint64_t value[ETHTOOL_NAMES_MAX];
	bool has_ethtool = p->ethtool_known == PORT_EXACT && !ethtool_read(&p->ethtool, value);
	bool waited = false;

	for (int last = 0; last < 2; last++)
		for (size_t i = 0; i < p->count; i++) {
			struct port_events_counter *k = &p->found[i];

			if ((k->source->place <= PORT_DEVICE) != last)
				continue;
			if (last && !waited)
				counters_refresh(&p->age);
			waited |= last;
			k->known[after] = read_counter(p, k->source, has_ethtool ? value : NULL,
						       &k->value[after]);
		}
}

void port_events_start(struct port_events *p)
{
	p->start_ns = clock_now_ns();
	read_counters(p, false);
}

void port_events_stop(struct port_events *p)
{
	read_counters(p, true);
	p->stop_ns = clock_now_ns();
}

/* By how much counter K grew. */
static struct port_change change_of(const struct port_events_counter *k)
{
	const struct port_source *s = k->source;
	struct port_change to = {.known = PORT_UNREADABLE, .own = s->name};
	struct counter c = {
		.before = k->value[0], .after = k->value[1], .unreadable = !k->known[1]};
	int64_t times = s->times ? s->times : 1;

	if (port_event_row(s->event)->rule == PORT_LAST) {
		to.known = k->known[1] ? PORT_EXACT : PORT_UNREADABLE;
		to.change = k->known[1] ? k->value[1] : 0;
		return to;
	}
	if (!k->known[0])
		return to;
	snprintf(c.name, sizeof(c.name), "%s/%s", s->place < FOLDERS ? folders[s->place] : "",
		 s->name);
	to.known = counter_change(&c, &to.change);
	if (to.change > INT64_MAX / times)
		to.known = PORT_UNREADABLE;
	to.change = to.known <= PORT_AT_LEAST ? to.change * times : 0;
	return to;
}

/* Add what counter ONE says of EVENT to what others said. */
static void join(struct port_change *all, const struct port_change *one, enum port_rule rule)
{
	if (all->known == PORT_UNTOLD ||
	    (!port_change_is_known(all) && port_change_is_known(one))) {
		enum port_known before = all->known;

		*all = *one;
		if (before != PORT_UNTOLD && rule == PORT_SUM)
			all->known = PORT_AT_LEAST;
	} else if (!port_change_is_known(one)) {
		if (rule == PORT_SUM && port_change_is_known(all))
			all->known = PORT_AT_LEAST;
	} else if (rule == PORT_SUM) {
		bool overflows = one->change > INT64_MAX - all->change;

		all->change = overflows ? INT64_MAX : all->change + one->change;
		all->known = one->known > all->known ? one->known : all->known;
	} else if (one->change > all->change) {
		*all = *one;
	}
}

/* Why nothing that P has tells EVENT. */
static enum port_known why_not(const struct port_events *p, enum port_event event)
{
	bool of_netdev = false, of_others = false, of_aer = false;

	for (const struct port_source *s = port_sources(); s->name; s++) {
		of_netdev |= s->event == event && s->place == PORT_NETDEV;
		of_others |= s->event == event && s->place < FOLDERS;
		of_aer |= s->event == event && is_aer(s);
	}
	if (of_aer)
		return p->pci[0] ? PORT_NO_AER : PORT_NO_PCI;
	if (of_netdev && !of_others && p->ethtool_known != PORT_EXACT)
		return p->ethtool_known;
	return p->is_vf ? PORT_NOT_OF_A_VF : PORT_NOT_COUNTED;
}

void port_events_changes(const struct port_events *p, struct port_changes *to)
{
	int64_t largest[PORT_EVENTS] = {0};

	*to = (struct port_changes){.seconds = (double)(p->stop_ns - p->start_ns) / 1e9};
	for (size_t i = 0; i < p->count; i++) {
		enum port_event event = p->found[i].source->event;
		struct port_change one = change_of(&p->found[i]);

		join(&to->event[event], &one, port_event_row(event)->rule);
		if (one.change <= largest[event])
			continue;
		largest[event] = one.change;
		to->event[event].own = one.own; /* of several, the one that grew most */
	}
	for (int i = 0; i < PORT_EVENTS; i++)
		if (to->event[i].known == PORT_UNTOLD)
			to->event[i].known = why_not(p, i);
}

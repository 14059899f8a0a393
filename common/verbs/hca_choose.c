// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hca_choose(): decides which port to use, and why, from the list and the host's interfaces only;
 * and why a port is not ACTIVE: its state, together with phys_state, LIDs and GUIDs.
 */
#include "base/phase.h"
#include "verbs/hca.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "verbs/reach.h"

/* The name of that of ALL interfaces that has the IP address GID; "" if there is none. */
static const char *find_netdev_of_address(const struct ifaddrs *all, const union ibv_gid *gid)
{
	for (; all; all = all->ifa_next)
		if (gid_is_address(gid, all->ifa_addr))
			return all->ifa_name;
	return "";
}

/* True if TEXT is an IP address of P: one of its GIDs, or an address of its netdev, one of ALL. */
static bool port_has_ip(const struct hca_port *p, const char *text, const struct ifaddrs *all)
{
	union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};
	const char *netdev;

	if (inet_pton(AF_INET, text, gid.raw + 12) != 1 && inet_pton(AF_INET6, text, gid.raw) != 1)
		return false;
	for (size_t i = 0; i < p->gid_count; i++)
		if (memcmp(p->gids[i].raw.raw, gid.raw, sizeof(gid.raw)) == 0)
			return true;
	netdev = find_netdev_of_address(all, &gid);
	return netdev[0] && hca_has_netdev(p, netdev);
}

/*
 * True if TEXT is the GUID of P's device: 16 hexadecimal digits, with or without "0x" and colons.
 */
static bool port_has_guid(const struct hca_port *p, const char *text)
{
	char digits[17];
	size_t n = 0;

	if (strncasecmp(text, "0x", 2) == 0)
		text += 2;
	for (; *text && n < 16; text++)
		if (*text != ':')
			digits[n++] = *text;
	digits[n] = '\0';
	return n == 16 && !*text && strspn(digits, "0123456789abcdefABCDEF") == 16 &&
	       strtoull(digits, NULL, 16) == p->guid;
}

static bool port_has_pci_address(const struct hca_port *p, const char *text)
{
	/* the domain may be omitted: 41:00.0 */
	return p->place.pci[0] &&
	       (strcasecmp(text, p->place.pci) == 0 ||
		(strlen(p->place.pci) > 5 && strcasecmp(text, p->place.pci + 5) == 0));
}

/*
 * How P matches WANTED, the user's name for a device; NULL if it does not match. ALL: interfaces.
 */
static const char *match_port(const struct hca_port *p, const char *wanted,
			      const struct ifaddrs *all)
{
	if (strcmp(p->device, wanted) == 0)
		return "named";
	if (p->open_errno)
		return NULL;
	if (hca_has_netdev(p, wanted))
		return "by its netdev";
	if (port_has_ip(p, wanted, all))
		return "by its IP address";
	if (port_has_guid(p, wanted))
		return "by its GUID";
	return port_has_pci_address(p, wanted) ? "by its PCI address" : NULL;
}

bool hca_is_named(const struct hca_port *p, const char *wanted)
{
	struct ifaddrs *all = NULL;
	bool named;

	getifaddrs(&all);
	named = match_port(p, wanted, all) != NULL;
	freeifaddrs(all);
	return named;
}

/*
 * Raise the fault that no device or port matches. DEVICE_KNOWN: the device exists, but not the
 * port.
 */
static int raise_no_match(const struct hca_list *list, const struct hca_attr *wanted,
			  bool device_known, struct fault *f)
{
	char have[256] = "";

	for (size_t i = 0; i < list->count; i++)
		if (i == 0 || strcmp(list->port[i].device, list->port[i - 1].device) != 0)
			text_add(have, sizeof(have), "%s%s", i ? ", " : "", list->port[i].device);
	if (wanted->device && !device_known) {
		if (reach_in_kernel(wanted->device) || reach_elsewhere(wanted->device))
			return reach_unlisted(wanted->device, f);
		fault_raise(f, FAULT_USAGE, 0, "there is no RDMA device '%.60s'", wanted->device);
		return fault_fix(f, "use one of: %s; `rdmark list` shows them all", have);
	}
	if (wanted->device)
		fault_raise(f, FAULT_USAGE, 0, "device '%.60s' has no port %d", wanted->device,
			    wanted->port);
	else
		fault_raise(f, FAULT_USAGE, 0, "no RDMA device of this host has a port %d",
			    wanted->port);
	return fault_fix(f, "omit -i, or give a port that `rdmark list` shows");
}

/* No device is named: choose the port on the route to the peer, else the first ACTIVE one. */
static const struct hca_port *choose_for_peer(const struct hca_list *list,
					      const struct hca_attr *wanted,
					      const struct ifaddrs *all, char *reason, size_t size,
					      struct fault *f)
{
	const struct hca_port *first = NULL, *active = NULL;
	const char *netdev = "", *which = "only";
	union ibv_gid local;

	if (gid_of_address(&local, wanted->local))
		netdev = find_netdev_of_address(all, &local);
	for (size_t i = 0; i < list->count; i++) {
		const struct hca_port *p = &list->port[i];

		if (wanted->port && wanted->port != p->port)
			continue;
		if (!first || (first->open_errno && !p->open_errno)) /* another container's */
			first = p;
		if (!hca_is_usable(p))
			continue;
		if (!active)
			active = p;
		else
			which = "first";
		if (netdev[0] && hca_has_netdev(p, netdev)) {
			snprintf(reason, size, "on %s, which leads to the peer", netdev);
			return p;
		}
	}
	if (active)
		snprintf(reason, size, "the %s ACTIVE port%s%s%s", which, netdev[0] ? "; " : "",
			 netdev, netdev[0] ? ", which leads to the peer, has no RDMA device" : "");
	if (!first)
		raise_no_match(list, wanted, false, f);
	else if (active || !hca_check_usable(first, f))
		return active ? active : first;
	return NULL;
}

/* The user named a device: choose its port. */
static const struct hca_port *choose_named(const struct hca_list *list,
					   const struct hca_attr *wanted, const struct ifaddrs *all,
					   char *reason, size_t size, struct fault *f)
{
	const struct hca_port *best = NULL;
	bool known = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct hca_port *p = &list->port[i];
		const char *how = match_port(p, wanted->device, all);

		known |= how != NULL;
		if (!how || (wanted->port && wanted->port != p->port))
			continue;
		/* Without -i prefer an ACTIVE port to the first one. */
		if (best && (best->port_attr.state == IBV_PORT_ACTIVE ||
			     p->port_attr.state != IBV_PORT_ACTIVE))
			continue;
		best = p;
		snprintf(reason, size, "%s with -d", how);
	}
	if (best && !hca_check_usable(best, f))
		return best;
	if (!best)
		raise_no_match(list, wanted, known, f);
	return NULL;
}

const struct hca_port *hca_choose(const struct hca_list *list, const struct hca_attr *wanted,
				  char *reason, size_t size, struct fault *f)
{
	const struct hca_port *port = NULL;
	struct ifaddrs *all = NULL;

	fault_phase(f, PHASE_DEVICE);
	snprintf(reason, size, "%s", "");
	if (!list->count)
		reach_none(0, f);
	else if (getifaddrs(&all) && errno == ENOMEM) /* else it would be another port */
		fault_raise(f, FAULT_LOCAL, ENOMEM, "getifaddrs");
	else
		port = (wanted->device ? choose_named : choose_for_peer)(list, wanted, all, reason,
									 size, f);
	freeifaddrs(all);
	return port;
}

#define FIRST_MULTICAST_LID 0xc000
#define VIRTUAL_FIX                                                                            \
	"set GUIDs and the link's policy on the host, as a virtual function needs (mlx5: in "    \
	"sriov/N, where /sys has the physical function), and load its driver again"

/* phys_state is PortPhysicalState of the InfiniBand specification. */
enum {
	DISABLED = 3,
	LINK_UP = 5,
	PHYSICAL = 8,
};

static const struct {
	const char *cause, *fix;
	const char *ethernet; /* the fix there; NULL: the same */
} physical[PHYSICAL] = {
	{"The link is physically down", "check cable, transceiver and switch port"},
	{"The link sleeps (phys_state Sleep)", "wake it: ibportstate, or mlxlink"},
	{"The link is physically down: nothing answers at its other end (phys_state Polling)",
	 "check cable, transceiver and switch port"},
	[DISABLED] = {"The port is disabled (phys_state Disabled)",
		      "enable it: ibportstate, or mlxlink; if it is a virtual function, set its "
		      "link's policy on the host"},
	{"The link is being trained, and does not come up (phys_state Training)",
	 "check cable and transceivers, and which speeds both ends allow"},
	[LINK_UP] = {"The link is physically up (phys_state LinkUp), the port is not",
		     "if it is a virtual function, set GUIDs and the link's policy on the host; "
		     "else the subnet manager's log says why",
		     "check dmesg: its driver keeps the port down"},
	{"The link has errors, and is trained again (phys_state LinkErrorRecovery)",
	 "replace cable and transceivers, one after the other"},
	{"The link is in a test mode (phys_state Phy Test)", "end the test: mlxlink"},
};

const char *hca_state_name(const struct hca_port *p)
{
	static const char *const names[] = {"NOP",   "DOWN",   "INIT",
					    "ARMED", "ACTIVE", "ACTIVE_DEFER"};
	enum ibv_port_state state = p->port_attr.state;

	return state <= IBV_PORT_ACTIVE_DEFER ? names[state] : "?";
}

const char *hca_zero_guid(const struct hca_port *p)
{
	if (!p->attr.node_guid && p->fabric != FABRIC_EFA) /* which has none */
		return "node";
	for (size_t i = 0; i < p->gid_count; i++)
		if (p->fabric == FABRIC_INFINIBAND && !p->gids[i].index &&
		    !p->gids[i].raw.global.interface_id)
			return "port";
	return NULL;
}

/* The link is up, and no subnet manager has configured P. ZERO: which GUID is 0, or "". */
static int explain_unconfigured(const struct hca_port *p, const char *zero, struct fault *f)
{
	char sm[40] = "No subnet manager is known", has[16] = "no LID";
	unsigned lid = p->port_attr.lid;

	if (!p->port_attr.sm_lid && !zero[0]) {
		fault_cause(f, "The link is up, but no subnet manager has configured the port");
		return fault_fix(f,
				 "start a subnet manager: opensm on one host, or the switch's own");
	}
	if (p->port_attr.sm_lid)
		snprintf(sm, sizeof(sm), "SM LID %u is known", p->port_attr.sm_lid);
	if (lid && lid < FIRST_MULTICAST_LID)
		snprintf(has, sizeof(has), "LID %u", lid);
	fault_cause(f, "%s, this port has %s%s", sm, has, zero);
	return fault_fix(f, "%s",
			 zero[0] ? VIRTUAL_FIX
				 : "the subnet manager's log says why; does it still run (sminfo)?");
}

/* A driver of an Ethernet port knows little more than its netdev. */
static int explain_netdev(const struct hca_port *p, struct fault *f)
{
	const char *name = p->netdev[0] ? p->netdev : "NETDEV";
	const char *its = p->netdev[0] ? p->netdev : "(not visible here)";

	if (p->port_attr.state > IBV_PORT_DOWN) { /* iWARP */
		fault_cause(f, "The link is up, but its netdev %s has no IPv4 address", its);
		return fault_fix(f, "ip address add ADDRESS dev %s", name);
	}
	fault_cause(f, "Its netdev %s has no carrier or is not up", its);
	return fault_fix(f, "ip link set %s up; check cable and switch port", name);
}

/* Raise FAULT_LOCAL: P is not ACTIVE, and why. Returns -1. */
static int raise_not_active(const struct hca_port *p, struct fault *f)
{
	bool subnet = p->fabric == FABRIC_INFINIBAND, up = p->port_attr.state > IBV_PORT_DOWN;
	unsigned i = p->port_attr.phys_state < PHYSICAL ? p->port_attr.phys_state : 0;
	const char *guid = hca_zero_guid(p), *fix = physical[i].fix;
	char zero[32] = "";

	fault_raise(f, FAULT_LOCAL, 0, "%s port %u is %s", p->device, p->port, hca_state_name(p));
	if (!subnet && (up || i == DISABLED || !i))
		return explain_netdev(p, f);
	if (guid)
		snprintf(zero, sizeof(zero), ", its %s GUID is 0", guid);
	if (up)
		return explain_unconfigured(p, zero, f);
	if (!subnet && physical[i].ethernet)
		fix = physical[i].ethernet;
	else if (guid && (i == LINK_UP || i == DISABLED))
		fix = VIRTUAL_FIX;
	if (p->fabric == FABRIC_EFA)
		fix = "check dmesg, and the instance's EFA interface";
	fault_cause(f, "%s%s", physical[i].cause, zero);
	return fault_fix(f, "%s", fix);
}

bool hca_is_usable(const struct hca_port *p)
{
	return !p->open_errno && p->port_attr.state == IBV_PORT_ACTIVE &&
	       (p->gid_count || !hca_needs_gid(p));
}

int hca_check_usable(const struct hca_port *p, struct fault *f)
{
	if (hca_is_usable(p))
		return 0;
	if (p->open_errno)
		return reach_refused(p->device, p->open_errno, f);
	if (p->port_attr.state != IBV_PORT_ACTIVE)
		return raise_not_active(p, f);
	fault_raise(f, FAULT_UNAVAILABLE, 0,
		    "every GID of %s is zero: its netdev is in another network namespace, or has "
		    "no address",
		    p->device);
	return fault_fix(f,
			 "run in the namespace of the netdev: move it here (ip link set NETDEV "
			 "netns NAME), or use the host's network (Kubernetes: hostNetwork); else "
			 "give it an IP address");
}

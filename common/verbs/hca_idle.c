// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why a port is not ACTIVE: its state, together with phys_state, LIDs and GUIDs. */
#include "verbs/hca.h"

#include <stdio.h>

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

int hca_raise_not_active(const struct hca_port *p, struct fault *f)
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

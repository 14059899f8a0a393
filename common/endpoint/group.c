// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * -g: the two ends' multicast groups. Each end receives from its own, so that none hears itself.
 * The client chooses both: they differ in the last bit, so the server finds its own from the
 * client's, which it is told as the client's address. Each thread has a pair of groups.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/phase.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"

static union ibv_gid others_group(union ibv_gid group)
{
	group.raw[15] ^= 1;
	return group;
}

int endpoint_choose_groups(struct endpoint *ep)
{
	if (!ep->options->experiment.mcg ||
	    getrandom(&ep->group_number, sizeof(ep->group_number), 0) >= 0)
		return 0;
	return fault_raise(ep->fault, FAULT_LOCAL, errno, "getrandom()");
}

int endpoint_check_group(const struct endpoint *ep, const struct hca_port *p)
{
	bool has_groups = p->fabric == FABRIC_ROCE && p->attr.max_mcast_grp > 0;
	uint64_t qps = ep->options->experiment.mcg;
	struct fault *f = ep->fault;

	if (!qps || (has_groups && (uint64_t)p->attr.max_mcast_qp_attach >= qps))
		return 0;
	if (has_groups)
		return fault_usage(f, "use fewer",
				   "-g/--mcg %u: %s attaches at most %d QPs to a multicast group",
				   (unsigned)qps, p->device, p->attr.max_mcast_qp_attach);
	fault_raise(f, FAULT_UNAVAILABLE, 0, "-g/--mcg cannot be used on %s port %u, which is %s",
		    p->device, p->port, fabric_row(p->fabric)->name);
	if (p->fabric == FABRIC_ROCE)
		fault_cause(f, "The device has no multicast groups");
	else
		fault_cause(f, "%s",
			    p->fabric == FABRIC_INFINIBAND
				    ? "Joining a group there needs the subnet manager, "
				      "which rdmark does not ask"
				    : "It has no datagrams");
	return fault_fix(f, "choose a port with RoCE and multicast (-d); on InfiniBand use "
			    "perftest's ib_send_bw -g");
}

/* The server's group for T: by -M, or at random, so that no other pair has it. */
static int choose_group(struct worker *t, union ibv_gid *group)
{
	const char *text = t->ep->options->local.mgid;
	bool ipv4 = multicast_is_ipv4(&t->rail->gid);
	char gid[64];
	uint32_t low;

	*group = multicast_default(ipv4, t->ep->group_number + 2 * t->index);
	if (text) {
		multicast_parse(text, group);
		memcpy(&low, group->raw + 12, sizeof(low));
		low = htonl(ntohl(low) + 2 * t->index);
		memcpy(group->raw + 12, &low, sizeof(low));
	}
	if (multicast_is_group(group) && multicast_is_ipv4(group) == ipv4)
		return 0;
	fault_raise(&t->fault, FAULT_USAGE, 0, "-M/--MGID %s cannot be used with the GID %s", text,
		    gid_format(&t->rail->gid, gid, sizeof(gid)));
	return fault_fix(&t->fault,
			 ipv4 ? "give an IPv4 group, such as 239.255.1.2, or choose IPv6 "
				"GIDs with --ipv6"
			      : "give an IPv6 group, such as ff15::1:2, or choose IPv4 "
				"GIDs with -x");
}

/* If T receives, have its QPs join its own group. */
static int join_own(struct worker *t)
{
	const struct hca_port *p = &t->rail->hca.info;
	unsigned ifindex = 0;

	for (size_t i = 0; i < p->gid_count; i++)
		if (p->gids[i].index == t->rail->route.gid_index)
			ifindex = p->gids[i].ifindex;
	fault_phase(&t->fault, PHASE_JOIN);
	return t->qps.rx_depth ? multicast_join(&t->qps.multicast, &t->mine.gid, ifindex, t->qps.qp,
						t->qps.count, &t->fault)
			       : 0;
}

int worker_group_make(struct worker *t)
{
	union ibv_gid group;

	if (!t->ep->options->experiment.mcg || t->ep->server)
		return 0;
	if (choose_group(t, &group))
		return -1;
	t->mine.gid = others_group(group);
	return join_own(t);
}

int worker_group_connect(struct worker *t)
{
	union ibv_gid told = others_group(t->theirs.gid), group;
	char theirs[64];

	if (!t->ep->options->experiment.mcg)
		return 0;
	gid_format(&told, theirs, sizeof(theirs));
	if (!multicast_is_group(&told) ||
	    (!t->ep->server && memcmp(&told, &t->mine.gid, sizeof(told)) != 0))
		return fault_raise(&t->fault, FAULT_PEER, 0,
				   "the peer's multicast group does not fit: %s", theirs);
	if (!t->ep->server)
		return 0;
	t->mine.gid = told;
	if (!t->ep->options->local.mgid)
		return join_own(t);
	if (choose_group(t, &group))
		return -1;
	if (memcmp(&told, &group, sizeof(told)) == 0)
		return join_own(t);
	fault_raise(&t->fault, FAULT_USAGE, 0, "-M/--MGID %s: the client's group is %s",
		    t->ep->options->local.mgid, theirs);
	return fault_fix(&t->fault, "give both ends the same -M, or only the client");
}

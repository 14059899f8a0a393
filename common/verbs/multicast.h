/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * multicast: the group that an end's QPs receive datagrams from, on RoCE. No subnet manager is
 * needed there: the QPs are attached to the group's GID, and a socket joins the IP group of that
 * address, so that switches forward it (IGMP, MLD) and the kernel passes soft-RoCE its packets.
 * Zeroed: no group.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/fault.h"

#define MULTICAST_QPN 0xffffffu /* InfiniBand Architecture Specification 1, 10.5.1 */

struct multicast {
	union ibv_gid group;
	unsigned attached; /* of the QPs, the first */
	bool joined;       /* by the socket */
	int socket;
};

/* The group TEXT: an IP address, or 16 numbers as perftest's. Returns 0, or -EINVAL. */
int multicast_parse(const char *text, union ibv_gid *group);

/* A group of IPv4, or of IPv6, for a NUMBER: 16 bits of it count. */
union ibv_gid multicast_default(bool ipv4, uint32_t number);

bool multicast_is_ipv4(const union ibv_gid *gid);
bool multicast_is_group(const union ibv_gid *gid);

/*
 * Attach the COUNT QPs to GROUP, on the netdev IFINDEX (0: none in this namespace). Returns 0, or
 * -1 with the fault raised; multicast_leave() is due in both cases, before the QPs are destroyed.
 */
int multicast_join(struct multicast *m, const union ibv_gid *group, unsigned ifindex,
		   struct ibv_qp **qp, unsigned count, struct fault *f);
void multicast_leave(struct multicast *m, struct ibv_qp **qp);

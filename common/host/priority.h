/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * priority: which of Ethernet's eight priorities the RoCE packets of a run have at a port. Pause
 * frames stop each priority by itself. Nothing is raised. No state; any thread may call.
 */
#pragma once

#include "host/dcb.h"

/* What the packets of a QP are told to have. */
struct priority_packets {
	int gid_index;      /* negative: unknown */
	int tos;            /* negative: unknown, or the packets have none (RoCE v1) */
	int sl;             /* negative: unknown */
};

/*
 * Their priority at PORT ("class/infiniband/mlx5_0/ports/1"), whose interface NETDEV has PFC; -1:
 * not known for sure.
 */
int priority_of(const struct priority_packets *p, const char *port, const char *netdev,
		const struct dcb_pfc *pfc);

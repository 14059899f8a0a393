/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dcb: priority flow control (PFC) of a network interface and the priorities of its DSCPs, from any
 * driver, by netlink; and which priority the RoCE packets of a run have. Any user may ask, but only
 * for an interface in this network namespace. Nothing is raised. No state; any thread may call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DCB_PRIORITIES 8
#define DCB_DSCPS      64

struct dcb_pfc {
	uint8_t enabled;                      /* bit N: priority N has PFC */
	uint64_t requests[DCB_PRIORITIES];    /* pause frames sent */
	uint64_t indications[DCB_PRIORITIES]; /* pause frames received */
	bool has_dscp;                        /* some DSCP has a priority */
	int8_t dscp[DCB_DSCPS];               /* its priority; negative: none, or several */
};

/* Ask for NETDEV's. Returns 0 or -errno (then *PFC has none): -EOPNOTSUPP if it has none. */
int dcb_read_pfc(struct dcb_pfc *pfc, const char *netdev);

/* Parse SIZE bytes that netlink answered. Returns as dcb_read_pfc(): -EBADMSG if they make no sense. */
int dcb_parse_pfc(struct dcb_pfc *pfc, const void *reply, size_t size);

/* What the packets of a QP are told to have. */
struct priority_packets {
	int gid_index;      /* negative: unknown */
	int tos;            /* negative: unknown, or the packets have none (RoCE v1) */
	int sl;             /* negative: unknown */
};

/*
 * Which of Ethernet's priorities they have, each of which pause frames stop by itself, at PORT
 * ("class/infiniband/mlx5_0/ports/1"), whose interface NETDEV has PFC; -1: not known for sure.
 */
int priority_of(const struct priority_packets *p, const char *port, const char *netdev,
		const struct dcb_pfc *pfc);

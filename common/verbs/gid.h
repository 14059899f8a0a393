/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gid: the fabrics, how GIDs address their ends; GID table entries, their kinds, the choice of one.
 *
 * Both ends of a RoCE connection must use the same kind. The client offers its kinds in order of
 * preference; the server takes the first one that it has, too. Pure functions on a table, without
 * verbs.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* What carries a port's packets, by its link layer and its device's transport. */
enum fabric {
	FABRIC_INFINIBAND,
	FABRIC_ROCE,
	FABRIC_IWARP, /* over Ethernet; connected only by rdma_cm */
	FABRIC_EFA,   /* Amazon's; without connections */
	FABRICS
};

/* In order of preference. */
enum gid_kind {
	GID_V2_IPV4,
	GID_V2_IPV6,
	GID_V2_LINK_LOCAL,
	GID_V1,
	GID_IB,
	GID_IWARP, /* a MAC address; no packet is sent to it */
	GID_EFA,
	GID_KINDS
};

/* A fabric, and its rule for GIDs. */
struct fabric_row {
	const char *name, *link; /* "RoCE"; of its link layer: "Ethernet" */
	bool needs_gid;          /* else only where the port requires it, or -x names one */
	bool shows_gid;          /* a port's is told, although no packet goes by it */
	enum gid_kind kind;      /* of all its GIDs; GID_KINDS: of several, and the ends agree */
};

const struct fabric_row *fabric_row(enum fabric fabric);

struct gid {
	int index;
	enum gid_kind kind;
	uint32_t ifindex; /* of its netdev; 0: none in this network namespace */
	union ibv_gid raw;
};

/* "RoCE v2 IPv4", "RoCE v2 IPv6", … Static storage. */
const char *gid_kind_name(enum gid_kind kind);

/* The kind of RAW on a fabric, whose table entry has TYPE (IBV_GID_TYPE_…). */
enum gid_kind gid_kind_of(enum fabric fabric, const union ibv_gid *raw, uint32_t type);

/* Write RAW as "192.0.2.1" if it is a mapped IPv4 address, otherwise in IPv6 form. Returns BUF. */
const char *gid_format(const union ibv_gid *raw, char *buf, size_t size);

/*
 * Convert the socket address SA to a GID, IPv4 as a mapped address. False if it is NULL or of
 * another family.
 */
bool gid_of_address(union ibv_gid *raw, const struct sockaddr *sa);

/* True if RAW is that socket address; false if SA is NULL. */
bool gid_is_address(const union ibv_gid *raw, const struct sockaddr *sa);

/*
 * List the kinds in the table, the best first. The kind of the entry that equals LOCAL (this end of
 * the TCP connection, may be NULL) comes before all others. Returns their number.
 */
size_t gid_kinds(const struct gid *table, size_t count, const struct sockaddr *local,
		 enum gid_kind kinds[GID_KINDS]);

/*
 * Remove the kinds without an IPv6 address from the N kinds; the order stays. Returns the number
 * left.
 */
size_t gid_kinds_ipv6(enum gid_kind kinds[GID_KINDS], size_t n);

/* The table's entry of KIND that equals LOCAL, otherwise the first one of KIND; NULL: none. */
const struct gid *gid_pick(const struct gid *table, size_t count, enum gid_kind kind,
			   const struct sockaddr *local);

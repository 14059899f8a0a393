/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gid: GID table entries, what kind each is, and which to use.
 *
 * Both ends of a RoCE connection must use the same kind. The client offers its kinds in order of
 * preference; the server takes the first that it has too. Pure functions over a table, no verbs.
 */
#ifndef RDMARK_VERBS_GID_H
#define RDMARK_VERBS_GID_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* In order of preference. */
enum gid_kind {
	GID_V2_IPV4,
	GID_V2_IPV6,
	GID_V2_LINK_LOCAL,
	GID_V1,
	GID_IB,
	GID_KINDS
};

struct gid {
	int index;
	enum gid_kind kind;
	uint32_t ifindex; /* of the netdev that it belongs to, 0: none */
	union ibv_gid raw;
};

/* "RoCE v2 IPv4", "RoCE v2 IPv6", … Static storage. */
const char *gid_kind_name(enum gid_kind kind);

/* The kind of a raw GID whose table entry says TYPE (IBV_GID_TYPE_…). */
enum gid_kind gid_kind_of(const union ibv_gid *raw, uint32_t type);

/* "192.0.2.1" for a mapped IPv4 address, else the IPv6 form. Returns BUF. */
const char *gid_format(const union ibv_gid *raw, char *buf, size_t size);

/* True if RAW is the socket address SA (IPv4, IPv6); false if SA is NULL. */
bool gid_is_address(const union ibv_gid *raw, const struct sockaddr *sa);

/*
 * The kinds that the table has, best first: the kind of the entry that is LOCAL (this end of the
 * TCP connection, may be NULL) leads. Returns how many.
 */
size_t gid_kinds(const struct gid *table, size_t count, const struct sockaddr *local,
		 enum gid_kind kinds[GID_KINDS]);

/* Of N kinds leave those with an IPv6 address, in the same order. Returns how many. */
size_t gid_kinds_ipv6(enum gid_kind kinds[GID_KINDS], size_t n);

/* Entry of KIND to use: the one that is LOCAL, else the first; NULL if there is none. */
const struct gid *gid_pick(const struct gid *table, size_t count, enum gid_kind kind,
			   const struct sockaddr *local);

#endif

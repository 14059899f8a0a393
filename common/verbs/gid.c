// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/gid.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

const struct fabric_row *fabric_row(enum fabric fabric)
{
	static const struct fabric_row rows[FABRICS] = {
		[FABRIC_INFINIBAND] = {"InfiniBand", "InfiniBand", .kind = GID_IB},
		[FABRIC_ROCE] = {"RoCE", "Ethernet", .needs_gid = true, .kind = GID_KINDS},
		[FABRIC_IWARP] = {"iWARP", "Ethernet", .shows_gid = true, .kind = GID_IWARP},
		[FABRIC_EFA] = {"EFA", "EFA", .needs_gid = true, .kind = GID_EFA},
	};

	return &rows[fabric];
}

const char *gid_kind_name(enum gid_kind kind)
{
	static const char *const name[] = {"RoCE v2 IPv4", "RoCE v2 IPv6", "RoCE v2 link-local",
					   "RoCE v1",      "IB",           "iWARP",
					   "EFA"};

	return (unsigned)kind < GID_KINDS ? name[kind] : "unknown";
}

enum gid_kind gid_kind_of(enum fabric fabric, const union ibv_gid *raw, uint32_t type)
{
	const struct in6_addr *a = (const struct in6_addr *)raw->raw;
	enum gid_kind only = fabric_row(fabric)->kind;

	if (only != GID_KINDS || type == IBV_GID_TYPE_IB)
		return only != GID_KINDS ? only : GID_IB;
	if (type == IBV_GID_TYPE_ROCE_V1)
		return GID_V1;
	if (IN6_IS_ADDR_V4MAPPED(a))
		return GID_V2_IPV4;
	return IN6_IS_ADDR_LINKLOCAL(a) ? GID_V2_LINK_LOCAL : GID_V2_IPV6;
}

const char *gid_format(const union ibv_gid *raw, char *buf, size_t size)
{
	bool mapped = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)raw->raw);

	if (!inet_ntop(mapped ? AF_INET : AF_INET6, raw->raw + (mapped ? 12 : 0), buf,
		       (socklen_t)size))
		snprintf(buf, size, "?");
	return buf;
}

bool gid_of_address(union ibv_gid *raw, const struct sockaddr *sa)
{
	*raw = (union ibv_gid){.raw = {[10] = 0xff, [11] = 0xff}};
	if (sa && sa->sa_family == AF_INET)
		memcpy(raw->raw + 12, &((const struct sockaddr_in *)sa)->sin_addr, 4);
	else if (sa && sa->sa_family == AF_INET6)
		memcpy(raw->raw, &((const struct sockaddr_in6 *)sa)->sin6_addr, 16);
	else
		return false;
	return true;
}

bool gid_is_address(const union ibv_gid *raw, const struct sockaddr *sa)
{
	union ibv_gid gid;

	return gid_of_address(&gid, sa) && memcmp(raw->raw, gid.raw, 16) == 0;
}

size_t gid_kinds(const struct gid *table, size_t count, const struct sockaddr *local,
		 enum gid_kind kinds[GID_KINDS])
{
	bool have[GID_KINDS] = {false};
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		have[table[i].kind] = true;
		/* The kind of LOCAL's GID comes first, once: v1 and v2 entries share an address. */
		if (n == 0 && table[i].kind != GID_V1 && gid_is_address(&table[i].raw, local))
			kinds[n++] = table[i].kind;
	}
	for (unsigned k = 0; k < GID_KINDS; k++)
		if (have[k] && (n == 0 || kinds[0] != (enum gid_kind)k))
			kinds[n++] = (enum gid_kind)k;
	return n;
}

size_t gid_kinds_ipv6(enum gid_kind kinds[GID_KINDS], size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (kinds[i] == GID_V2_IPV6 || kinds[i] == GID_V2_LINK_LOCAL)
			kinds[left++] = kinds[i];
	return left;
}

const struct gid *gid_pick(const struct gid *table, size_t count, enum gid_kind kind,
			   const struct sockaddr *local)
{
	const struct gid *first = NULL;

	for (size_t i = 0; i < count; i++) {
		if (table[i].kind != kind)
			continue;
		if (gid_is_address(&table[i].raw, local))
			return &table[i];
		if (!first)
			first = &table[i];
	}
	return first;
}

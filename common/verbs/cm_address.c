// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cm_address(): which IP address leads to an RDMA device. */
#include "verbs/cm.h"

#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

const char *cm_address_format(const struct sockaddr *address, char *buf, size_t size)
{
	socklen_t len = address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						       : sizeof(struct sockaddr_in);

	if (getnameinfo(address, len, buf, (socklen_t)size, NULL, 0, NI_NUMERICHOST))
		snprintf(buf, size, "?");
	return buf;
}

/* The same address, whatever the ports. */
static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->sa_family == AF_INET6 && IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}

static bool is_link_local(const struct sockaddr *a)
{
	const struct sockaddr_in6 *v6 = (const void *)a;

	return a->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr);
}

/* Without a port: any free one. */
static void take(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	if (from->sa_family == AF_INET) {
		memcpy(to, from, sizeof(struct sockaddr_in));
		((struct sockaddr_in *)to)->sin_port = 0;
	} else {
		memcpy(to, from, sizeof(struct sockaddr_in6));
		((struct sockaddr_in6 *)to)->sin6_port = 0;
	}
}

/* How well the address A of one interface fits; 0: not at all. */
static int fitness(const struct ifaddrs *a, const struct hca_port *port, const union ibv_gid *gid,
		   const struct sockaddr *local)
{
	bool netdev = port->netdev[0] && strcmp(a->ifa_name, port->netdev) == 0;

	if (gid_is_address(gid, a->ifa_addr))
		return netdev ? 5 : 4;
	if (!netdev)
		return 0;
	if (local && same_address(local, a->ifa_addr))
		return 3;
	return is_link_local(a->ifa_addr) ? 1 : 2;
}

bool cm_address(const struct hca_port *port, const union ibv_gid *gid, const struct sockaddr *local,
		int family, const struct ifaddrs *list, struct sockaddr_storage *address)
{
	int best = 0;

	memset(address, 0, sizeof(*address));
	for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
		int fits;

		if (!a->ifa_addr ||
		    (a->ifa_addr->sa_family != AF_INET && a->ifa_addr->sa_family != AF_INET6) ||
		    (family != AF_UNSPEC && a->ifa_addr->sa_family != family))
			continue;
		fits = fitness(a, port, gid, local);
		if (fits > best) {
			best = fits;
			take(address, a->ifa_addr);
		}
	}
	return best > 0;
}

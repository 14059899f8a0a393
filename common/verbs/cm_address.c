// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The IP addresses by which rdma_cm finds an RDMA device, and the server. */
#include "verbs/cm.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "verbs/hca.h"

const char *cm_address_format(const struct sockaddr *address, char *buf, size_t size)
{
	socklen_t len = address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						       : sizeof(struct sockaddr_in);

	if (getnameinfo(address, len, buf, (socklen_t)size, NULL, 0, NI_NUMERICHOST))
		snprintf(buf, size, "?");
	return buf;
}

static bool is_link_local(const struct sockaddr *a)
{
	const struct sockaddr_in6 *v6 = (const void *)a;

	return a->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr);
}

/* Copy an address with port 0, which means any free port; the port is at the same offset in both
 * families. */
static void copy_address(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from,
	       from->sa_family == AF_INET ? sizeof(struct sockaddr_in)
					  : sizeof(struct sockaddr_in6));
	((struct sockaddr_in *)to)->sin_port = 0;
}

/* Rate address A of one interface for PORT; the highest is best, 0 means unusable. In order: the
 * GID's, LOCAL if on PORT's netdev, routable, link-local. */
static int rate_address(const struct ifaddrs *a, const struct hca_port *port,
			const union ibv_gid *gid, const struct sockaddr *local)
{
	bool netdev = hca_has_netdev(port, a->ifa_name);
	union ibv_gid mine;

	if (gid_is_address(gid, a->ifa_addr))
		return netdev ? 5 : 4;
	if (!netdev)
		return 0;
	if (gid_of_address(&mine, local) && gid_is_address(&mine, a->ifa_addr))
		return 3;
	return is_link_local(a->ifa_addr) ? 1 : 2;
}

/* LOCAL: this end's address of the TCP connection, or NULL. */
bool cm_address(const struct hca_port *port, const union ibv_gid *gid, const struct sockaddr *local,
		int family, const struct ifaddrs *list, struct sockaddr_storage *address)
{
	int best = 0;

	memset(address, 0, sizeof(*address));
	for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
		int rating;

		if (!a->ifa_addr ||
		    (a->ifa_addr->sa_family != AF_INET && a->ifa_addr->sa_family != AF_INET6) ||
		    (family != AF_UNSPEC && a->ifa_addr->sa_family != family))
			continue;
		rating = rate_address(a, port, gid, local);
		if (rating > best) {
			best = rating;
			copy_address(address, a->ifa_addr);
		}
	}
	/* an iWARP port without a known netdev has no address in LIST */
	if (best || !local || port->fabric != FABRIC_IWARP || port->netdev[0] ||
	    (family != AF_UNSPEC && family != local->sa_family))
		return best > 0;
	/* rdma_cm checks later whether LOCAL belongs to the port */
	copy_address(address, local);
	return true;
}

int cm_aim(struct cm *c, const char *address, uint16_t tcp_port, uint64_t token, struct fault *f)
{
	struct sockaddr_in *v4 = (void *)&c->peer;
	struct sockaddr_in6 *v6 = (void *)&c->peer;

	c->token = token;
	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1)
		v4->sin_family = AF_INET;
	else if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1)
		v6->sin6_family = AF_INET6;
	else
		return fault_raise(f, FAULT_PEER, 0,
				   "the server listens on '%.50s', which is not an IP address",
				   address);
	v4->sin_port = htons(tcp_port); /* at the same offset as sin6_port */
	if (v6->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
		v6->sin6_scope_id = if_nametoindex(c->device->netdev);
	cm_address_format((struct sockaddr *)&c->peer, c->peer_name, sizeof(c->peer_name));
	return 0;
}

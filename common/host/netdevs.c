// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/netdevs.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "host/sysfs.h"

static bool is_routable(const struct sockaddr *sa)
{
	const struct in6_addr *v6 = &((const struct sockaddr_in6 *)sa)->sin6_addr;
	uint32_t v4;

	if (sa->sa_family == AF_INET6)
		return !IN6_IS_ADDR_LOOPBACK(v6) && !IN6_IS_ADDR_LINKLOCAL(v6);
	v4 = ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr);
	return v4 >> 24 != 127 && v4 >> 16 != 0xa9fe; /* 127.0.0.0/8, 169.254.0.0/16 */
}

/* Add the address SA of NAME. */
static void add_address(struct netdevs *n, const char *name, const struct sockaddr *sa)
{
	size_t at = 0;

	while (at < n->count && strcmp(n->list[at].name, name) != 0)
		at++;
	if (at == NETDEVS_MAX)
		return;
	if (at == n->count) {
		n->list[n->count++] = (struct netdev){
			.hardware = sysfs_exists("class/net/%s/device", name) ||
				    sysfs_exists("class/net/%s/bonding", name),
		};
		snprintf(n->list[at].name, sizeof(n->list[at].name), "%s", name);
	}
	n->list[at].routable |= is_routable(sa);
}

int netdevs_read(struct netdevs *n)
{
	struct ifaddrs *all;

	n->count = 0;
	if (getifaddrs(&all))
		return errno == ENOMEM ? -ENOMEM : 0;
	for (struct ifaddrs *i = all; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_flags & IFF_UP && i->ifa_flags & IFF_RUNNING &&
		    (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6))
			add_address(n, i->ifa_name, i->ifa_addr);
	freeifaddrs(all);
	return 0;
}

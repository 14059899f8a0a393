// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/multicast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs/gid.h"
#include "verbs/vfault.h"

/* Each with 16 bits that are free. */
#define IPV4_DEFAULT "239.255.0.0"  /* administratively scoped, RFC 2365 */
#define IPV6_DEFAULT "ff15::7264:0" /* transient, of the site */

bool multicast_is_ipv4(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)gid->raw);
}

bool multicast_is_group(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xff || (multicast_is_ipv4(gid) && gid->raw[12] >> 4 == 0xe);
}

/* 16 numbers, decimal or 0x, with colons between them. */
static int parse_numbers(const char *text, union ibv_gid *group)
{
	for (int i = 0; i < 16; i++) {
		char *end;
		unsigned long n = strtoul(text, &end, 0);

		if (*text < '0' || *text > '9' || n > UINT8_MAX || *end != (i < 15 ? ':' : '\0'))
			return -EINVAL;
		group->raw[i] = (uint8_t)n;
		text = end + 1;
	}
	return 0;
}

int multicast_parse(const char *text, union ibv_gid *group)
{
	memset(group, 0, sizeof(*group));
	if (inet_pton(AF_INET, text, group->raw + 12) == 1)
		group->raw[10] = group->raw[11] = 0xff;
	else if (inet_pton(AF_INET6, text, group->raw) != 1 && parse_numbers(text, group))
		return -EINVAL;
	return multicast_is_group(group) ? 0 : -EINVAL;
}

union ibv_gid multicast_default(bool ipv4, uint32_t number)
{
	union ibv_gid group;

	multicast_parse(ipv4 ? IPV4_DEFAULT : IPV6_DEFAULT, &group);
	group.raw[14] = (uint8_t)(number >> 8);
	group.raw[15] = (uint8_t)number;
	return group;
}

/* Join the IP group of M on IFINDEX. */
static int join_ip(struct multicast *m, unsigned ifindex, struct fault *f)
{
	bool ipv4 = multicast_is_ipv4(&m->group);
	struct group_req request = {.gr_interface = ifindex};
	struct sockaddr_in *in = (struct sockaddr_in *)&request.gr_group;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&request.gr_group;
	char gid[64];

	if (ipv4) {
		in->sin_family = AF_INET;
		memcpy(&in->sin_addr, m->group.raw + 12, sizeof(in->sin_addr));
	} else {
		in6->sin6_family = AF_INET6;
		memcpy(&in6->sin6_addr, m->group.raw, sizeof(in6->sin6_addr));
	}
	m->socket = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (m->socket < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "a socket for the multicast group");
	m->joined = true;
	if (setsockopt(m->socket, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, MCAST_JOIN_GROUP, &request,
		       sizeof(request)) == 0)
		return 0;
	fault_raise(f, FAULT_LOCAL, errno, "setsockopt(MCAST_JOIN_GROUP, %s) on interface %u",
		    gid_format(&m->group, gid, sizeof(gid)), ifindex);
	return fault_fix(f, "check that the port's netdev is up and has an address of that family");
}

int multicast_join(struct multicast *m, const union ibv_gid *group, unsigned ifindex,
		   struct ibv_qp **qp, unsigned count, struct fault *f)
{
	char gid[64];

	m->group = *group;
	if (ifindex && join_ip(m, ifindex, f))
		return -1;
	for (; m->attached < count; m->attached++) {
		int rc = ibv_attach_mcast(qp[m->attached], group, 0);

		if (!rc)
			continue;
		vfault_raise(f, rc, 0, "ibv_attach_mcast(QP %u of %u, %s)", m->attached + 1, count,
			     gid_format(group, gid, sizeof(gid)));
		fault_cause(f, "The device has no room for these QPs, or takes no such group");
		return fault_fix(f, "use fewer QPs with -g, or another group with -M");
	}
	return 0;
}

void multicast_leave(struct multicast *m, struct ibv_qp **qp)
{
	while (m->attached)
		ibv_detach_mcast(qp[--m->attached], &m->group, 0);
	if (m->joined)
		close(m->socket);
	m->joined = false;
}

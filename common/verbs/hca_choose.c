// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hca_choose(): which port to use, and why. Pure: looks only at the list and the interfaces. */
#include "verbs/hca.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/sysfs.h"

/* Name of the interface that has the address SA; "" if none. */
static void owner_of(const struct sockaddr *sa, char netdev[IF_NAMESIZE])
{
	struct ifaddrs *all = NULL;
	union ibv_gid raw = {.raw = {[10] = 0xff, [11] = 0xff}};

	netdev[0] = '\0';
	if (!sa || getifaddrs(&all))
		return;
	for (struct ifaddrs *a = all; a; a = a->ifa_next) {
		if (!a->ifa_addr)
			continue;
		if (a->ifa_addr->sa_family == AF_INET)
			memcpy(raw.raw + 12, &((struct sockaddr_in *)a->ifa_addr)->sin_addr, 4);
		else if (a->ifa_addr->sa_family != AF_INET6)
			continue;
		if (a->ifa_addr->sa_family == sa->sa_family &&
		    (sa->sa_family == AF_INET
			     ? gid_is_address(&raw, sa)
			     : memcmp(&((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr,
				      &((const struct sockaddr_in6 *)sa)->sin6_addr, 16) == 0)) {
			snprintf(netdev, IF_NAMESIZE, "%s", a->ifa_name);
			break;
		}
	}
	freeifaddrs(all);
}

/* IPoIB: the netdev has no GID of its own but is a function of the same PCI device. */
static bool same_pci(const struct hca_port *p, const char *netdev)
{
	char path[256];
	size_t n = strlen(p->place.pci), len;

	if (!n || sysfs_resolve(path, sizeof(path), "class/net/%s/device", netdev))
		return false;
	len = strlen(path);
	return len > n && strcmp(path + len - n, p->place.pci) == 0;
}

static bool has_netdev(const struct hca_port *p, const char *netdev)
{
	unsigned ifindex = if_nametoindex(netdev);

	for (size_t i = 0; ifindex && i < p->gid_count; i++)
		if (p->gids[i].ifindex == ifindex)
			return true;
	return (p->netdev[0] && strcmp(p->netdev, netdev) == 0) || same_pci(p, netdev);
}

static bool has_ip(const struct hca_port *p, const char *text)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	const struct sockaddr *sa = NULL;
	char netdev[IF_NAMESIZE];

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		sa = (struct sockaddr *)&v4;
	else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
		sa = (struct sockaddr *)&v6;
	if (!sa)
		return false;
	for (size_t i = 0; i < p->gid_count; i++)
		if (gid_is_address(&p->gids[i].raw, sa))
			return true;
	owner_of(sa, netdev);
	return netdev[0] && has_netdev(p, netdev);
}

static bool has_guid(const struct hca_port *p, const char *text)
{
	char digits[17];
	size_t n = 0;

	if (strncasecmp(text, "0x", 2) == 0)
		text += 2;
	for (; *text && n < 16; text++)
		if (*text != ':')
			digits[n++] = *text;
	digits[n] = '\0';
	return n == 16 && !*text && strspn(digits, "0123456789abcdefABCDEF") == 16 &&
	       strtoull(digits, NULL, 16) == p->guid;
}

static bool has_pci(const struct hca_port *p, const char *text)
{
	/* the domain may be left out: 41:00.0 */
	return p->place.pci[0] &&
	       (strcasecmp(text, p->place.pci) == 0 ||
		(strlen(p->place.pci) > 5 && strcasecmp(text, p->place.pci + 5) == 0));
}

/* How P matches the user's name for it; NULL if it does not. */
static const char *matches(const struct hca_port *p, const char *wish)
{
	if (strcmp(p->device, wish) == 0)
		return "named";
	if (p->open_errno)
		return NULL;
	if (has_netdev(p, wish))
		return "by its netdev";
	if (has_ip(p, wish))
		return "by its IP address";
	if (has_guid(p, wish))
		return "by its GUID";
	return has_pci(p, wish) ? "by its PCI address" : NULL;
}

/* Raise what a state other than ACTIVE means. */
static int not_active(const struct hca_port *p, struct fault *f)
{
	enum ibv_port_state state = p->port_attr.state;

	fault_raise(f, FAULT_LOCAL, 0, "%s port %u is %s", p->device, p->port,
		    state == IBV_PORT_DOWN    ? "DOWN"
		    : state == IBV_PORT_INIT  ? "INIT"
		    : state == IBV_PORT_ARMED ? "ARMED"
					      : "not ACTIVE");
	if (state == IBV_PORT_INIT || state == IBV_PORT_ARMED) {
		fault_cause(f, "The link is up, but no subnet manager has configured the port");
		return fault_fix(
			f, "start a subnet manager: opensm on one host, or the one in the switch");
	}
	if (p->is_ethernet && p->netdev[0]) {
		fault_cause(f, "Its netdev %s has no carrier or is not up", p->netdev);
		return fault_fix(f, "ip link set %s up; check cable and switch port", p->netdev);
	}
	fault_cause(f, "The link is physically down");
	return fault_fix(f, "check cable, transceiver and switch port");
}

static void names(const struct hca_list *list, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < list->count && n < size; i++)
		if (i == 0 || strcmp(list->port[i].device, list->port[i - 1].device) != 0)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
					      list->port[i].device);
}

static int no_device(struct fault *f)
{
	fault_raise(f, FAULT_UNAVAILABLE, 0, "there is no RDMA device on this machine");
	fault_cause(f, "/sys/class/infiniband is empty: no RDMA NIC, or its driver is not loaded");
	return fault_fix(f, "load the driver (modprobe mlx5_ib), or make a soft-RoCE device: "
			    "modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0");
}

static int no_match(const struct hca_list *list, const struct hca_wish *wish, bool device_known,
		    struct fault *f)
{
	char have[256];

	names(list, have, sizeof(have));
	if (device_known) {
		fault_raise(f, FAULT_USAGE, 0, "device '%.60s' has no port %d", wish->device,
			    wish->port);
		return fault_fix(f, "leave -i out, or see --list");
	}
	if (wish->device)
		fault_raise(f, FAULT_USAGE, 0, "there is no RDMA device '%.60s'", wish->device);
	else
		fault_raise(f, FAULT_USAGE, 0, "no RDMA device has a port %d", wish->port);
	return fault_fix(f, "use one of: %s; --list shows them all", have);
}

static int unusable(const struct hca_port *p, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, p->open_errno, "ibv_open_device(%s)", p->device);
	if (p->open_errno == EACCES || p->open_errno == EPERM)
		return fault_fix(f, "allow this user to open /dev/infiniband/uverbs*");
	fault_cause(f, "The device is there, but its verbs node or provider library is not");
	return fault_fix(f,
			 "install rdma-core's providers (ibverbs-providers); in a container pass "
			 "/dev/infiniband through");
}

static const struct hca_port *accept_port(const struct hca_port *p, struct fault *f)
{
	if (p->open_errno)
		unusable(p, f);
	else if (p->port_attr.state != IBV_PORT_ACTIVE)
		not_active(p, f);
	return fault_is(f) ? NULL : p;
}

/* No device named: the one on the route to the peer, else the first that is ACTIVE. */
static const struct hca_port *choose_auto(const struct hca_list *list, const struct hca_wish *wish,
					  char *reason, size_t size, struct fault *f)
{
	const struct hca_port *first = NULL, *active = NULL;
	char netdev[IF_NAMESIZE];

	owner_of(wish->local, netdev);
	for (size_t i = 0; i < list->count; i++) {
		const struct hca_port *p = &list->port[i];
		bool usable = !p->open_errno && p->port_attr.state == IBV_PORT_ACTIVE;

		if (wish->port && wish->port != p->port)
			continue;
		if (!first)
			first = p;
		if (!usable)
			continue;
		if (!active)
			active = p;
		if (netdev[0] && has_netdev(p, netdev)) {
			snprintf(reason, size, "it owns the route to the peer, %s", netdev);
			return p;
		}
	}
	if (active) {
		if (netdev[0])
			snprintf(
				reason, size,
				"the first ACTIVE port; %s, the way to the peer, has no RDMA device",
				netdev);
		else
			snprintf(reason, size, "the first ACTIVE port");
		return active;
	}
	if (first)
		return accept_port(first, f);
	no_match(list, wish, false, f);
	return NULL;
}

const struct hca_port *hca_choose(const struct hca_list *list, const struct hca_wish *wish,
				  char *reason, size_t size, struct fault *f)
{
	const struct hca_port *best = NULL;
	bool known = false;

	fault_phase(f, "choosing the RDMA device");
	snprintf(reason, size, "%s", "");
	if (!list->count) {
		no_device(f);
		return NULL;
	}
	if (!wish->device)
		return choose_auto(list, wish, reason, size, f);
	for (size_t i = 0; i < list->count; i++) {
		const struct hca_port *p = &list->port[i];
		const char *how = matches(p, wish->device);

		known |= how != NULL;
		if (!how || (wish->port && wish->port != p->port))
			continue;
		/* Without -i an ACTIVE port is better than the first one. */
		if (best && (best->port_attr.state == IBV_PORT_ACTIVE ||
			     p->port_attr.state != IBV_PORT_ACTIVE))
			continue;
		best = p;
		snprintf(reason, size, "%s with -d", how);
	}
	if (!best) {
		no_match(list, wish, known, f);
		return NULL;
	}
	return accept_port(best, f);
}

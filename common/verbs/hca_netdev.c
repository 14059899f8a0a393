// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hca_has_netdev(), hca_find_netdev(): find out which network interface belongs to a port. */
#include "verbs/hca.h"

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>

#include "host/sysfs.h"

#define MAC_BYTES 6

/* True if NETDEV is on the PCI device of P. That finds IPoIB, whose netdev has no GID. */
static bool is_on_same_pci_device(const struct hca_port *p, const char *netdev)
{
	char path[256];
	size_t n = strlen(p->place.pci), len;

	if (!n || sysfs_resolve(path, sizeof(path), "class/net/%s/device", netdev))
		return false;
	len = strlen(path);
	return len > n && strcmp(path + len - n, p->place.pci) == 0;
}

/*
 * iWARP: does NETDEV have the MAC address of P? The port's GID is its netdev's MAC address, and
 * rdma_cm compares them; before Linux 6.6 nothing else tells the netdev. A VLAN of the netdev has
 * the same address, and rdma_cm accepts it, too.
 */
static bool has_mac_of_port(const struct hca_port *p, const char *netdev)
{
	static const uint8_t none[MAC_BYTES];
	uint8_t mac[MAC_BYTES];
	char text[32];

	if (p->fabric != FABRIC_IWARP ||
	    sysfs_read(text, sizeof(text), "class/net/%s/address", netdev) ||
	    sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1], &mac[2], &mac[3],
		   &mac[4], &mac[5]) != MAC_BYTES ||
	    memcmp(mac, none, MAC_BYTES) == 0)
		return false;
	for (size_t i = 0; i < p->gid_count; i++)
		if (memcmp(p->gids[i].raw.raw, mac, MAC_BYTES) == 0)
			return true;
	return false;
}

bool hca_has_netdev(const struct hca_port *p, const char *netdev)
{
	unsigned ifindex = if_nametoindex(netdev);

	for (size_t i = 0; ifindex && i < p->gid_count; i++)
		if (p->gids[i].ifindex == ifindex)
			return true;
	return (p->netdev[0] && strcmp(p->netdev, netdev) == 0) ||
	       is_on_same_pci_device(p, netdev) || has_mac_of_port(p, netdev);
}

/* Is the GID G made of MAC? A default GID is, and the GID of iWARP begins with it. */
static bool is_made_of(const struct gid *g, const uint8_t mac[MAC_BYTES])
{
	const uint8_t id[8] = {mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};

	return g->kind == GID_IWARP ? memcmp(g->raw.raw, mac, MAC_BYTES) == 0
				    : memcmp(g->raw.raw + 8, id, sizeof(id)) == 0;
}

/* Has the interface at A the address of G, or the MAC address that G is made of? */
static bool has_address(const struct ifaddrs *a, const struct gid *g)
{
	const struct sockaddr_ll *link = (const struct sockaddr_ll *)a->ifa_addr;

	if (link && link->sll_family == AF_PACKET)
		return link->sll_halen == MAC_BYTES && is_made_of(g, link->sll_addr);
	return gid_is_address(&g->raw, a->ifa_addr);
}

/*
 * Is the interface IFINDEX that of GIDs of P? Where all network namespaces share the devices, one
 * may see a device whose interface is in another namespace, where the same index is another's.
 */
static bool is_here(const struct hca_port *p, const struct ifaddrs *all, unsigned ifindex)
{
	char name[IF_NAMESIZE];

	if (!if_indextoname(ifindex, name))
		return false;
	for (const struct ifaddrs *a = all; a; a = a->ifa_next)
		for (size_t i = 0; strcmp(a->ifa_name, name) == 0 && i < p->gid_count; i++)
			if (p->gids[i].ifindex == ifindex && has_address(a, &p->gids[i]))
				return true;
	return false;
}

void hca_find_netdev(struct hca_port *p)
{
	struct ifaddrs *all = NULL;

	for (size_t i = getifaddrs(&all) ? p->gid_count : 0; i < p->gid_count; i++)
		if (!is_here(p, all, p->gids[i].ifindex))
			p->gids[i].ifindex = 0;
	for (size_t i = 0; !p->netdev[0] && i < p->gid_count; i++)
		if (!if_indextoname(p->gids[i].ifindex, p->netdev))
			p->netdev[0] = '\0';
	/* Use the first one: a VLAN that inherits its MAC address was created later. */
	for (const struct ifaddrs *a = all; a && !p->netdev[0]; a = a->ifa_next)
		if (has_mac_of_port(p, a->ifa_name))
			snprintf(p->netdev, sizeof(p->netdev), "%s", a->ifa_name);
	freeifaddrs(all);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hca_has_netdev(), hca_find_netdev(): find out which network interface belongs to a port. */
#include "verbs/hca.h"

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

	if (!p->is_iwarp || sysfs_read(text, sizeof(text), "class/net/%s/address", netdev) ||
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

void hca_find_netdev(struct hca_port *p)
{
	struct if_nameindex *all = p->is_iwarp && !p->netdev[0] ? if_nameindex() : NULL;

	/* Use the first one: a VLAN that inherits its MAC address was created later. */
	for (size_t i = 0; all && all[i].if_index && !p->netdev[0]; i++)
		if (has_mac_of_port(p, all[i].if_name))
			snprintf(p->netdev, sizeof(p->netdev), "%s", all[i].if_name);
	if (all)
		if_freenameindex(all);
}

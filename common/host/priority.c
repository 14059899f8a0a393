// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/priority.h"

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/dcb.h"
#include "host/sysfs.h"

enum trust { TRUST_UNKNOWN, TRUST_PCP, TRUST_DSCP };

/*
 * What NETDEV takes the priority of a packet from. Of the kernel's drivers some have DSCPs in their
 * table only while they use them: mlx5 (mlx5e_dcbnl_dscp_app), ice and hns3. Without them mlx5 and
 * hns3 take the SL of the QP, ice something else. mlx5 of NVIDIA's own packages has a file for it.
 */
static enum trust trust_of(const char *netdev, const struct dcb_pfc *pfc)
{
	char text[256];
	const char *driver;
	bool by_sl;

	if (!sysfs_read(text, sizeof(text), "class/net/%s/qos/trust", netdev))
		return strcmp(text, "dscp") == 0  ? TRUST_DSCP
		       : strcmp(text, "pcp") == 0 ? TRUST_PCP
						  : TRUST_UNKNOWN;
	sysfs_resolve(text, sizeof(text), "class/net/%s/device/driver", netdev);
	driver = strrchr(text, '/');
	driver = driver ? driver + 1 : "";
	by_sl = strcmp(driver, "mlx5_core") == 0 || strcmp(driver, "hns3") == 0;
	if (pfc->has_dscp)
		return by_sl || strcmp(driver, "ice") == 0 ? TRUST_DSCP : TRUST_UNKNOWN;
	return by_sl ? TRUST_PCP : TRUST_UNKNOWN;
}

/* The TOS of P's packets: an administrator of mlx5 can set one for all. Negative: unknown. */
static int tos_of(const struct priority_packets *p, const char *port)
{
	const char *number = strrchr(port, '/');
	char text[64];
	int tos, rc = sysfs_read(text, sizeof(text), "%s/../../tc%s/traffic_class", port,
				 number ? number : "");

	if (rc == -ENOENT || (!rc && !text[0]))
		return p->tos;
	return sscanf(text, "Global tclass=%d", &tos) == 1 && tos > 0 && tos <= 255 ? tos : -1;
}

/* Are P's packets known to have a VLAN tag, and a priority in it? */
static bool is_tagged(const struct priority_packets *p, const char *port)
{
	char netdev[IF_NAMESIZE], text[512];
	ssize_t n;

	if (p->gid_index < 0 ||
	    sysfs_read(netdev, sizeof(netdev), "%s/gid_attrs/ndevs/%d", port, p->gid_index))
		return false;
	n = sysfs_read_raw(text, sizeof(text) - 1, "class/net/%s/uevent", netdev);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "DEVTYPE=vlan") != NULL;
}

int priority_of(const struct priority_packets *p, const char *port, const char *netdev,
		const struct dcb_pfc *pfc)
{
	int tos, sl = p->sl;

	switch (trust_of(netdev, pfc)) {
	case TRUST_DSCP:
		tos = p->tos < 0 ? -1 : tos_of(p, port);
		return tos < 0 || pfc->dscp[tos >> 2] < 0 ? -1 : pfc->dscp[tos >> 2];
	case TRUST_PCP:
		/* Without a tag the queue is the SL's, but a switch's pause is of priority 0. */
		return sl == 0 || (sl > 0 && sl < DCB_PRIORITIES && is_tagged(p, port)) ? sl : -1;
	default:
		return -1;
	}
}

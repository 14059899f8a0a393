// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/dcb.h"

#include <errno.h>
#include <limits.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "host/sysfs.h"

#define REPLY_BYTES   16384u
#define REPLY_WAIT_US 10000 /* the kernel answers within the call */

enum {
	NO_PRIORITY = -1,
	SEVERAL_PRIORITIES = -2
};

static void clear(struct dcb_pfc *pfc)
{
	memset(pfc, 0, sizeof(*pfc));
	memset(pfc->dscp, NO_PRIORITY, sizeof(pfc->dscp));
}

/* The attribute KIND among SIZE bytes at AT; NULL: there is none. */
static const struct rtattr *find_attribute(const void *at, int size, unsigned kind)
{
	const struct rtattr *a = at;

	for (; RTA_OK(a, size); a = RTA_NEXT(a, size))
		if ((a->rta_type & NLA_TYPE_MASK) == kind)
			return a;
	return NULL;
}

/* The same of those that the attribute OF consists of; NULL also without OF. */
static const struct rtattr *find_nested(const struct rtattr *of, unsigned kind)
{
	return of ? find_attribute(RTA_DATA(of), (int)RTA_PAYLOAD(of), kind) : NULL;
}

static void set_dscp(struct dcb_pfc *pfc, unsigned dscp, uint64_t priority)
{
	int8_t *to = &pfc->dscp[dscp], is = NO_PRIORITY;

	if (priority < DCB_PRIORITIES)
		is = (int8_t)priority;
	pfc->has_dscp |= is >= 0;
	*to = *to == NO_PRIORITY || *to == is ? is : SEVERAL_PRIORITIES;
}

/* Take the priorities of DSCPs from the attribute TABLE. */
static void read_table(struct dcb_pfc *pfc, const struct rtattr *table)
{
	const struct rtattr *a = RTA_DATA(table);
	int size = (int)RTA_PAYLOAD(table);

	for (; RTA_OK(a, size); a = RTA_NEXT(a, size)) {
		const struct dcb_app *app = RTA_DATA(a);

		if ((a->rta_type & NLA_TYPE_MASK) == DCB_ATTR_IEEE_APP &&
		    RTA_PAYLOAD(a) >= sizeof(*app) && app->selector == IEEE_8021QAZ_APP_SEL_DSCP &&
		    app->protocol < DCB_DSCPS)
			set_dscp(pfc, app->protocol, app->priority);
	}
}

int dcb_parse_pfc(struct dcb_pfc *pfc, const void *reply, size_t size)
{
	const struct nlmsghdr *h = reply;
	const char *at = (const char *)reply + NLMSG_HDRLEN;
	const struct rtattr *ieee, *table, *found;
	struct ieee_pfc is;
	int left, error;

	clear(pfc);
	if (size < NLMSG_HDRLEN || size > INT_MAX || h->nlmsg_len < NLMSG_HDRLEN ||
	    h->nlmsg_len > size)
		return -EBADMSG;
	left = (int)h->nlmsg_len - NLMSG_HDRLEN;
	if (h->nlmsg_type == NLMSG_ERROR && left >= (int)sizeof(error)) {
		memcpy(&error, at, sizeof(error));
		return error < 0 && error > -4096 ? error : -EBADMSG;
	}
	left -= (int)NLMSG_ALIGN(sizeof(struct dcbmsg));
	if (h->nlmsg_type != RTM_GETDCB || left < 0)
		return -EBADMSG;
	ieee = find_attribute(at + NLMSG_ALIGN(sizeof(struct dcbmsg)), left, DCB_ATTR_IEEE);
	table = find_nested(ieee, DCB_ATTR_IEEE_APP_TABLE);
	found = find_nested(ieee, DCB_ATTR_IEEE_PFC);
	if (!found)
		return -EOPNOTSUPP;
	if (RTA_PAYLOAD(found) < sizeof(is))
		return -EBADMSG;
	memcpy(&is, RTA_DATA(found), sizeof(is));
	pfc->enabled = is.pfc_en;
	memcpy(pfc->requests, is.requests, sizeof(pfc->requests));
	memcpy(pfc->indications, is.indications, sizeof(pfc->indications));
	if (table)
		read_table(pfc, table);
	return 0;
}

int dcb_read_pfc(struct dcb_pfc *pfc, const char *netdev)
{
	size_t name = strlen(netdev) + 1;
	struct {
		struct nlmsghdr header;
		struct dcbmsg dcb;
		struct rtattr attribute;
		char netdev[IF_NAMESIZE];
	} q = {
		.header = {.nlmsg_len = (uint32_t)(NLMSG_LENGTH(sizeof(q.dcb)) + RTA_SPACE(name)),
			   .nlmsg_type = RTM_GETDCB,
			   .nlmsg_flags = NLM_F_REQUEST,
			   .nlmsg_seq = 1},
		.dcb = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET},
		.attribute = {.rta_len = (uint16_t)RTA_LENGTH(name), .rta_type = DCB_ATTR_IFNAME},
	};
	_Alignas(struct nlmsghdr) char reply[REPLY_BYTES];
	struct timeval limit = {.tv_usec = REPLY_WAIT_US};
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	socklen_t size = sizeof(kernel);
	int fd, rc = 0;
	ssize_t n = -1;

	clear(pfc);
	if (name > sizeof(q.netdev) || strchr(netdev, '/'))
		return -EINVAL;
	memcpy(q.netdev, netdev, name);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
	    sendto(fd, &q, q.header.nlmsg_len, 0, (struct sockaddr *)&kernel, size) >= 0)
		n = recvfrom(fd, reply, sizeof(reply), 0, (struct sockaddr *)&kernel, &size);
	if (n < 0)
		rc = -errno;
	close(fd);
	if (rc)
		return rc;
	return kernel.nl_pid ? -EBADMSG : dcb_parse_pfc(pfc, reply, (size_t)n);
}

enum trust {
	TRUST_UNKNOWN,
	TRUST_PCP,
	TRUST_DSCP
};

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

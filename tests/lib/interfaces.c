// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the network interfaces of a made-up machine answer, in the tree of RDMARK_SYSFS, in place of the kernel; without
 * that variable the kernel does.
 *
 *	ethtool/NAME    lines "name: value", as `ethtool -S` prints them, for the ioctl; no such interface without it
 *	dcb/NAME        "pfc_en: 0x08", "requests: N N …" and "indications: N N …" of 8 numbers, and "dscp_prio: N N …" of
 *	                up to 64, the priority of each DSCP from 0: for netlink's DCB_CMD_IEEE_GET
 *
 * It is a part of the verbs stand-in; a unit test has it linked in, by including it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INTERFACES_MAX 96

/* The file FOLDER NAME of the tree, NULL: there is none. */
static FILE *interfaces_open(const char *folder, const char *name)
{
	const char *root = getenv("RDMARK_SYSFS");
	char path[512];

	snprintf(path, sizeof(path), "%s/%s%s", root ? root : "", folder, name);
	return fopen(path, "re");
}

static bool interfaces_made_up(void)
{
	const char *root = getenv("RDMARK_SYSFS");

	return root && root[0] == '/' && strcmp(root, "/sys") != 0;
}

/* The next statistic of IN: its name, and its value. */
static bool interfaces_statistic(FILE *in, char *name, size_t size, uint64_t *value)
{
	char line[256], *colon, *end;

	while (fgets(line, sizeof(line), in)) {
		colon = strrchr(line, ':');
		if (!colon)
			continue;
		*value = strtoull(colon + 1, &end, 10);
		if (end == colon + 1)
			continue;
		*colon = '\0';
		snprintf(name, size, "%s", line + strspn(line, " \t"));
		return true;
	}
	return false;
}

/* Answer the question AT about NETDEV's statistics. */
static int interfaces_ethtool(const char *netdev, void *at)
{
	struct ethtool_sset_info *info = at;
	struct ethtool_gstrings *names = at;
	struct ethtool_stats *stats = at;
	char name[ETH_GSTRING_LEN];
	uint64_t value;
	uint32_t n = 0;
	FILE *in = interfaces_open("ethtool/", netdev);

	if (!in) {
		errno = ENODEV;
		return -1;
	}
	while (interfaces_statistic(in, name, sizeof(name), &value)) {
		if (info->cmd == ETHTOOL_GSTRINGS && n < names->len)
			memcpy(names->data + (size_t)n * ETH_GSTRING_LEN, name, ETH_GSTRING_LEN);
		if (info->cmd == ETHTOOL_GSTATS && n < stats->n_stats)
			stats->data[n] = value;
		n++;
	}
	fclose(in);
	n += n == 0; /* every driver has one */
	if (info->cmd == ETHTOOL_GSTRINGS)
		names->len = n;
	else if (info->cmd == ETHTOOL_GSTATS)
		stats->n_stats = n;
	else
		memcpy(info->data, &n, sizeof(n));
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct ifreq *r;
	va_list ap;

	va_start(ap, request);
	r = va_arg(ap, struct ifreq *);
	va_end(ap);
	if (request == SIOCETHTOOL && interfaces_made_up())
		return interfaces_ethtool(r->ifr_name, r->ifr_data);
	return (int)syscall(SYS_ioctl, fd, request, r);
}

/* The interface of this thread's next netlink request; "": none. */
static _Thread_local char interfaces_asked[IF_NAMESIZE];

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t n)
{
	const struct nlmsghdr *h = data;
	const struct rtattr *name = (const struct rtattr *)((const char *)data + NLMSG_LENGTH(sizeof(struct dcbmsg)));

	if (!to || to->sa_family != AF_NETLINK || h->nlmsg_type != RTM_GETDCB || !interfaces_made_up())
		return syscall(SYS_sendto, fd, data, size, flags, to, n);
	snprintf(interfaces_asked, sizeof(interfaces_asked), "%s", (const char *)RTA_DATA(name));
	return (ssize_t)size;
}

/* Begin the attribute KIND at the end of the message H, or end it. */
static struct rtattr *interfaces_begin(struct nlmsghdr *h, unsigned kind, const void *data, size_t size)
{
	struct rtattr *a = (struct rtattr *)((char *)h + NLMSG_ALIGN(h->nlmsg_len));

	a->rta_type = (unsigned short)kind;
	a->rta_len = (unsigned short)RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(a), data, size);
	h->nlmsg_len = (uint32_t)(NLMSG_ALIGN(h->nlmsg_len) + RTA_SPACE(size));
	return a;
}

static void interfaces_end(struct nlmsghdr *h, struct rtattr *a)
{
	a->rta_len = (unsigned short)((char *)h + h->nlmsg_len - (char *)a);
}

/* Numbers of LINE, up to COUNT. Returns how many there are. */
static unsigned interfaces_numbers(char *at, uint64_t *to, unsigned count)
{
	unsigned n = 0;
	char *end;

	for (; n < count; at = end) {
		to[n] = strtoull(at, &end, 0);
		if (end == at)
			break;
		n++;
	}
	return n;
}

/* Write the answer about the interface that was asked to H. */
static void interfaces_dcb(struct nlmsghdr *h, FILE *in)
{
	struct ieee_pfc pfc = {0};
	uint64_t dscp[64], enabled = 256;
	unsigned dscps = 0;
	struct rtattr *all, *apps;
	char line[1024];

	while (fgets(line, sizeof(line), in)) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		if (strncmp(line, "pfc_en", 6) == 0)
			interfaces_numbers(colon + 1, &enabled, 1);
		else if (strncmp(line, "requests", 8) == 0)
			interfaces_numbers(colon + 1, (uint64_t *)pfc.requests, 8);
		else if (strncmp(line, "indications", 11) == 0)
			interfaces_numbers(colon + 1, (uint64_t *)pfc.indications, 8);
		else if (strncmp(line, "dscp_prio", 9) == 0)
			dscps = interfaces_numbers(colon + 1, dscp, 64);
	}
	if (enabled > UINT8_MAX) /* such an answer there is not */
		return;
	pfc.pfc_en = (uint8_t)enabled;
	h->nlmsg_type = RTM_GETDCB;
	h->nlmsg_len = NLMSG_LENGTH(sizeof(struct dcbmsg));
	all = interfaces_begin(h, DCB_ATTR_IEEE, NULL, 0);
	interfaces_begin(h, DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	apps = interfaces_begin(h, DCB_ATTR_IEEE_APP_TABLE, NULL, 0);
	for (unsigned i = 0; i < dscps; i++) {
		struct dcb_app app = {IEEE_8021QAZ_APP_SEL_DSCP, (uint8_t)(dscp[i] < 8 ? dscp[i] : 8), (uint16_t)i};

		interfaces_begin(h, DCB_ATTR_IEEE_APP, &app, sizeof(app));
	}
	interfaces_end(h, apps);
	interfaces_end(h, all);
}

ssize_t recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *n)
{
	struct nlmsghdr *h = data;
	FILE *in;

	if (!interfaces_asked[0] || size < 8192)
		return syscall(SYS_recvfrom, fd, data, size, flags, from, n);
	in = interfaces_open("dcb/", interfaces_asked);
	interfaces_asked[0] = '\0';
	memset(data, 0, size);
	memset(from, 0, *n);
	h->nlmsg_len = NLMSG_LENGTH(sizeof(struct nlmsgerr));
	h->nlmsg_type = NLMSG_ERROR;
	if (in) {
		interfaces_dcb(h, in);
		fclose(in);
	} else {
		((struct nlmsgerr *)NLMSG_DATA(h))->error = -EOPNOTSUPP;
	}
	return (ssize_t)h->nlmsg_len;
}

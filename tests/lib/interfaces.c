// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the network interfaces of a made-up machine answer, in the tree of RDMARK_SYSFS, in place of the kernel; without
 * that variable the kernel does.
 *
 *	ethtool/NAME    lines "name: value", as `ethtool -S` prints them, for the ioctl; no such interface without it
 *
 * It is a part of the verbs stand-in; a unit test has it linked in, by including it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <linux/ethtool.h>
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

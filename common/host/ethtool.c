// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define STATISTICS_MAX 65536u /* of an interface: mlx5 has some thousands */

/*
 * What the kernel fills. It writes as many statistics as there are by then, whatever the caller has
 * room for: there is room for the most that are believed. NULL: none, with errno.
 */
#define ANSWER_BYTES (4096 + (size_t)STATISTICS_MAX * ETH_GSTRING_LEN)

static void *map_answer(void)
{
	void *at = mmap(NULL, ANSWER_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Ask for what the command at WHAT says, which is also where the answer goes. */
static int ask(const char *netdev, void *what)
{
	struct ifreq r = {.ifr_data = what};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", netdev);
	rc = ioctl(fd, SIOCETHTOOL, &r) ? -errno : 0;
	close(fd);
	return rc;
}

/* How many statistics there are, or -errno. */
static int count_statistics(const char *netdev)
{
	union {
		struct ethtool_sset_info info;
		uint32_t words[sizeof(struct ethtool_sset_info) / 4 + 1]; /* with data[0] */
	} set = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS}};
	int rc = ask(netdev, &set);

	if (rc)
		return rc;
	if (!set.info.sset_mask || !set.info.data[0])
		return -EOPNOTSUPP;
	return set.info.data[0] > STATISTICS_MAX ? -E2BIG : (int)set.info.data[0];
}

static void note_name(struct ethtool *e, const char *name, size_t size, uint32_t at)
{
	size_t n = strnlen(name, size);

	for (size_t i = 0; i < e->names; i++)
		if (e->at[i] == ETHTOOL_ABSENT && strlen(e->name[i]) == n &&
		    memcmp(e->name[i], name, n) == 0)
			e->at[i] = at;
}

/* Find where the wanted names are. */
static int find_names(struct ethtool *e)
{
	int count = count_statistics(e->netdev), rc;
	struct ethtool_gstrings *names;

	if (count < 0)
		return count;
	names = map_answer();
	if (!names)
		return -errno;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_STATS;
	names->len = (uint32_t)count;
	rc = ask(e->netdev, names);
	if (!rc && names->len != (uint32_t)count)
		rc = -ESTALE;
	for (uint32_t i = 0; !rc && i < (uint32_t)count; i++)
		note_name(e, (const char *)names->data + (size_t)i * ETH_GSTRING_LEN,
			  ETH_GSTRING_LEN, i);
	e->statistics = (uint32_t)count;
	munmap(names, ANSWER_BYTES);
	return rc;
}

int ethtool_read(const struct ethtool *e, uint64_t *value)
{
	struct ethtool_stats *all = map_answer();
	int rc;

	if (!all)
		return -errno;
	all->cmd = ETHTOOL_GSTATS;
	all->n_stats = e->statistics;
	rc = ask(e->netdev, all);
	if (!rc && all->n_stats != e->statistics)
		rc = -ESTALE;
	for (size_t i = 0; !rc && i < e->names; i++)
		if (e->at[i] < e->statistics)
			value[i] = all->data[e->at[i]];
	munmap(all, ANSWER_BYTES);
	return rc;
}

int ethtool_find(struct ethtool *e, const char *netdev, const char *const *name, size_t count)
{
	memset(e, 0, sizeof(*e));
	if (count > ETHTOOL_NAMES_MAX || strlen(netdev) >= sizeof(e->netdev) || strchr(netdev, '/'))
		return -EINVAL;
	strcpy(e->netdev, netdev);
	e->names = count;
	for (size_t i = 0; i < count; i++) {
		e->name[i] = name[i];
		e->at[i] = ETHTOOL_ABSENT;
	}
	return find_names(e);
}

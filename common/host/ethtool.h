/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ethtool: statistics of a network interface, by their names, as `ethtool -S` shows them. Any user
 * may read them, but only those of an interface in this network namespace. Nothing is raised. No
 * state; any thread may call.
 */
#pragma once

#include <net/if.h>
#include <stddef.h>
#include <stdint.h>

#define ETHTOOL_NAMES_MAX 192
#define ETHTOOL_ABSENT    UINT32_MAX

/* Which of the wanted statistics an interface has. */
struct ethtool {
	char netdev[IF_NAMESIZE];
	const char *name[ETHTOOL_NAMES_MAX]; /* static storage */
	size_t names;
	uint32_t at[ETHTOOL_NAMES_MAX]; /* by name: its place among all; ETHTOOL_ABSENT: none */
	uint32_t statistics;            /* how many there are */
};

/* Look for COUNT (up to ETHTOOL_NAMES_MAX) statistics. Returns 0 or -errno. */
int ethtool_find(struct ethtool *e, const char *netdev, const char *const *name, size_t count);

/*
 * Read their values, by name; those that are absent stay as they are. Returns 0 or -errno: -ESTALE
 * if the interface has other statistics than before.
 */
int ethtool_read(const struct ethtool *e, uint64_t *value);

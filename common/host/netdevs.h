/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netdevs: the network interfaces that have an address, in the kernel's order. Nothing is raised.
 * No state; any thread may call.
 */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#define NETDEVS_MAX 64

struct netdev {
	char name[IF_NAMESIZE];
	bool routable; /* an address is neither loopback nor link-local */
	bool hardware; /* a device of its own, or a bond; not a bridge, tunnel or container's end */
};

struct netdevs {
	struct netdev list[NETDEVS_MAX];
	size_t count;
};

/*
 * Read those that are up and running. Those beyond NETDEVS_MAX are left out. Returns 0 or -ENOMEM.
 */
int netdevs_read(struct netdevs *n);

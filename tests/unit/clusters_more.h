/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clusters_more: more kinds of made clusters, that nothing was fitted to: three tiers, ports of half
 * the width, levels, far racks, racks in trouble, tails.
 */
#ifndef RDMARK_TESTS_UNIT_CLUSTERS_MORE_H
#define RDMARK_TESTS_UNIT_CLUSTERS_MORE_H

#include "clusters_rows.h"

/* COUNT hosts, of which one is c->host, reach PART. */
static inline void more_slow(struct cluster *c, uint32_t count, double part, uint32_t ways)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t host;

		do
			host = cluster_below(c, c->hosts);
		while (c->faulty[host]);
		c->faulty[host] = true;
		cluster_slow(c, host, part, ways);
	}
}

/* Leaves and pods that can send half, or a quarter, of what is below them. */
static inline void more_tiers(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 64, 128, 256, 512), 1, seed / 4 % 2 ? 8 : 16);
	c->kind = NETWORK_SHARED;
	c->uplinks = c->pod_uplinks = seed / 8 % 2 ? .5 : .25;
	c->pod = 2;
	c->with_groups = seed % 2;
}

static inline void more_tiers_node(struct cluster *c, unsigned seed)
{
	more_tiers(c, seed);
	rows_node(c, seed % 2 ? .5 : .8);
}

/* 4:1. */
static inline void more_tree_4(struct cluster *c, unsigned seed)
{
	rows_tree(c, seed);
	c->uplinks = .25;
	c->with_groups = seed % 2;
}

static inline void more_tree_4_node(struct cluster *c, unsigned seed)
{
	more_tree_4(c, seed);
	rows_node(c, seed % 2 ? .5 : .8);
}

/* Ports that have half of their lanes. */
static inline void more_half_ports(struct cluster *c, unsigned seed)
{
	uint32_t hosts = ROWS_SIZE(seed, 32, 64, 128, 256);

	cluster_init(c, hosts, seed % 3 ? 1 : 4, 32);
	c->with_ports = true;
	for (uint32_t n = (uint32_t[]){1, 3, 6}[seed % 3]; n; n--) {
		c->host = cluster_below(c, hosts);
		c->port[c->host] = 100;
		c->faulty[c->host] = true;
	}
}

/* Firmware of 6 % less on a fifth to a half of the hosts. */
static inline void more_levels(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 10, 16, 32, 64, 128, 256), 1, 32);
	c->noise = (struct cluster_noise){.gaussian = cluster_between(c, .002, .005)};
	for (uint32_t i = 0; i < c->hosts; i++)
		if (i % (seed % 2 ? 4 : 2) == 0)
			c->sends[i] = c->receives[i] = .94;
}

/* 7 of 16 at 80 %, 6 of 16 at half. */
static inline void more_deep(struct cluster *c, unsigned seed)
{
	cluster_init(c, 16, 1, 16);
	for (uint32_t i = 0; i < (seed % 2 ? 7 : 6); i++)
		c->sends[i] = c->receives[i] = seed % 2 ? .8 : .5;
}

/* A rack that is 1.2 us away. */
static inline void more_far(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 16, 32, 64, 128), 1, seed / 4 % 2 ? 8 : 4);
	c->latency = true;
	c->with_groups = seed / 8 % 2;
	c->far_us = 1.2;
	c->bad_leaf = cluster_below(c, c->leaves);
	c->noise = (struct cluster_noise){.gaussian = cluster_between(c, .01, .03)};
}

static inline void more_far_node(struct cluster *c, unsigned seed)
{
	more_far(c, seed);
	c->host = cluster_below(c, c->hosts);
	c->slower[c->host] = 1.6;
}

static inline void more_leaf(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 32, 64, 128, 256), 1, 8);
	c->bad_leaf = cluster_below(c, c->leaves);
	c->bad_spine = CLUSTER_NONE;
	c->with_groups = true;
	for (uint32_t i = 0; i < c->hosts; i++)
		c->faulty[i] = c->leaf[i] == c->bad_leaf;
	c->host = c->bad_leaf * 8;
}

/* A rack whose hosts throttle from half time on. */
static inline void more_leaf_throttles(struct cluster *c, unsigned seed)
{
	more_leaf(c, seed);
	c->with_groups = seed % 2;
	c->trouble = TROUBLE_HALF;
	c->leaf_in_trouble = true;
}

static inline void more_node_throttles(struct cluster *c, unsigned seed)
{
	rows_trouble(c, seed, TROUBLE_HALF);
}

/* A rack at 80 %, inside, too. */
static inline void more_leaf_slow(struct cluster *c, unsigned seed)
{
	more_leaf(c, seed);
	for (uint32_t i = 0; i < c->hosts; i++)
		if (c->faulty[i])
			c->sends[i] = c->receives[i] = .8;
}

/* 5 to 20 % of all runs are 30 % low. */
static inline void more_tails(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 4, 8, 16, 64, 256), 1, 32);
	c->noise = (struct cluster_noise){.gaussian = .005, .low_part = .05 + .05 * (seed % 4), .low = .7};
}

static inline void more_bias(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 4, 8, 16), 1, 32);
	c->noise = (struct cluster_noise){.gaussian = .003, .bias = .04};
}

/* Three nodes among 512. */
static inline void more_three(struct cluster *c, unsigned seed)
{
	cluster_init(c, 512, 1, 32);
	more_slow(c, 3, (double[]){.92, .85, .7}[seed % 3], 1 + seed % 3);
}

static inline void more_small(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 3, 4, 5, 6, 7, 8), 1, 32);
	c->noise = (struct cluster_noise){.gaussian = cluster_between(c, .002, .005)};
}

static inline void more_small_node(struct cluster *c, unsigned seed)
{
	more_small(c, seed);
	rows_node(c, cluster_between(c, .5, .94));
}

/* So few hosts that no rail, nor rate of a port, has enough players to say what is normal of it. */
static inline void more_few_of_a_kind(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 3, 4, 5, 6), 1 + seed / 4 % 2 * 2, 32);
	c->noise = (struct cluster_noise){.gaussian = cluster_between(c, .002, .005)};
	c->with_ports = seed / 8 % 2;
	for (uint32_t i = 0; i < c->hosts && c->with_ports && c->rails == 1 && c->hosts > 3; i++)
		c->port[i] = i % 2 ? 100 : 200;
}

static inline void more_few_of_a_kind_node(struct cluster *c, unsigned seed)
{
	more_few_of_a_kind(c, seed);
	cluster_slow(c, 0, .4, 3);
}

/* Half of a leaf's uplinks, and nobody says which hosts are behind them. */
static inline void more_uplinks(struct cluster *c, unsigned seed)
{
	rows_half_uplinks(c, seed % 2 ? seed : seed + 5);
	c->with_groups = false;
	c->leaf_part[c->bad_leaf] = seed % 2 ? .5 : .1;
}

#endif

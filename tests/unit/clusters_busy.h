/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clusters_busy: made clusters with threads that lack their CPUs. */
#ifndef RDMARK_TESTS_UNIT_CLUSTERS_BUSY_H
#define RDMARK_TESTS_UNIT_CLUSTERS_BUSY_H

#include "clusters_rows.h"

/* The threads of 1 to MOST of the hosts lack their CPUs, in the part BUSY of their runs. */
static inline void rows_busy(struct cluster *c, unsigned seed, double most, double busy)
{
	cluster_init(c, ROWS_SIZE(seed, ROWS_ALL), 1, 32);
	c->busy = busy;
	c->costs = (enum cluster_cpu)(seed / 8 % CPU_COSTS_KINDS);
	c->both_spin = cluster_odds(c, .3);
	for (uint32_t n = 1 + cluster_below(c, (uint32_t)(most * c->hosts)); n; n--)
		c->cpu[cluster_below(c, c->hosts)] = cluster_between(c, .15, .95);
}

static inline void rows_busy_always(struct cluster *c, unsigned seed)
{
	rows_busy(c, seed, .3, 1);
}

/* And a node that has its CPU is slow. */
static inline void rows_busy_node(struct cluster *c, unsigned seed)
{
	rows_busy_always(c, seed);
	rows_node(c, cluster_between(c, .5, .94));
	c->cpu[c->host] = 1;
}

/* A node that lacks a bit of it is slow. */
static inline void rows_busy_slow(struct cluster *c, unsigned seed)
{
	rows_busy_always(c, seed);
	cluster_slow(c, cluster_below(c, c->hosts), .4, 3);
	c->cpu[c->host] = cluster_between(c, .75, .95);
}

static inline void rows_busy_sometimes(struct cluster *c, unsigned seed)
{
	rows_busy(c, seed, 1, .2);
}

static inline void rows_busy_sometimes_node(struct cluster *c, unsigned seed)
{
	rows_busy_sometimes(c, seed);
	rows_node(c, cluster_between(c, .5, .8));
}

/* Those of all or nearly all hosts. */
static inline void rows_busy_all(struct cluster *c, unsigned seed)
{
	rows_busy(c, seed, 1, 1);
	for (uint32_t i = seed % 2 * 3; i < c->hosts; i++)
		c->cpu[i] = cluster_between(c, .3, .95);
}

static inline void rows_busy_latency(struct cluster *c, unsigned seed)
{
	rows_latency(c, seed);
	c->busy = 1;
	c->costs = (enum cluster_cpu)(seed % CPU_COSTS_KINDS);
	c->both_spin = true;
	for (uint32_t n = 1 + cluster_below(c, c->hosts / 4); n; n--)
		c->cpu[cluster_below(c, c->hosts)] = cluster_between(c, .15, .95);
}

static inline void rows_busy_latency_node(struct cluster *c, unsigned seed)
{
	rows_busy_latency(c, seed);
	c->host = cluster_below(c, c->hosts);
	c->slower[c->host] = 1.6;
	c->cpu[c->host] = 1;
}

#endif

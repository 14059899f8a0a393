/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clusters_rows: the kinds of made clusters, each of which is a row of the table of bars. */
#ifndef RDMARK_TESTS_UNIT_CLUSTERS_ROWS_H
#define RDMARK_TESTS_UNIT_CLUSTERS_ROWS_H

#include "clusters.h"

/* One of the COUNT sizes at LIST, each as often as the others. */
static inline uint32_t rows_size(const uint32_t *list, size_t count, unsigned seed)
{
	return list[seed % count];
}

#define ROWS_SIZE(seed, ...)                       \
	rows_size((const uint32_t[]){__VA_ARGS__}, \
		  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), seed)
#define ROWS_ALL  8, 16, 32, 64, 128, 256, 512, 1024  /* sizes */
#define ROWS_NINE 16, 32, 64, 128, 256, 33, 100, 1024 /* of at least 9 rounds */

/* One host reaches PART, both ways or one. */
static inline void rows_node(struct cluster *c, double part)
{
	cluster_slow(c, cluster_below(c, c->hosts), part, 1 + cluster_below(c, 3));
}

static inline void rows_calm(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 4, 5, 6, 8, 12, ROWS_ALL), 1, 32);
	c->noise = (struct cluster_noise){.gaussian = cluster_between(c, .002, .005)};
}

static inline void rows_calm_node(struct cluster *c, unsigned seed)
{
	rows_calm(c, seed);
	rows_node(c, cluster_between(c, .5, .94));
}

/* Clusters of all sizes, for a noise of the row's. */
static inline void rows_plain(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, ROWS_ALL), 1, 32);
}

static inline void rows_drift(struct cluster *c, unsigned seed)
{
	rows_plain(c, seed);
	c->drift = .1;
}

enum rows_noise {
	NOISE_QUIET, /* as the cluster has it */
	NOISE_GAUSSIAN_2,
	NOISE_GAUSSIAN_5,
	NOISE_LOGNORMAL,
	NOISE_STUDENT,
	NOISE_BIAS,
	NOISE_LOW,
	NOISE_FAILS,
	NOISES
};

static const struct cluster_noise rows_noise[NOISES] = {
	[NOISE_GAUSSIAN_2] = {.gaussian = .02},
	[NOISE_GAUSSIAN_5] = {.gaussian = .05},
	[NOISE_LOGNORMAL] = {.gaussian = .003, .lost = .01, .lost_sigma = 1.2},
	[NOISE_STUDENT] = {.student = .01},
	[NOISE_BIAS] = {.gaussian = .003, .bias = .02},
	[NOISE_LOW] = {.gaussian = .005, .low_part = .05, .low = .7},
	[NOISE_FAILS] = {.gaussian = .005, .fails = .01},
};

static inline void rows_any_noise(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed / (NOISES - 1), 16, 32, 64, 128, 256), 1, 32);
	c->noise = rows_noise[1 + seed % (NOISES - 1)];
}

static inline void rows_any_noise_node(struct cluster *c, unsigned seed)
{
	rows_any_noise(c, seed);
	rows_node(c, cluster_between(c, .5, .7));
}

/* RACKS of 4 to 32 hosts, behind uplinks of 80 %: of each flow, or of all of a rack together. */
static inline void rows_racks(struct cluster *c, unsigned seed, uint32_t racks,
			      enum cluster_network kind)
{
	uint32_t leaf = ROWS_SIZE(seed, 4, 6, 8, 12, 16, 24, 32);

	cluster_init(c, racks * leaf, 1, leaf);
	c->kind = kind;
	c->uplinks = .8;
	c->with_groups = seed / 7 % 2;
	if (cluster_odds(c, .3))
		cluster_shuffle(c);
}

static inline void rows_racks_2(struct cluster *c, unsigned seed)
{
	rows_racks(c, seed, 2, NETWORK_CAPPED);
}

static inline void rows_racks_4(struct cluster *c, unsigned seed)
{
	rows_racks(c, seed, 4, NETWORK_CAPPED);
}

static inline void rows_racks_shared(struct cluster *c, unsigned seed)
{
	rows_racks(c, seed, seed / 14 % 2 ? 2 : 4, NETWORK_SHARED);
}

static inline void rows_racks_node(struct cluster *c, unsigned seed)
{
	rows_racks(c, seed, seed / 14 % 2 ? 2 : 4, seed / 28 % 2 ? NETWORK_SHARED : NETWORK_CAPPED);
	rows_node(c, .5);
}

/* Two racks of which one has 3 to 7 times as many hosts. */
static inline void rows_racks_unequal(struct cluster *c, unsigned seed)
{
	uint32_t small = ROWS_SIZE(seed, 4, 6, 8), times = 3 + cluster_below(c, 5);

	cluster_init(c, small * (1 + times), 1, small * (1 + times));
	c->leaves = 2;
	c->leaf_part[1] = 1;
	for (uint32_t i = 0; i < c->hosts; i++)
		c->leaf[i] = i >= small * times;
	c->kind = NETWORK_CAPPED;
	c->uplinks = .8;
	c->with_groups = seed / 3 % 2;
	c->quick = seed / 6 % 2;
}

/* Three rates of adapters; two slower ones on 10 to 75 % of the hosts. */
static inline void rows_rates(struct cluster *c, unsigned seed)
{
	double slower, slowest;

	cluster_init(c, ROWS_SIZE(seed, ROWS_ALL), 1, 32);
	slower = cluster_between(c, .1, .75);
	slowest = slower * cluster_between(c, .2, .8);
	for (uint32_t i = 0; i < c->hosts; i++) {
		double at = seed % 2 ? cluster_even(c) : (double)i / c->hosts;

		c->port[i] = at < slowest ? 100 : at < slower ? 200 : 400;
	}
	c->with_ports = true;
}

/* One at half, among at least as many others whose rate shows that. */
static inline void rows_rates_node(struct cluster *c, unsigned seed)
{
	uint32_t host, fit;

	rows_rates(c, seed);
	do {
		host = cluster_below(c, c->hosts);
		fit = 0;
		for (uint32_t i = 0; i < c->hosts; i++)
			fit += i != host && c->port[i] >= c->port[host];
	} while (fit * 2 < c->hosts);
	cluster_slow(c, host, .5, 1 + cluster_below(c, 3));
}

/* Four rails; one of them reaches PART on each host. */
static inline void rows_rail(struct cluster *c, unsigned seed, double part)
{
	uint32_t rail;

	cluster_init(c, ROWS_SIZE(seed, 8, 16, 24, 32, 64, 128), 4, 32);
	rail = cluster_below(c, 4);
	for (uint32_t i = rail; i < c->hosts * 4; i += 4)
		c->sends[i] = c->receives[i] = part;
}

static inline void rows_rail_85(struct cluster *c, unsigned seed)
{
	rows_rail(c, seed, .85);
}

static inline void rows_rail_70(struct cluster *c, unsigned seed)
{
	rows_rail(c, seed, .7);
}

/* And one host at half of what its rails reach otherwise. */
static inline void rows_rail_node(struct cluster *c, unsigned seed)
{
	rows_rail(c, seed, seed % 2 ? .85 : .7);
	rows_node(c, .5);
}

/* Leaves that can send half of what their hosts can. */
static inline void rows_tree(struct cluster *c, unsigned seed)
{
	uint32_t hosts = ROWS_SIZE(seed, 16, 32, 64, 128, 256);

	cluster_init(c, hosts, 1, hosts < 64 ? 8 : cluster_odds(c, .5) ? 16 : 32);
	c->kind = NETWORK_SHARED;
	c->uplinks = .5;
	if (cluster_odds(c, .25))
		cluster_shuffle(c);
}

static inline void rows_tree_node(struct cluster *c, unsigned seed)
{
	rows_tree(c, seed);
	rows_node(c, .5);
}

/* A full tree whose leaves choose uplinks by a hash. */
static inline void rows_static(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 64, 128, 256, 512, 1024), 1, cluster_odds(c, .5) ? 16 : 32);
	c->kind = NETWORK_STATIC;
	c->uplinks = 1;
	c->spines = c->hosts / c->leaves;
}

static inline void rows_static_node(struct cluster *c, unsigned seed)
{
	rows_static(c, seed);
	rows_node(c, .5);
}

static inline void rows_static_tree(struct cluster *c, unsigned seed)
{
	rows_static(c, seed);
	c->uplinks = .5;
	c->spines /= 2;
}

static inline void rows_static_tree_node(struct cluster *c, unsigned seed)
{
	rows_static_tree(c, seed);
	rows_node(c, .5);
}

static inline void rows_trouble(struct cluster *c, unsigned seed, enum cluster_trouble trouble)
{
	cluster_init(c, ROWS_SIZE(seed, ROWS_NINE), 1, 32);
	c->trouble = trouble;
	c->host = cluster_below(c, c->hosts);
}

static inline void rows_flaps(struct cluster *c, unsigned seed)
{
	rows_trouble(c, seed, TROUBLE_FLAPS);
}

static inline void rows_fails(struct cluster *c, unsigned seed)
{
	rows_trouble(c, seed, TROUBLE_FAILS);
}

static inline void rows_step(struct cluster *c, unsigned seed)
{
	rows_trouble(c, seed, TROUBLE_STEP);
}

static inline void rows_falls(struct cluster *c, unsigned seed)
{
	rows_trouble(c, seed, TROUBLE_FALLS);
}

static inline void rows_misses(struct cluster *c, unsigned seed)
{
	rows_trouble(c, seed, TROUBLE_MISSES);
}

/* The launcher is late: all hosts, or most of them, miss the first slots. */
static inline void rows_late(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, ROWS_NINE), 1, 32);
	c->late_rounds = 1 + cluster_below(c, 3);
	for (uint32_t i = 0, first = cluster_below(c, 4); i < c->hosts; i++)
		c->late[i] = seed % 2 || i % 4 != first;
}

static inline void rows_one_uplink(struct cluster *c, unsigned seed)
{
	cluster_init(c, ROWS_SIZE(seed, 64, 128, 256, 512, 1024), 1, seed % 2 ? 16 : 32);
	c->with_groups = true;
	c->spines = 16;
	c->bad_leaf = cluster_below(c, c->leaves);
}

/* One of 16 uplinks of a leaf has 20 % left, and hashes choose among them. */
static inline void rows_bad_uplink(struct cluster *c, unsigned seed)
{
	rows_one_uplink(c, seed);
	c->kind = NETWORK_STATIC;
	c->uplinks = 1;
	c->bad_part = .2;
	c->bad_spine = cluster_below(c, 16);
}

/* The same where uplinks carry several flows, so that hashes cost nothing. */
static inline void rows_bad_wide_uplink(struct cluster *c, unsigned seed)
{
	rows_bad_uplink(c, seed);
	c->uplinks = 4;
	c->bad_part = .05;
}

static inline void rows_half_uplinks(struct cluster *c, unsigned seed)
{
	/* not two leaves: of these nobody can say which one it is, nor that it is no 2:1 tree */
	rows_one_uplink(c, seed % 10 ? seed : seed + 5);
	c->kind = NETWORK_SHARED;
	c->uplinks = 1;
	c->leaf_part[c->bad_leaf] = .5;
	c->bad_spine = CLUSTER_NONE;
}

static inline void rows_half_static_uplinks(struct cluster *c, unsigned seed)
{
	rows_half_uplinks(c, seed);
	c->kind = NETWORK_STATIC;
}

/* Latencies of three distances: within a leaf, within four of them, beyond. */
static inline void rows_latency(struct cluster *c, unsigned seed)
{
	uint32_t hosts = ROWS_SIZE(seed, 32, 64, 128, 256);

	cluster_init(c, hosts, 1, hosts < 64 ? 4 : hosts < 256 ? 8 : 16);
	c->latency = true;
	c->with_groups = seed / 4 % 2;
	c->noise = (struct cluster_noise){.gaussian = cluster_between(c, .01, .03)};
}

static inline void rows_latency_node(struct cluster *c, unsigned seed)
{
	rows_latency(c, seed);
	c->host = cluster_below(c, c->hosts);
	c->slower[c->host] = 1.6;
}

/*
 * What NVIDIA's p2pBandwidthLatencyTest shows of GPUs, in these proportions: SWITCHES of some, with
 * 80 % between them.
 */
static inline void rows_gpus(struct cluster *c, uint32_t switches, uint32_t each)
{
	cluster_init(c, switches * each, 1, each);
	c->with_ports = c->quick = false;
	c->noise = (struct cluster_noise){.gaussian = .003, .bias = .015};
	c->kind = NETWORK_CAPPED;
	c->uplinks = .8;
}

static inline void rows_gpus_4(struct cluster *c, unsigned seed)
{
	rows_gpus(c, 2, 2);
	c->with_groups = seed % 2;
}

static inline void rows_gpus_12(struct cluster *c, unsigned seed)
{
	rows_gpus(c, 3, 4);
	c->with_groups = seed % 2;
}

/* Six over two sockets, which cost nothing; one sends at 92 %. */
static inline void rows_gpus_6(struct cluster *c, unsigned seed)
{
	(void)seed;
	rows_gpus(c, 1, 6);
	c->noise.bias = .005;
	cluster_slow(c, cluster_below(c, 6), .92, 1);
}

/* All hosts reach half of what their ports could. */
static inline void rows_half(struct cluster *c, unsigned seed)
{
	rows_calm(c, seed);
	c->with_ports = true;
	for (uint32_t i = 0; i < c->hosts; i++)
		c->sends[i] = c->receives[i] = .5;
}

#endif

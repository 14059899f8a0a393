/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clusters: made clusters whose rates come out of a network that their flows share, on which the
 * judge is tried. It is the second ground: nothing in it was fitted to a judge, nor a judge to it.
 *
 * A run's rate is what its flow gets of the network (clusters_network.h) where the adapters of both
 * ends are its limit, times noise. The truth is what was done to a node, a leaf switch or a rail.
 */
#ifndef RDMARK_TESTS_UNIT_CLUSTERS_H
#define RDMARK_TESTS_UNIT_CLUSTERS_H

#include "clusters_network.h"
#include "draw.h"

#define CLUSTER_PLAYERS 4096
#define CLUSTER_LEAVES  256
#define CLUSTER_NONE    UINT32_MAX
#define CLUSTER_RATE    .97 /* of a port's rate: what a run reaches at best */

/* What a node has that comes with time. */
enum cluster_trouble {
	TROUBLE_NONE,
	TROUBLE_FLAPS, /* 30 % of its runs reach 20 % */
	TROUBLE_FAILS, /* 30 % of its runs have no figure */
	TROUBLE_STEP,  /* 60 % after two thirds of the rounds */
	TROUBLE_HALF,  /* 60 % in the second half of the rounds */
	TROUBLE_FALLS, /* to 60 %, a little in each round */
	TROUBLE_MISSES /* it misses one slot as a client */
};

/* What a run loses whose thread lacked its CPU. */
enum cluster_cpu {
	CPU_PART, /* as much as the time */
	CPU_MORE, /* and up to a seventh of the rest, as queues drain and fill */
	CPU_LESS, /* less: what was posted goes on */
	CPU_NOTHING,
	CPU_COSTS_KINDS
};

enum cluster_network {
	NETWORK_WHOLE,  /* any flows at once do not disturb each other */
	NETWORK_CAPPED, /* a flow between leaves has a limit of its own: uplink ports are slower */
	NETWORK_SHARED, /* all uplinks of a leaf are one: adaptive routing */
	NETWORK_STATIC  /* a hash of both ends chooses an uplink, and so the spine */
};

struct cluster_noise {
	double gaussian;         /* of each run: sigma of its logarithm */
	double student;          /* the same with Student's t of 3 degrees of freedom */
	double lost, lost_sigma; /* median of what a run lacks, lognormal with this sigma */
	double bias;             /* persistent, of each pair and direction: sigma */
	double low_part, low;    /* this part of all runs reaches LOW of what it should */
	double fails;            /* this part of all runs has no figure */
};

struct cluster {
	uint64_t x, salt; /* the state of draw(), and what the hashes of this cluster start with */
	uint32_t hosts, rails, leaves;
	bool latency, quick;
	bool with_groups, with_ports; /* the judge gets them */

	double port[CLUSTER_PLAYERS];                             /* of each host: Gbit/s */
	double sends[CLUSTER_PLAYERS], receives[CLUSTER_PLAYERS]; /* parts, of each player */
	double slower[CLUSTER_PLAYERS];                           /* of each host: its latency */
	uint32_t leaf[CLUSTER_PLAYERS];                           /* of each host */

	enum cluster_network kind;
	double uplinks;                   /* what they carry of what a leaf's hosts can send */
	double leaf_part[CLUSTER_LEAVES]; /* what each leaf has left of that */
	uint32_t spines, bad_leaf, bad_spine;
	uint32_t pod;       /* leaves of one; 0: there are none */
	double pod_uplinks; /* what a pod's links carry of what its leaves' uplinks do */
	double bad_part; /* what the link between them has left */

	/* Of its CPU that each host's threads have, in the part BUSY of its runs; what that costs.
	 */
	double cpu[CLUSTER_PLAYERS], busy;
	enum cluster_cpu costs;
	bool both_spin; /* the receiver's thread, too */

	struct cluster_noise noise;
	double far_us;         /* what the latency to hosts of the bad leaf has more */
	bool leaf_in_trouble;  /* so are all hosts of the bad leaf */
	double drift; /* all rates fall by so much over the run */
	enum cluster_trouble trouble;
	uint32_t host;        /* that has a fault; CLUSTER_NONE: none has */
	bool faulty[CLUSTER_PLAYERS]; /* hosts beside it that may be drained */
	uint32_t late_rounds; /* that these hosts miss */
	bool late[CLUSTER_PLAYERS];
	bool cools; /* the trouble is gone when its pairs are measured again */

	uint32_t rounds;
	struct network net;
};

/* From 0 to below 1. */
static inline double cluster_even(struct cluster *c)
{
	return (double)(draw(&c->x) >> 11) * 0x1p-53;
}

static inline double cluster_between(struct cluster *c, double least, double most)
{
	return least + (most - least) * cluster_even(c);
}

static inline uint32_t cluster_below(struct cluster *c, uint32_t n)
{
	return (uint32_t)(cluster_even(c) * n);
}

static inline bool cluster_odds(struct cluster *c, double part)
{
	return cluster_even(c) < part;
}

/* A normal variate. */
static inline double cluster_normal(uint64_t *x)
{
	double a = (double)((draw(x) >> 11) + 1) * 0x1p-53, b = (double)(draw(x) >> 11) * 0x1p-53;

	return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

static inline double cluster_student(uint64_t *x)
{
	double square = 0, z = cluster_normal(x);

	for (int i = 0; i < 3; i++) {
		double y = cluster_normal(x);

		square += y * y;
	}
	return z / sqrt(square / 3);
}

/* The same number for the same A and B of a cluster. */
static inline uint64_t cluster_hash(const struct cluster *c, uint32_t a, uint32_t b)
{
	uint64_t x = c->salt ^ ((uint64_t)a << 32 | b) * UINT64_C(0xd6e8feb86659fd93);

	draw(&x);
	return draw(&x);
}

/* What a run from FROM to TO reaches of what the network gave it. */
static inline double cluster_noise(struct cluster *c, uint32_t from, uint32_t to)
{
	const struct cluster_noise *n = &c->noise;
	double log_part = 0;
	uint64_t pair;

	if (n->gaussian > 0)
		log_part += n->gaussian * cluster_normal(&c->x);
	if (n->student > 0)
		log_part += n->student * cluster_student(&c->x);
	if (n->lost > 0)
		log_part -= n->lost * exp(n->lost_sigma * cluster_normal(&c->x));
	if (n->bias > 0) {
		pair = cluster_hash(c, from, to) ^ 1;
		log_part += n->bias * cluster_normal(&pair);
	}
	if (n->low_part > 0 && cluster_odds(c, n->low_part))
		log_part += log(n->low);
	return exp(log_part);
}

/* The part of its CPU that a thread of HOST has in a run. */
static inline double cluster_cpu(struct cluster *c, uint32_t host)
{
	double had = c->cpu[host];

	if (had == 1 || !cluster_odds(c, c->busy))
		return 1;
	return fmin(1, had * cluster_between(c, .8, 1.2));
}

/* What that leaves of the rate. */
static inline double cluster_cpu_leaves(struct cluster *c, double had)
{
	switch (c->costs) {
	case CPU_PART:
		return had;
	case CPU_MORE:
		return had * (1 - cluster_between(c, 0, .15) * (1 - had));
	case CPU_LESS:
		return had + (1 - had) * cluster_even(c);
	default:
		return 1;
	}
}

/* A noise that is no trouble by itself: half of the clusters are calm. */
static inline struct cluster_noise cluster_quiet(struct cluster *c)
{
	double part = cluster_between(c, .002, .005);

	switch (cluster_below(c, 8)) {
	case 0:
		return (struct cluster_noise){.gaussian = .01};
	case 1:
		return (struct cluster_noise){.student = part};
	case 2:
		return (struct cluster_noise){.gaussian = part, .lost = part, .lost_sigma = 1};
	case 3:
		return (struct cluster_noise){.gaussian = part, .bias = .01};
	default:
		return (struct cluster_noise){.gaussian = part};
	}
}

/* HOSTS of some rails, all alike, on leaves of LEAF hosts one after the other. */
static inline void cluster_init(struct cluster *c, uint32_t hosts, uint32_t rails, uint32_t leaf)
{
	c->hosts = hosts;
	c->rails = rails;
	c->leaves = (hosts + leaf - 1) / leaf;
	c->salt = draw(&c->x);
	c->host = c->bad_leaf = CLUSTER_NONE;
	for (uint32_t i = 0; i < hosts; i++) {
		c->port[i] = 200;
		c->slower[i] = c->cpu[i] = 1;
		c->leaf[i] = i / leaf;
	}
	for (uint32_t i = 0; i < hosts * rails; i++)
		c->sends[i] = c->receives[i] = 1;
	for (uint32_t l = 0; l < c->leaves; l++)
		c->leaf_part[l] = 1;
	c->noise = cluster_quiet(c);
	c->quick = hosts > 96 || !cluster_odds(c, .25);
	c->with_ports = cluster_odds(c, .5);
	c->cools = cluster_odds(c, .5);
}

/* Let hosts be listed in no order of their leaves. */
static inline void cluster_shuffle(struct cluster *c)
{
	for (uint32_t i = c->hosts - 1; i; i--) {
		uint32_t k = cluster_below(c, i + 1), leaf = c->leaf[i];

		c->leaf[i] = c->leaf[k];
		c->leaf[k] = leaf;
	}
}

/* Slow down all rails of HOST: as a sender (bit 0 of WAYS), as a receiver (bit 1), or both. */
static inline void cluster_slow(struct cluster *c, uint32_t host, double part, uint32_t ways)
{
	c->host = host;
	for (uint32_t i = host * c->rails; i < (host + 1) * c->rails; i++) {
		c->sends[i] *= ways & 1 ? part : 1;
		c->receives[i] *= ways & 2 ? part : 1;
	}
}

/* The hosts of a leaf, and the sum of their ports. */
static inline double cluster_leaf_gbps(const struct cluster *c, uint32_t leaf)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->hosts; i++)
		sum += c->leaf[i] == leaf ? c->port[i] : 0;
	return sum * CLUSTER_RATE;
}

/* The numbers of links: a leaf's to a spine, and a spine's to it. */
static inline uint32_t cluster_link(const struct cluster *c, uint32_t leaf, uint32_t spine,
				    bool down)
{
	return (leaf * c->spines + spine) * 2 + down;
}

/* The number of the link of a leaf's pod to all others. */
static inline uint32_t cluster_pod(const struct cluster *c, uint32_t leaf, bool down)
{
	return c->leaves * c->spines * 2 + leaf / c->pod * 2 + down;
}

/* Set the capacities of the network. Call it when all about the cluster is drawn. */
static inline void cluster_wire(struct cluster *c)
{
	if (c->kind == NETWORK_WHOLE || c->kind == NETWORK_CAPPED)
		return;
	if (c->kind == NETWORK_SHARED)
		c->spines = 1;
	c->net.links = c->leaves * c->spines * 2;
	for (uint32_t l = 0; l < c->leaves && c->pod; l += c->pod) {
		double gbps = cluster_leaf_gbps(c, l) * c->pod * c->uplinks * c->pod_uplinks;

		c->net.capacity[cluster_pod(c, l, false)] = gbps;
		c->net.capacity[cluster_pod(c, l, true)] = gbps;
		c->net.links += 2;
	}
	for (uint32_t l = 0; l < c->leaves; l++)
		for (uint32_t s = 0; s < c->spines; s++) {
			double gbps = cluster_leaf_gbps(c, l) * c->uplinks / c->spines;

			if (c->kind == NETWORK_SHARED)
				gbps *= c->leaf_part[l];
			if (l == c->bad_leaf && s == c->bad_spine)
				gbps *= c->bad_part;
			c->net.capacity[cluster_link(c, l, s, false)] = gbps;
			c->net.capacity[cluster_link(c, l, s, true)] = gbps;
		}
}

/* The spine of a flow between two leaves: one to which both of them still have a link. */
static inline uint32_t cluster_spine(const struct cluster *c, uint32_t from, uint32_t to)
{
	double part = fmin(c->leaf_part[c->leaf[from]], c->leaf_part[c->leaf[to]]);
	uint32_t spines = (uint32_t)(part * c->spines + .5);

	return (uint32_t)(cluster_hash(c, from, to) % spines);
}

/* What the trouble of HOST leaves of a run in ROUND; AGAIN: its pairs are measured again. */
static inline double cluster_trouble(struct cluster *c, uint32_t host, uint32_t round, bool again)
{
	double gone = (double)round / c->rounds;

	if (host != c->host && !(c->leaf_in_trouble && c->leaf[host] == c->bad_leaf))
		return 1;
	switch (c->trouble) {
	case TROUBLE_FLAPS:
		return cluster_odds(c, .3) ? .2 : 1;
	case TROUBLE_STEP:
		return (again && !c->cools) || (!again && gone >= 2. / 3 - 1e-9) ? .6 : 1;
	case TROUBLE_HALF:
		return (again && !c->cools) || (!again && gone >= .5) ? .6 : 1;
	case TROUBLE_FALLS:
		return again ? c->cools ? 1 : .6 : 1 - .4 * gone * c->rounds / (c->rounds - 1);
	default:
		return 1;
	}
}

/* Set the limit and the path of the flow F from player FROM to TO in ROUND. */
static inline void cluster_flow(struct cluster *c, struct network_flow *f, uint32_t round,
				bool again)
{
	uint32_t a = f->from / c->rails, b = f->to / c->rails, spine = 0;
	double limit = fmin(c->port[a] * c->sends[f->from] * cluster_trouble(c, a, round, again),
			    c->port[b] * c->receives[f->to] * cluster_trouble(c, b, round, again));

	f->limit = limit * CLUSTER_RATE;
	for (int h = 0; h < NETWORK_HOPS; h++)
		f->link[h] = NETWORK_LINKS;
	if (c->kind == NETWORK_WHOLE || c->leaf[a] == c->leaf[b])
		return;
	if (c->kind == NETWORK_CAPPED) {
		f->limit = fmin(f->limit, fmin(c->port[a], c->port[b]) * CLUSTER_RATE * c->uplinks);
		return;
	}
	if (c->kind == NETWORK_STATIC)
		spine = cluster_spine(c, a, b);
	f->link[0] = cluster_link(c, c->leaf[a], spine, false);
	f->link[1] = cluster_link(c, c->leaf[b], spine, true);
	if (c->pod && c->leaf[a] / c->pod != c->leaf[b] / c->pod) {
		f->link[2] = cluster_pod(c, c->leaf[a], false);
		f->link[3] = cluster_pod(c, c->leaf[b], true);
	}
}

/* The latency between hosts A and B, in us, without noise. Four leaves are a pod. */
static inline double cluster_latency(const struct cluster *c, uint32_t a, uint32_t b)
{
	double us = c->leaf[a] == c->leaf[b] ? 1.9 : c->leaf[a] / 4 == c->leaf[b] / 4 ? 2.6 : 3.4;

	if ((c->leaf[a] == c->bad_leaf) != (c->leaf[b] == c->bad_leaf))
		us += c->far_us;
	return us * c->slower[a] * c->slower[b];
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clusters_network: what each of the flows that share a network reaches: max-min fair. No flow is
 * faster than its own limit (its adapters'), no link carries more than its capacity, and the
 * capacity that a slow flow leaves goes to the others.
 */
#ifndef RDMARK_TESTS_UNIT_CLUSTERS_NETWORK_H
#define RDMARK_TESTS_UNIT_CLUSTERS_NETWORK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NETWORK_HOPS  4
#define NETWORK_LINKS 8192

struct network_flow {
	uint32_t from, to; /* players */
	double limit, rate;
	uint32_t link[NETWORK_HOPS]; /* that it shares with others; NETWORK_LINKS: none */
	bool shared;                 /* its rate is known */
};

struct network {
	double capacity[NETWORK_LINKS];
	double left[NETWORK_LINKS];    /* while flows are shared out: what is not taken, */
	uint32_t users[NETWORK_LINKS]; /* and flows that have no rate yet */
	uint32_t links;
};

static inline void network_take(struct network *n, struct network_flow *f, double rate)
{
	f->rate = rate;
	f->shared = true;
	for (int h = 0; h < NETWORK_HOPS; h++)
		if (f->link[h] != NETWORK_LINKS) {
			n->left[f->link[h]] = fmax(0, n->left[f->link[h]] - rate);
			n->users[f->link[h]]--;
		}
}

/* What each flow of a link that is still open could get of what is left. */
static inline double network_part(const struct network *n, uint32_t link)
{
	return link == NETWORK_LINKS ? INFINITY : n->left[link] / n->users[link];
}

/* What F could get, by its links, whose shares are in PART. */
static inline double network_least(const double *part, const struct network_flow *f)
{
	double least = INFINITY;

	for (int h = 0; h < NETWORK_HOPS; h++)
		least = fmin(least, part[f->link[h]]);
	return least;
}

/* Fill in the rates of the COUNT flows of F. */
static inline void network_share(struct network *n, struct network_flow *f, uint32_t count)
{
	static double part[NETWORK_LINKS + 1];
	uint32_t open = count;

	memcpy(n->left, n->capacity, n->links * sizeof(*n->left));
	memset(n->users, 0, n->links * sizeof(*n->users));
	for (uint32_t i = 0; i < count; i++) {
		f[i].shared = false;
		for (int h = 0; h < NETWORK_HOPS; h++)
			if (f[i].link[h] != NETWORK_LINKS)
				n->users[f[i].link[h]]++;
	}
	part[NETWORK_LINKS] = INFINITY;
	while (open) {
		double level = INFINITY;

		for (uint32_t l = 0; l < n->links; l++) {
			part[l] = n->users[l] ? network_part(n, l) : INFINITY;
			level = fmin(level, part[l]);
		}
		for (uint32_t i = 0; i < count; i++)
			if (!f[i].shared)
				level = fmin(level, f[i].limit);
		level *= 1 + 1e-9;
		for (uint32_t i = 0; i < count; i++) {
			bool own = f[i].limit <= level;

			if (f[i].shared || (!own && network_least(part, &f[i]) > level))
				continue;
			network_take(n, &f[i], own ? f[i].limit : network_least(part, &f[i]));
			open--;
		}
	}
}

#endif

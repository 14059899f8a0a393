/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * chances: what chance makes of a figure: the distribution of the figures of all pairs of good nodes,
 * as parts of what is normal for them, in logarithms. Nothing is assumed of its shape: long tails,
 * and pairs that share links, are in it.
 *
 * Beyond its last figures a pool goes on as a power of the distance (Hill, Annals of Statistics 3,
 * 1975), which a normal or lognormal distribution is always below, so that chance is never taken to
 * be less than it is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CHANCES_BINS 16384

/* Zeroed, it is an empty pool. */
struct chances {
	uint32_t below[CHANCES_BINS + 1]; /* of each bin: figures in lower ones */
	uint32_t count;    /* figures */
	double tail_at;    /* distance below normal from which the tail is a power, */
	double tail_share; /* the part of figures beyond it, */
	double tail_power; /* and the power; */
	double bulk_power; /* the same, if the few farthest figures are no chance */
};

/* Add a figure: the logarithm of a part of normal. */
void chances_add(struct chances *p, double figure);

/* After the last figure, and before the first question. */
void chances_close(struct chances *p);

/*
 * The part of figures that are not above FIGURE. OWN of the pool's are the asking player's own, of
 * which OWN_BELOW are not above it: these are left out. Of no figure: 1.
 */
double chances_share(const struct chances *p, double figure, uint32_t own, uint32_t own_below);

/* The same of one figure that may be no chance, as others that are as far may be. */
double chances_share_of_bulk(const struct chances *p, double figure);

/* The figure that a part SHARE of them is not above. */
double chances_at(const struct chances *p, double share);

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The least latency of each distance, with which the others of it are compared.
 *
 * What is higher is a slow node's, or the way is longer: nodes of two racks are near within them
 * and far between them, and no group was given. A slow node is far from all; one of another rack is
 * near to those in it, which are far from the rest as it is.
 */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"
#include "peel.h"

#define LEAST_OF .05 /* the least latency: this part of the figures is below */
#define NEAR     1.5 /* times the least */
#define FEW_NEAR .1  /* of the slow ones: so many may be near to another one */
#define MOST     .5  /* of all: if more are slow, they are the normal ones */
#define LEFT     .2  /* of the figures of the others: if more are high, slow ones are not why */
#define ENOUGH   30  /* figures that this is said of: of three nodes, a slow one has two of three */

struct distances {
	const struct judgement *j;
	float *x; /* the least as a part of each latency; NaN: of the other distance */
	bool *aside[MATRIX_WAYS]; /* players that explain what is high */
	bool *far;                /* these, and those that have half of their latencies high */
};

/* How many of a player's latencies are high; COUNT: of how many. */
static uint32_t count_high(const struct distances *d, uint32_t player, uint32_t *count)
{
	const struct matrix *m = &d->j->m;
	uint32_t high = 0;

	*count = 0;
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
			double x = (double)d->x[matrix_at(m, way, player, k)];

			*count += !isnan(x);
			high += x < 1 / JUDGEMENT_HIGH;
		}
	return high;
}

/* True if a player is near to one that is far from most, as it is itself. */
static bool has_neighbour(const struct distances *d, uint32_t player)
{
	const struct matrix *m = &d->j->m;

	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
			uint32_t cell = matrix_at(m, way, player, k);

			if ((double)d->x[cell] > 1 / NEAR && d->far[matrix_partner(m, way, cell)])
				return true;
		}
	return false;
}

static bool is_aside(const struct distances *d, uint32_t player)
{
	return d->aside[MATRIX_SEND][player] || d->aside[MATRIX_RECEIVE][player];
}

/*
 * True if many are high between players that are not aside. With few partners nobody is aside, and
 * after a few rounds those are that happened to meet none of their own rack.
 */
static bool many_left(const struct distances *d)
{
	const struct matrix *m = &d->j->m;
	uint32_t all = 0, left = 0, high = 0;

	for (uint32_t i = 0; i < m->cells; i++) {
		if (isnan(d->x[i]))
			continue;
		all++;
		if (is_aside(d, m->cell[i].from) || is_aside(d, m->cell[i].to))
			continue;
		left++;
		high += (double)d->x[i] < 1 / JUDGEMENT_HIGH;
	}
	return all >= ENOUGH && high > LEFT * left;
}

/* Find who is far. Returns true if those are slow nodes, and not of other racks. */
static bool are_slow(struct distances *d)
{
	uint32_t all = 0, slow = 0, near = 0, count;

	for (uint32_t i = 0; i < d->j->m.players; i++) {
		uint32_t high = count_high(d, i, &count);

		d->far[i] = is_aside(d, i) || 2 * high >= count;
		slow += is_aside(d, i);
		all += count > 0;
	}
	for (uint32_t i = 0; i < d->j->m.players; i++)
		near += is_aside(d, i) && has_neighbour(d, i);
	return slow <= MOST * all && near <= FEW_NEAR * slow && !many_left(d);
}

/* Copy the latencies of DISTANCE; HIGH: only those that are. */
static size_t collect(const struct distances *d, int distance, bool high)
{
	const struct judgement *j = d->j;
	size_t n = 0;

	for (uint32_t i = 0; i < j->m.cells; i++)
		if (judge_distance(j, i) == distance && !isnan(judge_figure(j, i)) &&
		    (!high || (double)d->x[i] < 1 / JUDGEMENT_HIGH))
			j->some[n++] = judge_figure(j, i);
	return n;
}

static int find_least(struct distances *d, int distance, double *least)
{
	const struct judgement *j = d->j;

	*least = matrix_quantile(j->some, collect(d, distance, false), LEAST_OF);
	for (uint32_t i = 0; i < j->m.cells; i++)
		d->x[i] =
			judge_distance(j, i) == distance ? (float)*least / judge_figure(j, i) : NAN;
	if (peel(&j->m, d->x, 1 / JUDGEMENT_HIGH, d->aside) < 0)
		return -1;
	/* A few pairs under one switch are no measure for those of a whole fabric. */
	if (!are_slow(d))
		*least = fmax(*least, matrix_median(j->some, collect(d, distance, true)) / NEAR);
	return 0;
}

int judge_leasts(const struct judgement *j, double least[JUDGEMENT_DISTANCES])
{
	struct distances d = {.j = j};
	int failed = 0;

	d.x = malloc(((size_t)j->m.cells + 1) * sizeof(*d.x));
	d.far = malloc(((size_t)j->m.players + 1) * sizeof(*d.far));
	for (int way = 0; way < MATRIX_WAYS; way++)
		d.aside[way] = calloc((size_t)j->m.players + 1, sizeof(*d.aside[way]));
	if (!d.x || !d.far || !d.aside[MATRIX_SEND] || !d.aside[MATRIX_RECEIVE])
		failed = -1;
	for (int i = 0; i < JUDGEMENT_DISTANCES && !failed; i++)
		failed = find_least(&d, i, &least[i]);
	free(d.x);
	free(d.far);
	for (int way = 0; way < MATRIX_WAYS; way++)
		free(d.aside[way]);
	return failed;
}

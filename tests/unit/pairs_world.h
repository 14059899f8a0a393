/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pairs_world: a made cluster, of which is known who is slow, and the tries of every pair that a
 * schedule has. Knows nothing of how they are judged.
 */
#ifndef RDMARK_TESTS_UNIT_PAIRS_WORLD_H
#define RDMARK_TESTS_UNIT_PAIRS_WORLD_H

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "../../pairs/judge/body.h"
#include "draw.h"

#define WORLD_RATE  97.3
#define WORLD_LINKS 16

struct world {
	uint64_t x; /* state of draw() */
	uint32_t nodes, rails, groups;
	bool quick, latency;
	uint32_t rounds; /* of quick; 0: 9 */
	double noise, missing;
	double *sends, *receives;             /* of each player: part of the rate; owned */
	double *loaded;                       /* the same, in full rounds only */
	uint32_t link[WORLD_LINKS][2], links; /* players; one direction */
	double link_part[WORLD_LINKS];
	uint32_t group_from, group_to; /* NAMES_NONE: no slow group pair */
	double group_part;
	const uint32_t *rack; /* of each node; borrowed, NULL: all are near to all */
	double far;           /* between racks, part of the rate */
};

static inline double world_even(struct world *w)
{
	return (double)(draw(&w->x) >> 11) / 9007199254740992.;
}

static inline uint32_t world_below(struct world *w, uint32_t n)
{
	return (uint32_t)(draw(&w->x) % n);
}

/* Normal noise; never more than 4.5 standard deviations, as no cable gives more than it has. */
static inline double world_noise(struct world *w)
{
	double v = sqrt(-2 * log(1 - world_even(w))) * cos(6.283185307179586 * world_even(w));

	return 1 + w->noise * fmax(-4.5, fmin(4.5, v));
}

static inline uint32_t world_players(const struct world *w)
{
	return w->nodes * w->rails;
}

static inline void world_init(struct world *w)
{
	uint32_t n = world_players(w);

	w->sends = malloc(n * sizeof(*w->sends));
	w->receives = malloc(n * sizeof(*w->receives));
	w->loaded = malloc(n * sizeof(*w->loaded));
	for (uint32_t i = 0; i < n; i++)
		w->sends[i] = w->receives[i] = w->loaded[i] = 1;
	w->group_from = w->group_to = NAMES_NONE;
}

static inline void world_release(struct world *w)
{
	free(w->sends);
	free(w->receives);
	free(w->loaded);
}

static inline uint32_t world_group(const struct world *w, uint32_t player)
{
	return player / w->rails * w->groups / w->nodes;
}

static inline double world_part(const struct world *w, uint32_t from, uint32_t to, bool alone)
{
	double part = fmin(w->sends[from], w->receives[to]);

	if (!alone)
		part = fmin(part, fmin(w->loaded[from], w->loaded[to]));
	for (uint32_t i = 0; i < w->links; i++)
		if (w->link[i][0] == from && w->link[i][1] == to)
			part = fmin(part, w->link_part[i]);
	if (w->groups && world_group(w, from) == w->group_from && world_group(w, to) == w->group_to)
		part = fmin(part, w->group_part);
	if (w->rack && w->rack[from / w->rails] != w->rack[to / w->rails])
		part *= w->far;
	return part;
}

static inline uint32_t world_player(const struct world *w, struct body *b, uint32_t i)
{
	char host[32], rail[32];

	snprintf(host, sizeof(host), "n%u", i / w->rails + 1);
	snprintf(rail, sizeof(rail), "mlx5_%u", i % w->rails);
	return body_player(b, host, w->rails > 1 ? rail : NULL);
}

/* Measure from FROM to TO once. */
static inline void world_try(struct world *w, struct body *b, uint32_t from, uint32_t to,
			     uint32_t round, bool alone)
{
	double rate = WORLD_RATE * world_part(w, from, to, alone) * world_noise(w);
	struct body_try t = {.from = world_player(w, b, from),
			     .to = world_player(w, b, to),
			     .text = BODY_NONE,
			     .p99 = NAN,
			     .clock_s = NAN,
			     .round = (uint16_t)round,
			     .alone = alone,
			     .client_is_from = from < to};

	t.value = (float)(w->latency ? 194.6 / rate : rate);
	if (w->latency)
		t.p99 = t.value * 1.2f;
	if (alone || world_even(w) >= w->missing)
		body_add(b, &t);
}

static inline void world_full(struct world *w, struct body *b)
{
	uint32_t n = world_players(w);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			if (i / w->rails != k / w->rails)
				world_try(w, b, i, k, (i + k) % n, false);
}

/* The lower half with the upper half, then 8 rounds of random pairs. */
static inline void world_quick(struct world *w, struct body *b)
{
	uint32_t n = world_players(w), *order = malloc(n * sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i % 2 ? n / 2 + i / 2 : i / 2;
	for (uint32_t round = 0; round < (w->rounds ? w->rounds : 9); round++) {
		for (uint32_t i = 0; i + 1 < n; i += 2) {
			if (order[i] / w->rails == order[i + 1] / w->rails)
				continue;
			world_try(w, b, order[i], order[i + 1], round, false);
			world_try(w, b, order[i + 1], order[i], round, false);
		}
		for (uint32_t i = n; i > 1; i--) {
			uint32_t k = world_below(w, i), other = order[k];

			order[k] = order[i - 1];
			order[i - 1] = other;
		}
	}
	free(order);
}

/* Put all tries of the schedule into B. */
static inline void world_measure(struct world *w, struct body *b)
{
	body_init(b);
	b->latency = w->latency;
	if (w->quick)
		world_quick(w, b);
	else
		world_full(w, b);
}

#endif

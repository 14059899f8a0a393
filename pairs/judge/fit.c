// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/beta.h"

#define PASSES 8

/* K of N figures, as parts of N: of what is always slow, and of what comes and goes. */
static const double always[] = FIT_ALWAYS, sometimes[] = FIT_SOMETIMES;

#define ALWAYS    (sizeof(always) / sizeof(*always))
#define SOMETIMES (sizeof(sometimes) / sizeof(*sometimes))
#define TESTS     (3 * ALWAYS + SOMETIMES) /* of each player */

const struct chances *fit_main_pool(const struct fit *f, uint32_t pool)
{
	uint32_t most = 0;

	for (uint32_t d = 1; d < FIT_DISTANCES; d++)
		if (f->pool[pool][d].count > f->pool[pool][most].count)
			most = d;
	return &f->pool[pool][most];
}

/* Find what the cells reach. Two slots of a pair share what is wrong with it: it counts once. */
static void find_parts(struct fit *f)
{
	for (uint32_t i = 0; i < f->m->cells; i++) {
		const struct matrix_cell *c = &f->m->cell[i];

		f->part[i] = NAN;
		if (fit_skips(f, c->from, c->to))
			continue;
		f->part[i] = fit_y(f, i) - (float)fit_normal(f, c->from, c->to);
		if (!f->aside[MATRIX_SEND][c->from] && !f->aside[MATRIX_RECEIVE][c->to])
			chances_add(&f->pool[FIT_FIGURES][fit_distance(f, c->from, c->to)],
				    (double)f->part[i]);
	}
}

/* Put what good players reach into the pools. */
static void fill_pools(struct fit *f)
{
	struct chances *p = f->pool[0], *end = p + (size_t)FIT_POOLS * FIT_DISTANCES;

	for (p = f->pool[0]; p < end; p++)
		chances_clear(p);
	find_parts(f);
	for (uint32_t i = 0; i < f->m->players; i++)
		for (const struct meeting *t = meetings_of(&f->slots, i);
		     t < meetings_end(&f->slots, i); t++) {
			uint32_t d = fit_distance(f, i, t->with);
			double normal = fit_normal(f, i, t->with);

			if (i > t->with || fit_skips(f, i, t->with) || fit_is_aside(f, i) ||
			    fit_is_aside(f, t->with))
				continue;
			chances_add(&f->pool[FIT_BETTERS][d],
				    (double)fmaxf(t->sends, t->receives) - normal);
			chances_add(&f->pool[FIT_WORSES][d],
				    (double)fminf(t->sends, t->receives) - normal);
		}
	for (p = f->pool[0]; p < end; p++)
		chances_close(p);
}

/* True if K of the N figures are lower than chance makes them. */
static bool is_low(const struct fit *f, uint32_t k, uint32_t n)
{
	return k && k <= n && beta_incomplete(k, n - k + 1., f->share[k - 1]) <= f->chance;
}

static bool always_low(const struct fit *f, uint32_t n)
{
	bool low = false;

	for (size_t i = 0; i < ALWAYS && !low; i++)
		low = is_low(f, (uint32_t)ceil(always[i] * n), n);
	return low;
}

/* How many of the N figures are lower than chance makes them, so that most are not; 0: none. */
static uint32_t sometimes_low(const struct fit *f, uint32_t n)
{
	for (size_t i = 0; i < SOMETIMES; i++) {
		uint32_t k = (uint32_t)fmax(2, ceil(sometimes[i] * n));

		if (k < .8 * n && is_low(f, k, n))
			return k;
	}
	return 0;
}

/* Measure player I in one way, and test whether chance explains that. */
static void test(struct fit *f, uint32_t i, enum fit_way way)
{
	struct fit_player *p = &f->of[i];
	bool nowhere = way < FIT_BETTER && p->nowhere & 1 << way; /* it has hardly a good partner */
	bool own = way < FIT_BETTER ? !f->aside[way][i] : !fit_is_aside(f, i);
	uint32_t n = figures_of(f, i, way, nowhere, &p->way[way].partners), low = 0;
	double effect = figures_quantile(f, n, .5);
	bool slow = nowhere;

	figures_shares(f, way, n, own);
	if (!slow && n && p->way[way].partners >= FIT_PARTNERS) {
		uint32_t k = way == FIT_WORSE ? sometimes_low(f, n) : always_low(f, n);

		slow = k > 0;
		if (way == FIT_WORSE) /* what it reaches in those slots */
			effect = figures_quantile(f, slow ? n : 0, (k - 1.) / 2 / fmax(1, n - 1.));
	}
	for (uint32_t s = 0; s < n; s++)
		low += (double)f->figure[s].part < effect / 2;
	p->way[way].effect = (float)effect;
	p->way[way].figures = n;
	p->way[way].low = low;
	p->way[way].slow = slow;
}

/* The deviation of what good players reach. */
static double spread_of(struct fit *f)
{
	size_t n = 0;
	double middle;

	for (uint32_t i = 0; i < f->m->players; i++)
		if (!isnan(f->of[i].way[FIT_BETTER].effect) && !fit_is_aside(f, i))
			f->some[n++] = f->of[i].way[FIT_BETTER].effect;
	return matrix_deviation(f->some, n, &middle);
}

double fit_least(const struct fit *f)
{
	double players = fmax(f->m->players, 2);

	return fmax(f->body->latency ? FIT_LATENCY : -log(1 - FIT_LEAST),
		    sqrt(2 * log(20 * players)) * f->spread);
}

/* Say who is slow, and set these aside. Returns true if these were others before. */
static bool decide(struct fit *f)
{
	double least = fit_least(f), depth = f->body->latency ? 2 * FIT_LATENCY : FIT_DEPTH;
	bool changed = false;

	for (uint32_t i = 0; i < f->m->players; i++) {
		struct fit_player *p = &f->of[i];
		double worse = fmin(p->way[FIT_SENDS].effect, p->way[FIT_RECEIVES].effect);

		for (enum fit_way w = 0; w < FIT_WAYS; w++)
			p->way[w].slow &=
				(double)p->way[w].effect < (w == FIT_WORSE ? -depth : -least);
		for (enum matrix_way w = 0; w < MATRIX_WAYS; w++) {
			bool aside;

			p->way[w].slow |= p->way[FIT_BETTER].slow &&
					  (double)p->way[w].effect < fmin(-least, worse / 2);
			aside = p->way[w].slow || p->way[FIT_WORSE].slow;
			changed |= f->aside[w][i] != aside;
			f->aside[w][i] = aside;
		}
	}
	return changed;
}

void fit_again(struct fit *f)
{
	bool changed = true;

	for (int pass = 0; pass < PASSES && changed; pass++) {
		uint32_t hosts;

		kinds_fit(f, f->hosts < FIT_PARTNERS + 1 ? FIT_BEST : .5);
		fill_pools(f);
		for (uint32_t i = 0; i < f->m->players; i++) {
			f->of[i].has_equals = true;
			figures_of(f, i, FIT_SENDS, true, &hosts);
			f->of[i].has_equals = hosts >= FIT_PARTNERS;
			for (enum fit_way way = 0; way < FIT_WAYS; way++)
				test(f, i, way);
		}
		f->spread = spread_of(f);
		changed = decide(f);
	}
}

int fit_init(struct fit *f, const struct body *body, const struct matrix *m, const uint32_t *group,
	     const bool *lost)
{
	size_t players = (size_t)m->players + 1, cells = (size_t)m->cells + 1, most;
	struct chances *p = f->pool[0], *end = p + (size_t)FIT_POOLS * FIT_DISTANCES;

	*f = (struct fit){.body = body, .m = m, .group = group, .lost = lost, .alone = true};
	for (uint32_t i = 0; i < m->cells; i++)
		f->alone &= isnan(m->cell[i].loaded);
	if (meetings_init(&f->slots, m, body->tries, body->latency, f->alone) || kinds_find(f))
		return -1;
	most = f->slots.start[m->players] + cells + players;
	f->of = calloc(players, sizeof(*f->of));
	f->rack = calloc(players, sizeof(*f->rack));
	f->aside[0] = calloc(players, sizeof(bool));
	f->aside[1] = calloc(players, sizeof(bool));
	f->part = malloc(cells * sizeof(*f->part));
	f->some = malloc(2 * most * sizeof(*f->some));
	f->figure = malloc(2 * FIGURES_ENOUGH * sizeof(*f->figure));
	f->share = malloc(2 * FIGURES_ENOUGH * sizeof(*f->share));
	while (p < end)
		if (chances_init(p++))
			return -1;
	return f->of && f->rack && f->aside[0] && f->aside[1] && f->part && f->some && f->figure &&
			       f->share
		       ? 0
		       : -1;
}

void fit_first(struct fit *f)
{
	uint32_t players = 0;

	for (uint32_t i = 0; i < f->m->players; i++)
		players += matrix_count(f->m, MATRIX_SEND, i) > 0;
	f->chance = FIT_CHANCE / TESTS / fmax(players, 1);
	kinds_fit(f, FIT_FIRST);
	first_aside(f);
	fit_again(f);
}

void fit_release(struct fit *f)
{
	struct chances *p = f->pool[0], *end = p + (size_t)FIT_POOLS * FIT_DISTANCES;

	while (p < end)
		chances_release(p++);
	meetings_release(&f->slots);
	kinds_release(f);
	free(f->of);
	free(f->rack);
	free(f->aside[0]);
	free(f->aside[1]);
	free(f->part);
	free(f->some);
	free(f->figure);
	free(f->share);
	*f = (struct fit){0};
}

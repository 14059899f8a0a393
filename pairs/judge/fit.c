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

static void find_parts(struct fit *f)
{
	const struct matrix *m = f->m;

	for (uint32_t i = 0; i < m->cells; i++) {
		const struct matrix_cell *c = &m->cell[i];

		f->part[i] = fit_skips(f, c->from, c->to)
				     ? NAN
				     : fit_y(f, i) - (float)fit_normal(f, c->from, c->to);
	}
}

static void fill_pools(struct fit *f)
{
	const struct matrix *m = f->m;

	for (uint32_t p = 0; p < FIT_POOLS; p++)
		for (uint32_t d = 0; d < FIT_DISTANCES; d++)
			chances_clear(&f->pool[p][d]);
	for (uint32_t i = 0; i < m->cells; i++) {
		const struct matrix_cell *c = &m->cell[i];

		if (!isnan(f->part[i]) && !f->aside[MATRIX_SEND][c->from] &&
		    !f->aside[MATRIX_RECEIVE][c->to])
			chances_add(&f->pool[FIT_FIGURES][fit_distance(f, c->from, c->to)],
				    (double)f->part[i]);
	}
	for (uint32_t i = 0; i < f->slots.count; i++) {
		const struct meeting *t = &f->slots.of[i];
		uint32_t d = fit_distance(f, t->a, t->b);
		double normal;

		if (fit_skips(f, t->a, t->b) || fit_is_aside(f, t->a) || fit_is_aside(f, t->b))
			continue;
		normal = fit_normal(f, t->a, t->b);
		chances_add(&f->pool[FIT_BETTER][d], (double)t->better - normal);
		chances_add(&f->pool[FIT_WORSE][d], (double)t->worse - normal);
	}
	for (uint32_t p = 0; p < FIT_POOLS; p++)
		for (uint32_t d = 0; d < FIT_DISTANCES; d++)
			chances_close(&f->pool[p][d]);
}

/* True if K of the N figures are lower than chance makes them. */
static bool is_low(const struct fit *f, uint32_t k, uint32_t n)
{
	return k && k <= n && beta_incomplete(k, n - k + 1., f->share[k - 1]) <= f->chance;
}

static bool always_low(const struct fit *f, uint32_t n)
{
	for (size_t i = 0; i < ALWAYS; i++)
		if (is_low(f, (uint32_t)ceil(always[i] * n), n))
			return true;
	return false;
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

static double middle_part(struct fit *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		f->some[i] = f->figure[i].part;
	return matrix_median(f->some, n);
}

/* Measure a player in one way, and test whether chance explains that. */
static void test_way(struct fit *f, uint32_t i, enum fit_way way)
{
	struct fit_player *p = &f->of[i];
	bool slots = way == FIT_BOTH, own = slots ? !fit_is_aside(f, i) : !f->aside[way][i];
	uint32_t n =
		slots ? figures_of_slots(f, i, false, &p->way[way].partners)
		      : figures_of_way(f, (enum matrix_way)way, i, false, &p->way[way].partners);

	p->way[way].figures = n;
	p->way[way].effect = (float)middle_part(f, n);
	figures_shares(f, slots ? FIT_BETTER : FIT_FIGURES, n, own);
	p->way[way].slow = n && p->way[way].partners >= FIT_PARTNERS && always_low(f, n);
	if (!slots && p->nowhere & 1 << way) { /* it has hardly a good partner: with all */
		n = figures_of_way(f, (enum matrix_way)way, i, true, &p->way[way].partners);
		p->way[way].figures = n;
		p->way[way].effect = (float)middle_part(f, n);
		p->way[way].slow = true;
	}
}

static void test_slots(struct fit *f, uint32_t i)
{
	struct fit_player *p = &f->of[i];
	uint32_t hosts, n = figures_of_slots(f, i, true, &hosts), k;
	double depth = f->body->latency ? 2 * FIT_LATENCY : FIT_DEPTH;

	figures_shares(f, FIT_WORSE, n, !fit_is_aside(f, i));
	k = n && hosts >= FIT_PARTNERS ? sometimes_low(f, n) : 0;
	p->slots = n;
	p->slow_slots = 0;
	p->sometimes = false;
	if (!k)
		return;
	for (uint32_t s = 0; s < n; s++)
		f->some[s] = f->figure[s].part;
	p->depth = (float)matrix_quantile(f->some, n, (k - 1.) / 2 / fmax(1, n - 1.));
	for (uint32_t s = 0; s < n; s++)
		p->slow_slots += (double)f->figure[s].part < (double)p->depth / 2;
	p->sometimes = (double)p->depth < -depth;
}

/* The deviation of what good players reach in one way, or in both. */
static double spread_of(struct fit *f)
{
	size_t n = 0;
	double middle;

	for (uint32_t i = 0; i < f->m->players; i++)
		if (!isnan(f->of[i].way[FIT_BOTH].effect) && !fit_is_aside(f, i))
			f->some[n++] = f->of[i].way[FIT_BOTH].effect;
	middle = matrix_median(f->some, n);
	for (size_t i = 0; i < n; i++)
		f->some[i] = fabsf(f->some[i] - (float)middle);
	return n ? FIT_SD_PER_MAD * matrix_median(f->some, n) : 0;
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
	double least = fit_least(f);
	bool changed = false;

	for (uint32_t i = 0; i < f->m->players; i++) {
		struct fit_player *p = &f->of[i];
		bool both, aside[MATRIX_WAYS];
		double worse;

		for (enum fit_way w = 0; w < FIT_WAYS; w++)
			p->way[w].slow &= (double)p->way[w].effect < -least;
		both = p->way[FIT_BOTH].slow;
		worse = fmin(p->way[MATRIX_SEND].effect, p->way[MATRIX_RECEIVE].effect);
		for (enum matrix_way w = 0; w < MATRIX_WAYS; w++) {
			p->way[w].slow |=
				both && (double)p->way[w].effect < fmin(-least, worse / 2);
			aside[w] = p->way[w].slow || p->sometimes;
		}
		for (enum matrix_way w = 0; w < MATRIX_WAYS; w++) {
			changed |= f->aside[w][i] != aside[w];
			f->aside[w][i] = aside[w];
		}
	}
	return changed;
}

/* How many figures are below the middle between slow and normal, for the report. */
static void count_low(struct fit *f)
{
	for (uint32_t i = 0; i < f->m->players; i++)
		for (enum matrix_way way = 0; way < MATRIX_WAYS; way++) {
			uint32_t hosts, n = figures_of_way(f, way, i, f->of[i].nowhere, &hosts);

			f->of[i].way[way].low = 0;
			for (uint32_t k = 0; k < n; k++)
				f->of[i].way[way].low +=
					f->figure[k].part < f->of[i].way[way].effect / 2;
		}
}

int fit_again(struct fit *f)
{
	for (int pass = 0; pass < PASSES; pass++) {
		kinds_fit(f, f->hosts < FIT_PARTNERS + 1 ? FIT_BEST : .5);
		find_parts(f);
		figures_equals(f);
		fill_pools(f);
		for (uint32_t i = 0; i < f->m->players; i++) {
			for (enum fit_way way = 0; way < FIT_WAYS; way++)
				test_way(f, i, way);
			test_slots(f, i);
		}
		f->spread = spread_of(f);
		if (!decide(f))
			break;
	}
	count_low(f);
	return 0;
}

static int make_room(struct fit *f)
{
	size_t players = (size_t)f->m->players + 1, cells = (size_t)f->m->cells + 1, most = 1;

	if (meetings_init(&f->slots, f->m, f->body->tries, f->body->latency, f->alone))
		return -1;
	for (uint32_t i = 0; i < f->m->players; i++)
		most += matrix_count(f->m, MATRIX_SEND, i) + matrix_count(f->m, MATRIX_RECEIVE, i) +
			(f->slots.start[i + 1] - f->slots.start[i]);
	f->of = calloc(players, sizeof(*f->of));
	f->rack = calloc(players, sizeof(*f->rack));
	f->aside[0] = calloc(players, sizeof(bool));
	f->aside[1] = calloc(players, sizeof(bool));
	f->part = malloc(cells * sizeof(*f->part));
	f->some = malloc((2 * cells + players + f->slots.count) * sizeof(*f->some));
	f->figure = malloc(most * sizeof(*f->figure));
	f->share = malloc(most * sizeof(*f->share));
	for (uint32_t p = 0; p < FIT_POOLS; p++)
		for (uint32_t d = 0; d < FIT_DISTANCES; d++)
			if (chances_init(&f->pool[p][d]))
				return -1;
	return f->of && f->rack && f->aside[0] && f->aside[1] && f->part && f->some && f->figure &&
			       f->share
		       ? 0
		       : -1;
}

int fit_init(struct fit *f, const struct body *body, const struct matrix *m, const uint32_t *group,
	     const bool *lost)
{
	uint32_t players = 0;

	*f = (struct fit){.body = body, .m = m, .group = group, .lost = lost, .alone = true};
	for (uint32_t i = 0; i < m->cells; i++)
		f->alone &= isnan(m->cell[i].loaded);
	if (make_room(f) || kinds_find(f))
		return -1;
	for (uint32_t i = 0; i < m->cells; i++) {
		const struct matrix_cell *c = &m->cell[i];

		f->part[i] = lost[c->from] || lost[c->to] ? NAN : fit_y(f, i);
	}
	for (uint32_t i = 0; i < m->players; i++)
		players += matrix_count(m, MATRIX_SEND, i) > 0;
	f->chance = FIT_CHANCE / TESTS / fmax(players, 1);
	f->hosts = first_hosts(f);
	kinds_fit(f, FIT_FIRST);
	find_parts(f);
	if (first_aside(f))
		return -1;
	first_nowhere(f);
	return fit_again(f);
}

void fit_release(struct fit *f)
{
	meetings_release(&f->slots);
	for (uint32_t p = 0; p < FIT_POOLS; p++)
		for (uint32_t d = 0; d < FIT_DISTANCES; d++)
			chances_release(&f->pool[p][d]);
	free(f->of);
	free(f->rack);
	free(f->aside[0]);
	free(f->aside[1]);
	free(f->part);
	free(f->some);
	kinds_release(f);
	free(f->figure);
	free(f->share);
	*f = (struct fit){0};
}

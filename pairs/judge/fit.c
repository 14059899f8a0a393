// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/beta.h"
#include "stat/series.h"

#define PASSES 8

/* K of N figures, as parts of N: of what is always slow, and of what comes and goes. */
static const double always[] = FIT_ALWAYS, sometimes[] = FIT_SOMETIMES;

#define ALWAYS    (sizeof(always) / sizeof(*always))
#define SOMETIMES (sizeof(sometimes) / sizeof(*sometimes))
#define TESTS     (2 * ALWAYS + SOMETIMES) /* of each player */

static int by_part(const void *a, const void *b)
{
	const struct fit_figure *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

/* Find the shares of the N figures in WAY, in ascending order. OWN: they are in the pools. */
static void find_shares(const struct fit *f, enum fit_way way, uint32_t n, bool own)
{
	uint32_t pool = way == FIT_WORSE ? FIT_WORSES : FIT_FIGURES;

	qsort(f->figure, n, sizeof(*f->figure), by_part);
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t d = f->figure[i].distance;

		for (end = i; end < n && f->figure[end].distance == d;)
			end++;
		for (uint32_t k = i; k < end; k++)
			f->share[k] = chances_share(&f->pool[pool][d], (double)f->figure[k].part,
						    own ? end - i : 0, own ? k - i + 1 : 0);
	}
	series_sort(f->share, n);
}

/*
 * How many of the N figures in WAY are lower than chance makes them; 0: none. Of what comes and
 * goes most are not.
 */
static uint32_t count_low(const struct fit *f, enum fit_way way, uint32_t n)
{
	bool goes = way == FIT_WORSE;
	const double *part = goes ? sometimes : always, *end = part + (goes ? SOMETIMES : ALWAYS);

	for (; part < end; part++) {
		uint32_t k = (uint32_t)fmax(goes ? 2 : 1, ceil(*part * n));

		if (!(goes && k >= .8 * n) && k <= n &&
		    beta_incomplete(k, n - k + 1., f->share[k - 1]) <= f->chance)
			return k;
	}
	return 0;
}

/* True if what P reaches is below normal by as much as harms anybody. */
static bool is_below(const struct fit *f, const struct fit_player *p, enum fit_way way)
{
	double depth = f->body->latency ? 2 * FIT_LATENCY : FIT_DEPTH;

	return (double)p->way[way].effect < (way == FIT_WORSE ? -depth : -fit_least(f));
}

/* Measure player I in one way, and test whether chance explains that. */
static void test(struct fit *f, uint32_t i, enum fit_way way)
{
	struct fit_player *p = &f->of[i];
	bool nowhere = way < FIT_WORSE && p->nowhere & 1 << way; /* it has hardly a good partner */
	bool own = way < FIT_WORSE ? !f->aside[way][i] : !fit_is_aside(f, i);
	uint32_t n = figures_of(f, i, way, nowhere, &p->way[way].partners), low = 0;
	double effect = figures_quantile(f, n, .5);
	bool slow = nowhere;

	find_shares(f, way, n, own);
	if (!slow && n && p->way[way].partners >= FIT_PARTNERS) {
		uint32_t k = count_low(f, way, n);

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
		for (enum matrix_way way = 0; way < MATRIX_WAYS && !fit_is_aside(f, i); way++)
			if (!isnan(f->of[i].way[way].effect))
				f->some[n++] = f->of[i].way[way].effect;
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
	bool changed = false;

	for (uint32_t i = 0; i < f->m->players; i++) {
		struct fit_player *p = &f->of[i];

		for (enum fit_way w = 0; w < FIT_WAYS; w++)
			p->way[w].slow &= is_below(f, p, w);
		for (enum matrix_way w = 0; w < MATRIX_WAYS; w++) {
			bool aside = p->way[w].slow || p->way[FIT_WORSE].slow;
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
		pools_fill(f);
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

/* The parts of a player's figures by which it is set aside at first. */
static const double worst[] = FIRST_WORST;

/* Set those aside in WAY whose quantile AT is lower than most players'. */
static void set_low_aside(struct fit *f, enum matrix_way way, double at)
{
	uint32_t players = f->m->players, hosts;
	float *quantile = f->some + f->m->cells + f->slots.start[players];
	double middle, deviation;
	size_t known = 0;

	for (uint32_t i = 0; i < players; i++)
		quantile[i] = (float)figures_quantile(
			f, figures_of(f, i, (enum fit_way)way, true, &hosts), at);
	for (uint32_t i = 0; i < players; i++)
		if (!isnan(quantile[i]))
			f->some[known++] = quantile[i];
	deviation = matrix_deviation(f->some, known, &middle);
	for (uint32_t i = 0; i < players; i++)
		f->aside[way][i] |= (double)quantile[i] <
				    middle - fmax(FIRST_BELOW, FIRST_BELOW_SURE * deviation);
}

/* Count the hosts that have a figure. */
static uint32_t count_hosts(const struct fit *f)
{
	uint32_t count = 0, hosts, last = UINT32_MAX;

	for (uint32_t i = 0; i < f->m->players; i++)
		if (f->m->host[i] != last && figures_of(f, i, FIT_WORSE, true, &hosts)) {
			count++;
			last = f->m->host[i];
		}
	return count;
}

/* By how much both directions of a slot differ, in the middle. */
static double find_even(const struct fit *f)
{
	size_t n = 0;

	for (const struct meeting *t = f->slots.of; t < f->slots.end; t++)
		if (!isnan(t->sends) && !isnan(t->receives))
			f->some[n++] = fmaxf(t->sends, t->receives) - fminf(t->sends, t->receives);
	return matrix_median(f->some, n);
}

/*
 * Of a few hosts: a player that reached what is normal with none of the others is slow. Of four
 * hosts of which two are slow, neither has three good partners.
 */
static void find_nowhere(struct fit *f)
{
	const struct matrix *m = f->m;
	signed char *bad = f->bad;
	uint32_t all = 0, good = 0;
	/* a pair is uneven by noise, or by one bad direction */
	double least = f->body->latency
			       ? -2 * FIT_LATENCY
			       : -fmin(FIRST_NOWHERE_MOST, fmax(FIRST_NOWHERE, 4 * find_even(f)));

	kinds_fit(f, FIRST_BEST);
	for (uint32_t i = 0; i < m->cells; i++) {
		const struct matrix_cell *c = &m->cell[i];
		double part = (double)fit_y(f, c) - fit_normal(f, c->from, c->to);

		bad[i] = fit_skips(f, c->from, c->to) || isnan(part) ? -1 : part < least;
	}
	matrix_explain(m, bad, FIRST_NONE, FIT_PARTNERS, f->aside);
	for (uint32_t i = 0; i < m->cells; i++) {
		bool known = bad[i] >= 0 && !f->aside[MATRIX_SEND][m->cell[i].from] &&
			     !f->aside[MATRIX_RECEIVE][m->cell[i].to];

		all += known;
		good += known && !bad[i];
	}
	/* if most figures of the others are no better, the best ones were luck */
	for (uint32_t i = 0; i < m->players && good >= FIRST_GOOD * all; i++)
		f->of[i].nowhere = f->aside[MATRIX_SEND][i] | f->aside[MATRIX_RECEIVE][i] << 1;
}

int fit_init(struct fit *f, const struct matrix *m, const uint32_t *group, uint32_t groups,
	     const bool *lost)
{
	size_t players = (size_t)m->players + 1, cells = (size_t)m->cells + 1, most;
	bool *marks;

	*f = (struct fit){.body = m->body, .m = m, .group = group, .groups = groups, .lost = lost};
	f->alone = true;
	for (uint32_t i = 0; i < m->cells; i++)
		f->alone &= isnan(m->cell[i].loaded);
	if (meetings_init(&f->slots, m, f->alone) || kinds_find(f))
		return -1;
	most = f->slots.start[m->players] + cells + players;
	f->of = calloc(players, sizeof(*f->of));
	f->rack = calloc(players, sizeof(*f->rack));
	f->bad_pair = calloc((size_t)groups * groups + 1, sizeof(bool));
	f->pool = calloc(FIT_POOLS, sizeof(*f->pool));
	f->part = malloc(cells * sizeof(*f->part));
	f->some = malloc(2 * most * sizeof(*f->some));
	f->figure = malloc(2 * FIGURES_ENOUGH * sizeof(*f->figure));
	f->share = malloc(2 * FIGURES_ENOUGH * sizeof(*f->share));
	f->bad = malloc(cells);
	f->aside[0] = marks = calloc(3 * MATRIX_WAYS * players, sizeof(bool));
	if (!f->of || !f->rack || !f->bad_pair || !f->pool || !f->part || !f->some || !f->figure ||
	    !f->share || !f->bad || !marks)
		return -1;
	f->aside[1] = marks + players;
	for (size_t i = 0; i < 2 * MATRIX_WAYS; i++)
		f->mark[i] = marks + (MATRIX_WAYS + i) * players;
	return 0;
}

bool *const *fit_marks(struct fit *f)
{
	memset(f->mark[0], false, 2 * MATRIX_WAYS * ((size_t)f->m->players + 1));
	return f->mark;
}

void fit_first(struct fit *f)
{
	uint32_t players = 0;

	for (uint32_t i = 0; i < f->m->players; i++)
		players += matrix_count(f->m, MATRIX_SEND, i) > 0;
	f->chance = FIT_CHANCE / TESTS / fmax(players, 1);
	kinds_fit(f, FIT_FIRST);
	f->hosts = count_hosts(f);
	if (f->hosts <= FIRST_FEW_HOSTS)
		find_nowhere(f);
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (size_t i = 0; i < sizeof(worst) / sizeof(*worst); i++)
			set_low_aside(f, way, worst[i]);
	fit_again(f);
}

void fit_release(struct fit *f)
{
	meetings_release(&f->slots);
	names_release(&f->kinds.names);
	free(f->kinds.of);
	free(f->of);
	free(f->rack);
	free(f->bad_pair);
	free(f->pool);
	free(f->part);
	free(f->some);
	free(f->figure);
	free(f->share);
	free(f->bad);
	free(f->aside[0]);
	*f = (struct fit){0};
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds what is normal, what each player reaches of it, and who is slow. */
#include "level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "guess.h"
#include "peel.h"

#define MANY_SLOW   .75  /* if more than this part of all were slow, that is what is normal */
#define FEW_HOSTS   6    /* of as few, bad ones cannot always be set aside */
#define FLOOR       .005 /* the least MAD of medians */
#define MADS        5.
#define SURE        3. /* standard deviations that each of several figures is low by */
#define PASSES      3
#define NOISE_CELLS 200000 /* that the noise is computed from */
#define NOISE_LEAST 6
#define MOST_LOST   4.  /* with less than this part left, the estimate is not made larger */
#define FEW_CELLS   50  /* of so few cells nobody can say that there is little noise: */
#define NOISE_FEW   .02 /* it is taken as this at least, */
#define GUESS_MOST  .05 /* and as what was guessed, up to this: slow nodes may make that larger */

/* A standard deviation is this many MADs; a median's is this many times that of an average. */
static const double sd_per_mad = 1.4826, median_per_average = 1.2533;

struct work {
	const struct matrix *m;
	const float *x;
	const struct level_rules *rules;
	float *some;              /* as many as cells, and as players */
	bool *aside[MATRIX_WAYS]; /* one block */
	struct guess guess;       /* unless the rules are absolute */
	uint32_t hosts;           /* that have a figure */
	bool general;             /* hardly a cell is good: nobody is set aside */
};

/* Copy the figures that are numbers and at least LEAST, and whose ends are good. */
static size_t collect(const struct work *w, double least, bool good)
{
	const struct matrix *m = w->m;
	size_t n = 0;

	for (uint32_t i = 0; i < m->cells; i++) {
		if (!((double)w->x[i] >= least))
			continue;
		if (good && (w->aside[MATRIX_SEND][m->cell[i].from] ||
			     w->aside[MATRIX_RECEIVE][m->cell[i].to]))
			continue;
		w->some[n++] = w->x[i];
	}
	return n;
}

/* Count the players that have a cell, and those of them that are aside. */
static uint32_t count_players(const struct work *w, uint32_t *aside)
{
	uint32_t players = 0;

	*aside = 0;
	for (uint32_t i = 0; i < w->m->players; i++) {
		players +=
			matrix_count(w->m, MATRIX_SEND, i) + matrix_count(w->m, MATRIX_RECEIVE, i) >
			0;
		*aside += w->aside[MATRIX_SEND][i] || w->aside[MATRIX_RECEIVE][i];
	}
	return players;
}

/*
 * The hosts that have a figure; GOOD: only those with a player that is not aside. Players of a host
 * stand next to each other.
 */
static uint32_t count_hosts(const struct work *w, bool good)
{
	const struct matrix *m = w->m;
	uint32_t hosts = 0, last = UINT32_MAX;

	for (uint32_t i = 0; i < m->players; i++) {
		bool known = false;

		if (good && (w->aside[MATRIX_SEND][i] || w->aside[MATRIX_RECEIVE][i]))
			continue;
		for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
			for (uint32_t k = 0; k < matrix_count(m, way, i) && !known; k++)
				known = !isnan(w->x[matrix_at(m, way, i, k)]);
		hosts += known && m->host[i] != last;
		last = known ? m->host[i] : last;
	}
	return hosts;
}

/* Set the worst aside and find what is normal among the others. */
static int find_normal(struct level *l, const struct work *w)
{
	double normal = w->rules->absolute ? 1 : w->guess.normal;
	uint32_t players, aside;

	for (int pass = 0; pass < PASSES; pass++) {
		l->normal = normal;
		if (peel(w->m, w->x, normal * w->rules->limit, w->aside) < 0)
			return -1;
		if (w->rules->absolute)
			break;
		players = count_players(w, &aside);
		if (aside > MANY_SLOW * players) {
			/* Some pairs are faster than what nearly all nodes reach, say in a rack. */
			l->normal = matrix_median(w->some, collect(w, 0, false));
			return peel(w->m, w->x, l->normal * w->rules->limit, w->aside) < 0 ? -1 : 0;
		}
		if (w->hosts <= FEW_HOSTS && count_hosts(w, true) < FEW_HOSTS)
			break;
		normal = matrix_median(w->some, collect(w, 0, true));
		if (isnan(normal))
			break;
	}
	return 0;
}

/* Compute a player's median over its cells with partners that are not in ASIDE; NULL: with all. */
static void measure(struct level *l, const struct work *w, enum matrix_way way, uint32_t player,
		    bool *const aside[MATRIX_WAYS])
{
	const struct matrix *m = w->m;
	size_t n = 0;

	l->of[way][player].bad = 0;
	for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
		uint32_t cell = matrix_at(m, way, player, k);

		if (isnan(w->x[cell]) || (aside && aside[!way][matrix_partner(m, way, cell)]))
			continue;
		w->some[n++] = w->x[cell];
	}
	l->of[way][player].partners = peel_hosts(m, w->x, way, player, aside);
	l->of[way][player].median = (float)(matrix_median(w->some, n) / l->normal);
	l->of[way][player].figures = (uint32_t)n;
}

static float known(float level)
{
	return isnan(level) ? 1 : level;
}

/*
 * What the levels that were taken out of N cells have taken of their noise with them: with each
 * player two, of five nodes half of the freedom. INFINITY: all of it, as of three nodes.
 */
static double lost_freedom(const struct work *w, size_t n)
{
	uint32_t aside, players = count_players(w, &aside);
	double left = (double)n - 2. * (players - aside);

	return left > 0 ? sqrt((double)n / fmax(left, (double)n / MOST_LOST)) : INFINITY;
}

/*
 * The noise of cells between good players: what is left when both ends' levels are taken out. Of a
 * few cells nothing is left then, so all that are not bad count as they are.
 */
static void find_noise(struct level *l, const struct work *w)
{
	const struct matrix *m = w->m;
	uint32_t step = m->cells / NOISE_CELLS + 1;
	double freedom;
	size_t n = 0;

	for (uint32_t i = 0; i < m->cells; i += step) {
		uint32_t from = m->cell[i].from, to = m->cell[i].to;
		float sends = known(l->of[MATRIX_SEND][from].median);
		float receives = known(l->of[MATRIX_RECEIVE][to].median);

		if (!isnan(w->x[i]) && !w->aside[MATRIX_SEND][from] &&
		    !w->aside[MATRIX_RECEIVE][to])
			w->some[n++] =
				fabsf(w->x[i] / (float)l->normal / fminf(sends, receives) - 1);
	}
	freedom = lost_freedom(w, n);
	if (n < NOISE_LEAST || isinf(freedom)) {
		freedom = 1;
		n = collect(w, w->rules->limit * l->normal, false);
		for (size_t i = 0; i < n; i++)
			w->some[i] = fabsf(w->some[i] / (float)l->normal - 1);
	}
	l->noise = n ? sd_per_mad * freedom * matrix_median(w->some, n) : 0;
	if (m->cells < FEW_CELLS)
		l->noise = fmax(l->noise, fmin(w->guess.noise, GUESS_MOST));
}

/* The MAD of the levels of good players in one direction. */
static double spread(const struct level *l, const struct work *w, enum matrix_way way)
{
	size_t n = 0;
	double middle;

	for (uint32_t i = 0; i < w->m->players; i++)
		if (!isnan(l->of[way][i].median) && !w->aside[way][i])
			w->some[n++] = l->of[way][i].median;
	middle = matrix_median(w->some, n);
	for (size_t i = 0; i < n; i++)
		w->some[i] = fabsf(w->some[i] - (float)middle);
	return n ? matrix_median(w->some, n) : 0;
}

static void set_limits(struct level *l, const struct work *w, enum matrix_way way)
{
	double mad = spread(l, w, way), least = w->m->cells < FEW_CELLS ? NOISE_FEW : 0;

	for (uint32_t i = 0; i < w->m->players; i++) {
		double figures = l->of[way][i].figures;
		double own = fmax(l->noise, least) * median_per_average / sd_per_mad /
			     sqrt(fmax(figures, 1));
		double widest = fmin(MADS * fmax(FLOOR, fmax(mad, own)), .9);

		l->of[way][i].least = (float)(w->rules->absolute ? w->rules->limit : 1 - widest);
	}
}

/* True if a player has met every host, and reached LEAST with none of them. */
static bool is_nowhere_good(const struct work *w, enum matrix_way way, uint32_t player,
			    double least)
{
	const struct matrix *m = w->m;
	uint32_t hosts = 0, last = UINT32_MAX;

	for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
		uint32_t cell = matrix_at(m, way, player, k), to = matrix_partner(m, way, cell);

		if (isnan(w->x[cell]))
			continue;
		if ((double)w->x[cell] >= least)
			return false;
		hosts += m->host[to] != last;
		last = m->host[to];
	}
	return hosts >= PEEL_PARTNERS_LEAST && hosts + 1 == w->hosts;
}

/* Say who is slow, by the limits. */
static void decide(struct level *l, const struct work *w, enum matrix_way way)
{
	const struct matrix *m = w->m;
	double sure = w->rules->absolute ? 1 : 1 - SURE * l->noise;
	double nowhere = fmin(w->rules->limit, sure);

	for (uint32_t i = 0; i < m->players; i++) {
		float least = l->of[way][i].least;

		for (uint32_t k = 0; k < matrix_count(m, way, i); k++) {
			uint32_t cell = matrix_at(m, way, i, k);

			l->of[way][i].bad += !w->aside[!way][matrix_partner(m, way, cell)] &&
					     w->x[cell] < least * (float)l->normal;
		}
		l->of[way][i].slow = l->of[way][i].partners >= PEEL_PARTNERS_LEAST &&
				     l->of[way][i].median < least &&
				     2 * l->of[way][i].bad > l->of[way][i].figures;
		if (l->of[way][i].partners < PEEL_PARTNERS_LEAST &&
		    is_nowhere_good(w, way, i, nowhere * l->normal)) {
			measure(l, w, way, i, NULL);
			l->of[way][i].bad = l->of[way][i].figures;
			l->of[way][i].slow = true;
		}
	}
}

/* Compute all levels with those aside that were found slow last. */
static void judge(struct level *l, const struct work *w)
{
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t i = 0; i < w->m->players; i++)
			measure(l, w, way, i, w->aside);
	find_noise(l, w);
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++) {
		set_limits(l, w, way);
		decide(l, w, way);
	}
}

int level_init(struct level *l, const struct matrix *m, const float *x,
	       const struct level_rules *rules)
{
	struct work w = {.m = m, .x = x, .rules = rules};
	size_t n = (size_t)m->players + 1;
	int failed;

	*l = (struct level){.of = {calloc(2 * n, sizeof(*l->of[0]))}};
	w.some = malloc((m->cells + n) * sizeof(*w.some));
	w.aside[0] = calloc(2 * n, sizeof(bool));
	failed = !l->of[0] || !w.some || !w.aside[0] ? -1 : 0;
	if (!failed) {
		l->of[1] = l->of[0] + n;
		w.aside[1] = w.aside[0] + n;
	}
	if (!failed && !rules->absolute)
		failed = guess_init(&w.guess, m, x);
	w.hosts = failed ? 0 : count_hosts(&w, false);
	failed = failed || find_normal(l, &w) ? -1 : 0;
	w.general = !failed && rules->absolute && peel_is_general(m, x, rules->limit);
	if (w.general)
		memset(w.aside[0], 0, 2 * n * sizeof(bool));
	for (int pass = 0; pass < PASSES && !failed; pass++) {
		judge(l, &w);
		if (w.general)
			break;
		for (size_t i = 0; i < 2 * n; i++)
			w.aside[0][i] = l->of[0][i].slow;
	}
	free(w.some);
	free(w.aside[0]);
	return failed;
}

bool level_is_known(const struct level *l, enum matrix_way way, uint32_t player)
{
	return l->of[way][player].partners >= PEEL_PARTNERS_LEAST;
}

void level_release(struct level *l)
{
	free(l->of[0]);
	*l = (struct level){0};
}

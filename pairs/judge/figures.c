// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The figures of a player: which of them tell what it reaches, and how low they are among all. */
#include <math.h>
#include <stdlib.h>

#include "fit.h"
#include "limits.h"

/* True if TO is of a slower kind, and PLAYER has enough partners of its own: TO hides what it
 * reaches. */
static bool hides(const struct fit *f, uint32_t player, uint32_t to)
{
	return f->of[player].has_equals &&
	       f->kind[f->kinds.of[to]] < f->kind[f->kinds.of[player]] - FIT_SAME;
}

/* Find the players that have enough partners which are as fast as they are. */
void figures_equals(struct fit *f)
{
	for (uint32_t i = 0; i < f->m->players; i++) {
		uint32_t hosts = 0, last = UINT32_MAX;

		for (uint32_t k = 0; k < matrix_count(f->m, MATRIX_SEND, i); k++) {
			uint32_t cell = matrix_at(f->m, MATRIX_SEND, i, k);
			uint32_t to = f->m->cell[cell].to;

			if (isnan(f->part[cell]) ||
			    f->kind[f->kinds.of[to]] < f->kind[f->kinds.of[i]] - FIT_SAME)
				continue;
			hosts += f->m->host[to] != last;
			last = f->m->host[to];
		}
		f->of[i].has_equals = hosts >= FIT_PARTNERS;
	}
}

/* Collect a player's figures in one way with partners that are not aside; ALL: with any. */
uint32_t figures_of_way(struct fit *f, enum matrix_way way, uint32_t player, bool all,
			uint32_t *hosts)
{
	const struct matrix *m = f->m;
	uint32_t n = 0, last = UINT32_MAX, step = matrix_count(m, way, player) / FIGURES_ENOUGH + 1;

	*hosts = 0;
	for (uint32_t k = 0; k < matrix_count(m, way, player); k += step) {
		uint32_t cell = matrix_at(m, way, player, k), to = matrix_partner(m, way, cell);

		if (isnan(f->part[cell]) || (!all && f->aside[!way][to]) || hides(f, player, to))
			continue;
		f->figure[n++] = (struct fit_figure){.part = f->part[cell],
						     .distance = fit_distance(f, player, to)};
		*hosts += m->host[to] != last;
		last = m->host[to];
	}
	return n;
}

/* The same of slots, with the better or the WORSE of both directions. */
uint32_t figures_of_slots(struct fit *f, uint32_t player, bool worse, uint32_t *hosts)
{
	const struct meetings *l = &f->slots;
	uint32_t n = 0, last = UINT32_MAX;
	uint32_t step = (l->start[player + 1] - l->start[player]) / FIGURES_ENOUGH + 1;

	*hosts = 0;
	for (uint32_t k = l->start[player]; k < l->start[player + 1]; k += step) {
		const struct meeting *t = &l->of[l->by_player[k]];
		uint32_t to = meeting_partner(t, player);

		if (fit_skips(f, player, to) || fit_is_aside(f, to) || hides(f, player, to))
			continue;
		f->figure[n++] = (struct fit_figure){.part = (worse ? t->worse : t->better) -
							     (float)fit_normal(f, player, to),
						     .distance = fit_distance(f, player, to)};
		*hosts += f->m->host[to] != last;
		last = f->m->host[to];
	}
	return n;
}

static int by_part(const void *a, const void *b)
{
	const struct fit_figure *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Find the shares of the N figures, in ascending order. OWN: they are in the pools themselves. */
void figures_shares(struct fit *f, uint32_t pool, uint32_t n, bool own)
{
	qsort(f->figure, n, sizeof(*f->figure), by_part);
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t d = f->figure[i].distance;

		for (end = i; end < n && f->figure[end].distance == d;)
			end++;
		for (uint32_t k = i; k < end; k++)
			f->share[k] = chances_share(&f->pool[pool][d], (double)f->figure[k].part,
						    own ? end - i : 0, own ? k - i + 1 : 0);
	}
	qsort(f->share, n, sizeof(*f->share), by_value);
}

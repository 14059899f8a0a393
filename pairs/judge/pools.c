// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What chance makes of good players: the pools of their figures. */
#include <math.h>
#include <string.h>

#include "fit.h"

const struct chances *fit_main_pool(const struct fit *f)
{
	const struct chances *most = f->pool[FIT_FIGURES];

	for (uint32_t d = 1; d < FIT_DISTANCES; d++)
		if (f->pool[FIT_FIGURES][d].count > most->count)
			most = &f->pool[FIT_FIGURES][d];
	return most;
}

double fit_noise(const struct fit *f)
{
	const struct chances *p = fit_main_pool(f);

	return p->count ? (chances_at(p, .75) - chances_at(p, .25)) / 1.349 : 0;
}

/* What lacked its CPU says nothing of chance, unless there is hardly anything else: FEW, of each
 * distance; NULL: not known yet. */
static bool is_for_pool(const bool *few, uint32_t distance, bool lacked)
{
	return few ? lacked && few[distance] : !lacked;
}

/*
 * Find what the cells reach. Two slots of a pair share what is wrong with it: it counts once.
 */
static void find_parts(struct fit *f, const bool *few)
{
	for (uint32_t i = 0; i < f->m->cells; i++) {
		const struct matrix_cell *c = &f->m->cell[i];

		uint32_t distance = fit_distance(f, c->from, c->to);
		float part = fit_y(f, c) - (float)fit_normal(f, c->from, c->to);

		f->part[i] = NAN;
		if (fit_skips(f, c->from, c->to))
			continue;
		f->part[i] = fit_best(f, part, fit_lift(f, c));
		if (!f->aside[MATRIX_SEND][c->from] && !f->aside[MATRIX_RECEIVE][c->to] &&
		    is_for_pool(few, distance, fit_lift(f, c) > 0))
			chances_add(&f->pool[FIT_FIGURES][distance], (double)part);
	}
}

static void find_worses(struct fit *f, const bool *few)
{
	for (const struct meeting *t = f->slots.of; t < f->slots.end; t++) {
		uint32_t distance = fit_distance(f, t->player, t->with);
		bool lacked = t->lift[MATRIX_SEND] > 0 || t->lift[MATRIX_RECEIVE] > 0;

		if (t->player < t->with && !fit_skips(f, t->player, t->with) &&
		    !fit_is_aside(f, t->player) && !fit_is_aside(f, t->with) &&
		    is_for_pool(few, distance, lacked))
			chances_add(&f->pool[FIT_WORSES][distance],
				    (double)fminf(t->sends, t->receives) -
					    fit_normal(f, t->player, t->with));
	}
}

void pools_fill(struct fit *f)
{
	bool few[FIT_DISTANCES];

	memset(f->pool, 0, FIT_POOLS * sizeof(*f->pool));
	find_parts(f, NULL);
	find_worses(f, NULL);
	for (uint32_t d = 0; d < FIT_DISTANCES; d++)
		few[d] = f->pool[FIT_FIGURES][d].count < KIND_CELLS_LEAST;
	find_parts(f, few);
	find_worses(f, few);
	for (uint32_t d = 0; d < FIT_DISTANCES; d++) {
		chances_close(&f->pool[FIT_FIGURES][d]);
		chances_close(&f->pool[FIT_WORSES][d]);
	}
}

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

/*
 * Find what the cells reach. Two slots of a pair share what is wrong with it: it counts once.
 */
static void find_parts(struct fit *f)
{
	for (uint32_t i = 0; i < f->m->cells; i++) {
		const struct matrix_cell *c = &f->m->cell[i];

		f->part[i] = NAN;
		if (fit_skips(f, c->from, c->to))
			continue;
		f->part[i] = fit_y(f, c) - (float)fit_normal(f, c->from, c->to);
		if (!f->aside[MATRIX_SEND][c->from] && !f->aside[MATRIX_RECEIVE][c->to])
			chances_add(&f->pool[FIT_FIGURES][fit_distance(f, c->from, c->to)],
				    (double)f->part[i]);
	}
}

static void find_worses(struct fit *f)
{
	for (const struct meeting *t = f->slots.of; t < f->slots.end; t++)
		if (t->player < t->with && !fit_skips(f, t->player, t->with) &&
		    !fit_is_aside(f, t->player) && !fit_is_aside(f, t->with))
			chances_add(&f->pool[FIT_WORSES][fit_distance(f, t->player, t->with)],
				    (double)fit_part(f, t, FIT_WORSE));
}

void pools_fill(struct fit *f)
{
	memset(f->pool, 0, FIT_POOLS * sizeof(*f->pool));
	find_parts(f);
	find_worses(f);
	for (uint32_t d = 0; d < FIT_DISTANCES; d++) {
		chances_close(&f->pool[FIT_FIGURES][d]);
		chances_close(&f->pool[FIT_WORSES][d]);
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The figures of a player: which of them tell what it reaches, and how low they are among all. */
#include <math.h>
#include <stdlib.h>

#include "fit.h"
#include "limits.h"

static float figure_of(const struct meeting *t, enum fit_way way)
{
	switch (way) {
	case FIT_SENDS:
		return t->sends;
	case FIT_RECEIVES:
		return t->receives;
	case FIT_BETTER:
		return fmaxf(t->sends, t->receives);
	default:
		return fminf(t->sends, t->receives);
	}
}

uint32_t figures_of(const struct fit *f, uint32_t player, enum fit_way way, bool all,
		    uint32_t *hosts)
{
	const struct meeting *t = meetings_of(&f->slots, player);
	uint32_t count = f->slots.start[player + 1] - f->slots.start[player], n = 0;
	uint32_t last = UINT32_MAX, step = count / FIGURES_ENOUGH + 1;

	*hosts = 0;
	for (uint32_t i = 0; i < count; i += step) {
		uint32_t to = t[i].with;
		float y = figure_of(&t[i], way);
		bool aside = way < FIT_BETTER ? f->aside[!way][to] : fit_is_aside(f, to);

		/* one of a slower kind hides what it reaches, but if it has too few others */
		if (isnan(y) || (aside && !all) || fit_skips(f, player, to) ||
		    (f->of[player].has_equals && fit_is_slower(f, to, player)))
			continue;
		f->figure[n++] = (struct fit_figure){.part = y - (float)fit_normal(f, player, to),
						     .distance = fit_distance(f, player, to),
						     .at = t[i].at};
		*hosts += f->m->host[to] != last;
		last = f->m->host[to];
	}
	return n;
}

double figures_quantile(const struct fit *f, uint32_t n, double at)
{
	for (uint32_t i = 0; i < n; i++)
		f->some[i] = f->figure[i].part;
	return matrix_quantile(f->some, n, at);
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

void figures_shares(const struct fit *f, enum fit_way way, uint32_t n, bool own)
{
	uint32_t pool = way == FIT_BETTER  ? FIT_BETTERS
			: way == FIT_WORSE ? FIT_WORSES
					   : FIT_FIGURES;

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

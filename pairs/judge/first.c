// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who is set aside at first, before it is known what good players reach. */
#include <math.h>
#include <stdlib.h>

#include "fit.h"
#include "limits.h"

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

	for (uint32_t i = 0; i < f->m->players; i++)
		for (const struct meeting *t = meetings_of(&f->slots, i);
		     t < meetings_end(&f->slots, i); t++)
			if (!isnan(fmaxf(t->sends, t->receives)))
				f->some[n++] =
					fmaxf(t->sends, t->receives) - fminf(t->sends, t->receives);
	return matrix_median(f->some, n);
}

/*
 * Of a few hosts: a player that reached what is normal with none of the others is slow. Of four
 * hosts of which two are slow, neither has three good partners. BAD: room for all cells.
 */
static int find_nowhere(struct fit *f, signed char *bad)
{
	const struct matrix *m = f->m;
	uint32_t all = 0, good = 0;
	/* a pair is uneven by noise, or by one bad direction */
	double least = f->body->latency
			       ? -2 * FIT_LATENCY
			       : -fmin(FIRST_NOWHERE_MOST, fmax(FIRST_NOWHERE, 4 * find_even(f)));

	kinds_fit(f, FIRST_BEST);
	for (uint32_t i = 0; i < m->cells; i++) {
		const struct matrix_cell *c = &m->cell[i];
		double part = (double)fit_y(f, i) - fit_normal(f, c->from, c->to);

		bad[i] = fit_skips(f, c->from, c->to) || isnan(part) ? -1 : part < least;
	}
	if (matrix_explain(m, bad, FIRST_NONE, FIT_PARTNERS, f->aside) < 0)
		return -1;
	for (uint32_t i = 0; i < m->cells; i++) {
		bool known = bad[i] >= 0 && !f->aside[MATRIX_SEND][m->cell[i].from] &&
			     !f->aside[MATRIX_RECEIVE][m->cell[i].to];

		all += known;
		good += known && !bad[i];
	}
	/* if most figures of the others are no better, the best ones were luck */
	for (uint32_t i = 0; i < m->players && good >= FIRST_GOOD * all; i++)
		f->of[i].nowhere = f->aside[MATRIX_SEND][i] | f->aside[MATRIX_RECEIVE][i] << 1;
	return 0;
}

int first_aside(struct fit *f)
{
	signed char *bad = malloc((size_t)f->m->cells + 1);
	int failed = bad ? 0 : -1;

	f->hosts = count_hosts(f);
	if (!failed && f->hosts <= FIRST_FEW_HOSTS)
		failed = find_nowhere(f, bad);
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (size_t i = 0; i < sizeof(worst) / sizeof(*worst); i++)
			set_low_aside(f, way, worst[i]);
	free(bad);
	return failed;
}

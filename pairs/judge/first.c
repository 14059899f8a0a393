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
		if (f->m->host[i] != last && figures_of(f, i, FIT_BETTER, true, &hosts)) {
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

/* True if most figures of those who are good somewhere reach LEAST: else the best ones were luck.
 */
static bool are_good(const struct fit *f, double least)
{
	uint32_t good = 0, all = 0, hosts;

	for (uint32_t i = 0; i < f->m->players; i++) {
		uint32_t n = 0;

		if (!(f->of[i].nowhere & 1 << MATRIX_SEND))
			n = figures_of(f, i, FIT_SENDS, false, &hosts);
		for (uint32_t k = 0; k < n; k++)
			good += (double)f->figure[k].part >= least;
		all += n;
	}
	return good >= FIRST_GOOD * all;
}

/*
 * Of a few hosts: a player that met all other hosts and reached what is normal with none of them is
 * slow. Of four hosts of which two are slow, neither has three good partners.
 */
static void find_nowhere(struct fit *f)
{
	uint32_t hosts;
	/* a pair is uneven by noise, or by one bad direction */
	double least = f->body->latency
			       ? -2 * FIT_LATENCY
			       : -fmin(FIRST_NOWHERE_MOST, fmax(FIRST_NOWHERE, 4 * find_even(f)));

	kinds_fit(f, FIRST_BEST);
	for (uint32_t i = 0; i < f->m->players; i++)
		for (enum matrix_way way = 0; way < MATRIX_WAYS; way++) {
			uint32_t n = figures_of(f, i, (enum fit_way)way, true, &hosts), good = 0;

			for (uint32_t k = 0; k < n; k++)
				good += (double)f->figure[k].part >= least;
			if (good || hosts < FIT_PARTNERS || hosts + 1 != f->hosts)
				continue;
			f->of[i].nowhere |= (uint8_t)(1 << way);
		}
	for (uint32_t i = 0; i < f->m->players; i++)
		for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
			f->aside[way][i] |= f->of[i].nowhere >> way & 1;
	if (are_good(f, least))
		return;
	for (uint32_t i = 0; i < f->m->players; i++)
		f->of[i].nowhere = 0;
}

void first_aside(struct fit *f)
{
	f->hosts = count_hosts(f);
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (size_t i = 0; i < sizeof(worst) / sizeof(*worst); i++)
			set_low_aside(f, way, worst[i]);
	if (f->hosts <= FIRST_FEW_HOSTS)
		find_nowhere(f);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who is set aside at first, before it is known what good players reach. */
#include <math.h>
#include <stdlib.h>

#include "fit.h"
#include "limits.h"

/* The parts of a player's figures by which it is set aside at first. */
static const double worst[] = FIRST_WORST;

/* Set those aside in WAY whose quantile AT is lower than most players'. QUANTILE: room for all. */
static void set_low_aside(struct fit *f, enum matrix_way way, double at, float *quantile)
{
	uint32_t players = f->m->players, hosts;
	double middle, deviation;
	size_t known = 0;

	for (uint32_t i = 0; i < players; i++) {
		uint32_t n = figures_of_way(f, way, i, true, &hosts);

		for (uint32_t k = 0; k < n; k++)
			f->some[k] = f->figure[k].part;
		quantile[i] = (float)matrix_quantile(f->some, n, at);
	}
	for (uint32_t i = 0; i < players; i++)
		if (!isnan(quantile[i]))
			f->some[known++] = quantile[i];
	middle = matrix_median(f->some, known);
	for (size_t k = 0; k < known; k++)
		f->some[k] = fabsf(f->some[k] - (float)middle);
	deviation = FIT_SD_PER_MAD * matrix_median(f->some, known);
	for (uint32_t i = 0; i < players; i++)
		f->aside[way][i] |= (double)quantile[i] <
				    middle - fmax(FIRST_BELOW, FIRST_BELOW_SURE * deviation);
}

/* At first: set those aside whose best, middle or low figures are lower than most players'. */
int first_aside(struct fit *f)
{
	float *room = malloc(((size_t)f->m->players + 1) * sizeof(*room));

	for (enum matrix_way way = 0; room && way < MATRIX_WAYS; way++)
		for (size_t i = 0; i < sizeof(worst) / sizeof(*worst); i++)
			set_low_aside(f, way, worst[i], room);
	free(room);
	return room ? 0 : -1;
}

uint32_t first_hosts(const struct fit *f)
{
	uint32_t hosts = 0, last = UINT32_MAX;

	for (uint32_t i = 0; i < f->m->players; i++) {
		bool known = false;

		for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
			for (uint32_t k = 0; k < matrix_count(f->m, way, i) && !known; k++)
				known = !isnan(f->part[matrix_at(f->m, way, i, k)]);
		hosts += known && f->m->host[i] != last;
		last = known ? f->m->host[i] : last;
	}
	return hosts;
}

/* The figure that only one is above: of few cells the best one may be chance. */
static double second_best(const struct fit *f)
{
	double first = -INFINITY, second = -INFINITY;

	for (uint32_t i = 0; i < f->m->cells; i++) {
		double v = (double)f->part[i];

		if (v > first) {
			second = first;
			first = v;
		} else if (v > second) {
			second = v;
		}
	}
	return second;
}

/* True if most figures of those who are good somewhere reach LEAST: else the best ones were luck.
 */
static bool are_good(const struct fit *f, double least)
{
	uint32_t good = 0, all = 0;

	for (uint32_t i = 0; i < f->m->cells; i++) {
		const struct matrix_cell *c = &f->m->cell[i];

		if (isnan(f->part[i]) || f->of[c->from].nowhere & 1 << MATRIX_SEND ||
		    f->of[c->to].nowhere & 1 << MATRIX_RECEIVE)
			continue;
		all++;
		good += (double)f->part[i] >= least;
	}
	return good >= FIRST_GOOD * all;
}

/*
 * Of a few hosts: a player that met all other hosts and reached what is normal with none of them is
 * slow. Of four hosts of which two are slow, neither has three good partners.
 */
void first_nowhere(struct fit *f)
{
	uint32_t hosts, known = f->hosts;
	double best = second_best(f), even = 0, least;
	bool sure;
	size_t n = 0;

	for (uint32_t i = 0; i < f->slots.count; i++)
		f->some[n++] = f->slots.of[i].better - f->slots.of[i].worse;
	even = matrix_median(f->some, n); /* a pair is uneven by noise, or by one bad direction */
	least = best - (f->body->latency ? 2 * FIT_LATENCY
					 : fmin(FIRST_NOWHERE_MOST, fmax(FIRST_NOWHERE, 4 * even)));
	for (uint32_t i = 0; i < f->m->players && known <= FIRST_FEW_HOSTS; i++)
		for (enum matrix_way way = 0; way < MATRIX_WAYS; way++) {
			uint32_t figures = figures_of_way(f, way, i, true, &hosts), good = 0;

			for (uint32_t k = 0; k < figures; k++)
				good += (double)f->figure[k].part >= least;
			if (!good && hosts >= FIT_PARTNERS && hosts + 1 == known)
				f->of[i].nowhere |= (uint8_t)(1 << way);
		}
	sure = are_good(f, least);
	for (uint32_t i = 0; i < f->m->players; i++) {
		f->of[i].nowhere = sure ? f->of[i].nowhere : 0;
		for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
			f->aside[way][i] |= (f->of[i].nowhere & 1 << way) != 0;
	}
}

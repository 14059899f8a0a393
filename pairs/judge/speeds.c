// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is normal for each rail: a host may have adapters of different speed, say for computing and
 * for storage. The figures of a slower one are judged as parts of what it reaches.
 */
#include <stdlib.h>
#include <string.h>

#include "judgement.h"

#define BEST   .95 /* this part of a rail's figures is below its best */
#define NEAR   .9  /* of the best: such figures are of good pairs */
#define DIFFER .8  /* of the fastest rail: above this, a rail is no slower kind */

/* What good pairs of RAIL reach. */
static double rate_of(const struct judgement *j, uint32_t rail)
{
	float *some = j->some;
	size_t n = 0, near = 0;
	double best;

	for (uint32_t i = 0; i < j->m.cells; i++)
		if (j->speeds.of[j->m.cell[i].from] == rail && j->plain[i] > 0)
			some[n++] = j->plain[i];
	best = matrix_quantile(some, n, BEST);
	for (size_t i = 0; i < n; i++)
		if ((double)some[i] >= NEAR * best)
			some[near++] = some[i];
	return near ? matrix_median(some, near) : 0;
}

/* The number of the rail of PLAYER, by its name; NAMES_NONE: no memory. */
static uint32_t rail_of(struct judgement *j, uint32_t player)
{
	const char *host = j->body->hosts.text[j->body->player[player].host];
	const char *name = j->body->names.text[player] + strlen(host);

	name += *name == '/';
	return names_put(&j->speeds.rails, name);
}

int judge_speeds(struct judgement *j)
{
	struct judge_speeds *s = &j->speeds;
	double most = 0;

	names_init(&s->rails, BODY_PLAYERS_MAX);
	s->of = calloc((size_t)j->m.players + 1, sizeof(*s->of));
	s->part = calloc((size_t)j->m.players + 1, sizeof(*s->part));
	for (uint32_t i = 0; i < j->m.players && s->of; i++)
		s->of[i] = rail_of(j, i);
	if (!s->of || !s->part || s->rails.no_memory)
		return -1;
	for (uint32_t r = 0; r < s->rails.count; r++) {
		s->part[r] = j->body->latency ? 1 : rate_of(j, r);
		most = s->part[r] > most ? s->part[r] : most;
	}
	for (uint32_t r = 0; r < s->rails.count; r++) {
		s->part[r] = s->part[r] > 0 && s->part[r] < DIFFER * most ? s->part[r] / most : 1;
		s->differ |= s->part[r] < 1;
	}
	return 0;
}

double judge_speed(const struct judgement *j, uint32_t player)
{
	return j->speeds.part[j->speeds.of[player]];
}

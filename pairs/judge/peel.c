// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sets players aside, the worst first. */
#include "peel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS_MAX 200
#define NEAR       .97 /* those who are nearly as bad as the worst go with it */
#define FEW_GOOD   .05 /* of all cells */

/* What is left of a player in one direction. */
struct left {
	uint32_t cells, bad;
	bool unknown; /* too few partners are left */
};

static bool is_bad(float x, double limit)
{
	return (double)x < limit;
}

uint32_t peel_hosts(const struct matrix *m, const float *x, enum matrix_way way, uint32_t player,
		    bool *const aside[MATRIX_WAYS])
{
	uint32_t hosts = 0, last = UINT32_MAX;

	for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
		uint32_t cell = matrix_at(m, way, player, k), to = matrix_partner(m, way, cell);

		if (isnan(x[cell]) || (aside && aside[!way][to]) || m->host[to] == last)
			continue;
		last = m->host[to];
		hosts++;
	}
	return hosts;
}

/* The part of a player's cells that is bad; 0 if that is not more than half, or it is ASIDE. */
static double part_bad(const struct left *l, bool aside)
{
	if (aside || l->unknown || l->cells < PEEL_PARTNERS_LEAST || 2 * l->bad <= l->cells)
		return 0;
	return (double)l->bad / l->cells;
}

/* Take the cells of a player from what is left of its partners. */
static void set_aside(struct left *const left[MATRIX_WAYS], const struct matrix *m, const float *x,
		      double limit, uint32_t player_way)
{
	enum matrix_way way = player_way % MATRIX_WAYS;
	uint32_t player = player_way / MATRIX_WAYS;

	for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
		uint32_t cell = matrix_at(m, way, player, k);
		struct left *to = &left[!way][matrix_partner(m, way, cell)];

		if (isnan(x[cell]))
			continue;
		to->cells--;
		to->bad -= is_bad(x[cell], limit);
	}
}

bool peel_is_general(const struct matrix *m, const float *x, double limit)
{
	uint32_t cells = 0, good = 0;

	for (uint32_t i = 0; i < m->cells; i++) {
		cells += !isnan(x[i]);
		good += !isnan(x[i]) && !is_bad(x[i], limit);
	}
	return cells && good < FEW_GOOD * cells;
}

int peel(const struct matrix *m, const float *x, double limit, bool *const aside[MATRIX_WAYS])
{
	uint32_t n = m->players, both = n * MATRIX_WAYS;
	struct left *all = calloc((size_t)both + 1, sizeof(*all));
	struct left *const left[] = {all, all ? all + n : NULL};
	double worst = 1;
	int count = 0;

	for (enum matrix_way way = 0; way < MATRIX_WAYS && all; way++) {
		memset(aside[way], 0, n * sizeof(bool));
		for (uint32_t i = 0; i < m->cells; i++) {
			struct left *of = &left[way][matrix_self(m, way, i)];

			of->cells += !isnan(x[i]);
			of->bad += is_bad(x[i], limit);
		}
	}
	for (int sweep = 0; all && worst > 0 && sweep < SWEEPS_MAX; sweep++) {
		worst = 0;
		for (uint32_t i = 0; i < both; i++)
			worst = fmax(worst, part_bad(&all[i], aside[i / n][i % n]));
		for (uint32_t i = 0; i < both && worst > 0; i++) {
			enum matrix_way way = i % MATRIX_WAYS;
			uint32_t player = i / MATRIX_WAYS;

			if (part_bad(&left[way][player], aside[way][player]) < worst * NEAR)
				continue;
			if (peel_hosts(m, x, way, player, aside) < PEEL_PARTNERS_LEAST) {
				left[way][player].unknown = true;
				continue;
			}
			aside[way][player] = true;
			set_aside(left, m, x, limit, i);
			count++;
		}
	}
	free(all);
	return all ? count : -1;
}

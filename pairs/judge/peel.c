// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sets players aside, the worst first. */
#include "peel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS_MAX 200
#define NEAR       .97 /* those who are nearly as bad as the worst go with it */
#define FEW_GOOD   .05 /* of all cells */

/* What is left of each player in each direction. */
struct left {
	uint32_t *cells[MATRIX_WAYS], *bad[MATRIX_WAYS];
	bool *unknown[MATRIX_WAYS]; /* too few partners are left */
};

static bool is_bad(float x, double limit)
{
	return (double)x < limit;
}

static int left_init(struct left *l, const struct matrix *m, const float *x, double limit)
{
	for (int way = 0; way < MATRIX_WAYS; way++) {
		l->cells[way] = calloc((size_t)m->players + 1, sizeof(uint32_t));
		l->bad[way] = calloc((size_t)m->players + 1, sizeof(uint32_t));
		l->unknown[way] = calloc((size_t)m->players + 1, sizeof(bool));
		if (!l->cells[way] || !l->bad[way] || !l->unknown[way])
			return -1;
	}
	for (uint32_t i = 0; i < m->cells; i++)
		for (enum matrix_way way = 0; way < MATRIX_WAYS && !isnan(x[i]); way++) {
			l->cells[way][matrix_self(m, way, i)]++;
			l->bad[way][matrix_self(m, way, i)] += is_bad(x[i], limit);
		}
	return 0;
}

static void left_release(struct left *l)
{
	for (int way = 0; way < MATRIX_WAYS; way++) {
		free(l->cells[way]);
		free(l->bad[way]);
		free(l->unknown[way]);
	}
}

uint32_t peel_hosts(const struct matrix *m, const float *x, enum matrix_way way, uint32_t player,
		    bool *const aside[MATRIX_WAYS])
{
	uint32_t hosts = 0, last = UINT32_MAX;

	for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
		uint32_t cell = matrix_at(m, way, player, k), to = matrix_partner(m, way, cell);

		if (isnan(x[cell]) || aside[!way][to] || m->host[to] == last)
			continue;
		last = m->host[to];
		hosts++;
	}
	return hosts;
}

/* The part of a player's cells that is bad; 0 if that is not more than half, or it is aside. */
static double part_bad(const struct left *l, bool *const aside[MATRIX_WAYS], enum matrix_way way,
		       uint32_t player)
{
	uint32_t cells = l->cells[way][player], bad = l->bad[way][player];

	if (aside[way][player] || l->unknown[way][player] || cells < PEEL_PARTNERS_LEAST)
		return 0;
	return 2 * bad > cells ? (double)bad / cells : 0;
}

static void set_aside(struct left *l, const struct matrix *m, const float *x, double limit,
		      enum matrix_way way, uint32_t player)
{
	for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
		uint32_t cell = matrix_at(m, way, player, k), to = matrix_partner(m, way, cell);

		if (isnan(x[cell]))
			continue;
		l->cells[!way][to]--;
		l->bad[!way][to] -= is_bad(x[cell], limit);
	}
}

static double worst_part(const struct left *l, const struct matrix *m,
			 bool *const aside[MATRIX_WAYS])
{
	double worst = 0;

	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t i = 0; i < m->players; i++)
			worst = fmax(worst, part_bad(l, aside, way, i));
	return worst;
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
	struct left l = {0};
	int count = left_init(&l, m, x, limit);
	double worst;

	for (int way = 0; way < MATRIX_WAYS; way++)
		memset(aside[way], 0, m->players * sizeof(bool));
	for (int sweep = 0; count >= 0 && sweep < SWEEPS_MAX; sweep++) {
		worst = worst_part(&l, m, aside);
		if (worst <= 0)
			break;
		for (uint32_t i = 0; i < m->players * MATRIX_WAYS; i++) {
			enum matrix_way way = i % MATRIX_WAYS;
			uint32_t player = i / MATRIX_WAYS;

			if (part_bad(&l, aside, way, player) < worst * NEAR)
				continue;
			if (peel_hosts(m, x, way, player, aside) < PEEL_PARTNERS_LEAST) {
				l.unknown[way][player] = true;
				continue;
			}
			aside[way][player] = true;
			set_aside(&l, m, x, limit, way, player);
			count++;
		}
	}
	left_release(&l);
	return count;
}

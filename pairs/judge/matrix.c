// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes cells of tries, and finds medians. */
#include "matrix.h"
#include "limits.h"

#include <math.h>
#include <stdlib.h>

#define EXPLAIN_SWEEPS 200
#define SD_PER_MAD     1.4826 /* of normal numbers */
#define TRIES_KEPT     64     /* of one cell that its median is of */

/* Put the Kth smallest of COUNT numbers to its place, and smaller ones before it (Wirth). */
static float select_kth(float *v, size_t count, size_t k)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, at = (ptrdiff_t)k;

	while (low < high) {
		ptrdiff_t i = low, j = high;
		float pivot = v[at];

		do {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				float other = v[i];

				v[i++] = v[j];
				v[j--] = other;
			}
		} while (i <= j);
		if (j < at)
			low = i;
		if (at < i)
			high = j;
	}
	return v[at];
}

double matrix_quantile(float *v, size_t count, double where)
{
	double at = ((double)count - 1) * where, high;
	size_t k = (size_t)(at + .5);

	if (!count)
		return NAN;
	high = select_kth(v, count, k);
	/* in the middle of two: their mean */
	return k && (double)k - at >= .5 ? (high + select_kth(v, k, k - 1)) / 2 : high;
}

double matrix_deviation(float *v, size_t count, double *median)
{
	*median = matrix_median(v, count);
	for (size_t i = 0; i < count; i++)
		v[i] = fabsf(v[i] - (float)*median);
	return count ? SD_PER_MAD * matrix_median(v, count) : 0;
}

/* Fill CELL with what its tries say. */
static void fill_cell(struct matrix_cell *cell, const struct body_try *t)
{
	float loaded[TRIES_KEPT], alone[TRIES_KEPT], tail[TRIES_KEPT];
	size_t loaded_n = 0, alone_n = 0, tail_n = 0;

	for (uint32_t i = 0; i < cell->tries && i < TRIES_KEPT; i++) {
		bool measured = t[i].cause == BODY_MEASURED;

		if (measured && t[i].alone)
			alone[alone_n++] = t[i].value;
		else if (measured)
			loaded[loaded_n++] = t[i].value;
		if (measured && !isnan(t[i].p99))
			tail[tail_n++] = t[i].p99 / t[i].value;
		cell->measured += measured;
		cell->failed += !measured;
	}
	cell->loaded = (float)matrix_median(loaded, loaded_n);
	cell->alone = (float)matrix_median(alone, alone_n);
	cell->tail = (float)matrix_median(tail, tail_n);
}

/* Make a cell of each group of tries between the same two. */
static void fill_cells(struct matrix *m, const struct body_try *tries, uint32_t count)
{
	for (uint32_t i = 0; i < count;) {
		struct matrix_cell *cell = &m->cell[m->cells++];

		*cell = (struct matrix_cell){.from = tries[i].from, .to = tries[i].to, .first = i};
		while (i < count && tries[i].from == cell->from && tries[i].to == cell->to)
			i++;
		cell->tries = i - cell->first;
		fill_cell(cell, &tries[cell->first]);
		m->row[cell->from + 1]++;
		m->col[cell->to + 1]++;
	}
}

int matrix_init(struct matrix *m, uint32_t players, const uint32_t *host,
		const struct body_try *tries, uint32_t count)
{
	*m = (struct matrix){.players = players, .host = host};
	m->cell = malloc(((size_t)count + 1) * sizeof(*m->cell));
	m->row = calloc((size_t)players + 1, sizeof(*m->row));
	m->col = calloc((size_t)players + 2, sizeof(*m->col));
	m->by_to = malloc(((size_t)count + 1) * sizeof(*m->by_to));
	if (!m->cell || !m->row || !m->col || !m->by_to)
		return -1;
	fill_cells(m, tries, count);
	for (uint32_t i = 0; i < players; i++) {
		m->row[i + 1] += m->row[i];
		m->col[i + 1] += m->col[i];
	}
	for (uint32_t i = 0; i < m->cells; i++) /* COL is one place ahead while it is filled */
		m->by_to[m->col[m->cell[i].to]++] = i;
	for (uint32_t i = players; i; i--)
		m->col[i] = m->col[i - 1];
	m->col[0] = 0;
	return 0;
}

const struct matrix_cell *matrix_find(const struct matrix *m, uint32_t from, uint32_t to)
{
	uint32_t low = m->row[from], high = m->row[from + 1];

	while (low < high) {
		uint32_t at = low + (high - low) / 2;

		if (m->cell[at].to == to)
			return &m->cell[at];
		if (m->cell[at].to < to)
			low = at + 1;
		else
			high = at;
	}
	return NULL;
}

/*
 * The part of PLAYER's cells in WAY, with partners that are not ASIDE (NULL: nobody is), that is
 * BAD. 0: these are of fewer than LEAST hosts.
 */
static double part_bad(const struct matrix *m, const signed char *bad, uint32_t player,
		       enum matrix_way way, bool *const aside[MATRIX_WAYS], uint32_t least)
{
	uint32_t hosts = 0, cells = 0, count = 0, last = UINT32_MAX;

	for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
		uint32_t cell = matrix_at(m, way, player, k), to = matrix_partner(m, way, cell);

		if (bad[cell] < 0 || (aside && aside[!way][to]))
			continue;
		cells++;
		count += bad[cell] > 0;
		hosts += m->host[to] != last;
		last = m->host[to];
	}
	return cells && hosts >= least ? (double)count / cells : 0;
}

bool matrix_explain(const struct matrix *m, const signed char *bad, uint32_t least,
		    bool *const aside[MATRIX_WAYS])
{
	uint32_t both = m->players * MATRIX_WAYS, known = 0, good = 0;
	bool found = true;

	for (uint32_t i = 0; i < m->cells; i++) {
		known += bad[i] >= 0;
		good += !bad[i];
	}
	if (good < EXPLAIN_FEW_GOOD * known) {
		for (uint32_t i = 0; i < both; i++)
			aside[i % 2][i / 2] |= part_bad(m, bad, i / 2, i % 2, NULL, least) > .5;
		return false;
	}
	for (int sweep = 0; found && sweep < EXPLAIN_SWEEPS; sweep++) {
		double worst = .5;

		found = false;
		for (uint32_t i = 0; i < both; i++)
			if (!aside[i % 2][i / 2])
				worst = fmax(worst, part_bad(m, bad, i / 2, i % 2, aside, least));
		for (uint32_t i = 0; i < both; i++) {
			double part = part_bad(m, bad, i / 2, i % 2, aside, least);

			if (!aside[i % 2][i / 2] && part > .5 && part >= worst * EXPLAIN_NEAR)
				found = aside[i % 2][i / 2] = true;
		}
	}
	return true;
}

void matrix_release(struct matrix *m)
{
	free(m->cell);
	free(m->row);
	free(m->col);
	free(m->by_to);
	*m = (struct matrix){0};
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * matrix: what was measured from each player to each other one; only pairs that were tried have a
 * cell, so a schedule of a few rounds stays small.
 *
 * A cell holds the median of its tries, apart for those of full rounds and for those alone on the
 * fabric. Made once, then read.
 */
#pragma once

#include "body.h"

enum matrix_way {
	MATRIX_SEND,
	MATRIX_RECEIVE,
	MATRIX_WAYS
};

struct matrix_cell {
	uint32_t from, to;
	float loaded, alone;       /* figures; NaN: none */
	float tail;                /* p99 / median; NaN: not known */
	uint16_t measured, failed; /* tries */
	uint32_t first;            /* its tries are those from here on, */
	uint32_t tries;            /* this many */
};

struct matrix {
	uint32_t players, cells;
	const uint32_t *host;     /* of each player; borrowed */
	struct matrix_cell *cell; /* by sender, then receiver */
	uint32_t *row;            /* players + 1: the first cell of each sender */
	uint32_t *col;            /* players + 1: the first place in BY_TO of each receiver */
	uint32_t *by_to;          /* numbers of cells, by receiver, then sender */
};

/*
 * Make the matrix of COUNT TRIES, sorted by sender and receiver (body_settle()), of PLAYERS whose
 * hosts are HOST. Returns -1 if there is no memory. Release it in either case.
 */
int matrix_init(struct matrix *m, uint32_t players, const uint32_t *host,
		const struct body_try *tries, uint32_t count);

/* How many cells PLAYER has in a direction; and the number of the Kth. */
static inline uint32_t matrix_count(const struct matrix *m, enum matrix_way way, uint32_t player)
{
	const uint32_t *start = way == MATRIX_SEND ? m->row : m->col;

	return start[player + 1] - start[player];
}

static inline uint32_t matrix_at(const struct matrix *m, enum matrix_way way, uint32_t player,
				 uint32_t k)
{
	return way == MATRIX_SEND ? m->row[player] + k : m->by_to[m->col[player] + k];
}

/* The other player of a cell. */
static inline uint32_t matrix_partner(const struct matrix *m, enum matrix_way way, uint32_t cell)
{
	return way == MATRIX_SEND ? m->cell[cell].to : m->cell[cell].from;
}

/* The cell from FROM to TO, or NULL. */
const struct matrix_cell *matrix_find(const struct matrix *m, uint32_t from, uint32_t to);

void matrix_release(struct matrix *m);

/* The median of COUNT numbers, which are reordered; NaN for none. */
double matrix_median(float *v, size_t count);

/* The number below which a part of WHERE of them lies (0 to 1). */
double matrix_quantile(float *v, size_t count, double where);

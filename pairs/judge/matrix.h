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

/* A walk over the cells of PLAYER of the matrix M: those that it sends, then those it receives. */
struct matrix_walk {
	const struct matrix *m;
	uint32_t player, next;
	enum matrix_way way; /* of the cell where it is, */
	const struct matrix_cell *cell;
	uint32_t with; /* and the other player */
};

/* Go to the next cell. Returns false behind the last one. */
static inline bool matrix_next(struct matrix_walk *w)
{
	uint32_t sent = matrix_count(w->m, MATRIX_SEND, w->player), at = w->next++;

	if (at >= sent + matrix_count(w->m, MATRIX_RECEIVE, w->player))
		return false;
	w->way = at < sent ? MATRIX_SEND : MATRIX_RECEIVE;
	at = matrix_at(w->m, w->way, w->player, at < sent ? at : at - sent);
	w->cell = &w->m->cell[at];
	w->with = matrix_partner(w->m, w->way, at);
	return true;
}

/*
 * Put those players ASIDE, in each direction, who explain the bad ones of all cells, as BAD says of
 * each: the one that is bad with the largest part of its partners, then the next among the others,
 * as long as one is bad with more than half of them, which are on LEAST hosts. Who is aside already
 * explains its cells. If hardly a pair is good, nobody knows who is the cause of it, and all who
 * are bad with more than half are put aside. Returns false then.
 */
bool matrix_explain(const struct matrix *m, const signed char *bad, uint32_t least,
		    bool *const aside[MATRIX_WAYS]);

/* The cell from FROM to TO, or NULL. */
const struct matrix_cell *matrix_find(const struct matrix *m, uint32_t from, uint32_t to);

void matrix_release(struct matrix *m);

/* The number below which a part of WHERE of COUNT lies (0 to 1); NaN for none. They are reordered.
 */
double matrix_quantile(float *v, size_t count, double where);

static inline double matrix_median(float *v, size_t count)
{
	return matrix_quantile(v, count, .5);
}

/* Their MEDIAN, and the deviation from it that a minority of outliers does not move; 0 for none. */
double matrix_deviation(float *v, size_t count, double *median);

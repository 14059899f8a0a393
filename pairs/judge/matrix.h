/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * matrix: what was measured from each player to each other one, and when. Only pairs that were
 * tried have a cell, so a schedule of a few rounds stays small. Made once, then read.
 */
#pragma once

#include "body.h"

enum matrix_way {
	MATRIX_SEND,
	MATRIX_RECEIVE,
	MATRIX_WAYS
};

/* The medians of tries: apart for those of full rounds, and for those alone on the fabric. */
struct matrix_cell {
	uint32_t from, to;
	float loaded, alone;       /* figures; NaN: none, also of tries that lacked their CPU */
	float tail;                /* p99 / median; NaN: not known */
	bool lacked;               /* one of those did */
	uint16_t measured, failed; /* tries */
	uint32_t first;            /* its tries are those from here on, */
	uint32_t tries;            /* this many */
};

struct matrix {
	const struct body *body; /* lent */
	uint32_t players, cells;
	uint32_t *host;           /* of each player; owned, as all lists are */
	uint32_t *first;          /* hosts + 1: the first player of each */
	struct matrix_cell *cell; /* by sender, then receiver */
	uint32_t *row;            /* players + 1: the first cell of each sender */
	uint32_t *col;            /* players + 1: the first place in BY_TO of each receiver */
	uint32_t *by_to;          /* numbers of cells, by receiver, then sender */
	double *part;             /* room of matrix_explain() */
};

/* Make that of a settled body, which stays. Returns -1 if there is no memory; release it always. */
int matrix_init(struct matrix *m, const struct body *body);
void matrix_release(struct matrix *m);

/* How many cells PLAYER has in a direction. */
uint32_t matrix_count(const struct matrix *m, enum matrix_way way, uint32_t player);

/* A walk over the cells of PLAYER of the matrix M: those that it sends, then those it receives. */
struct matrix_walk {
	const struct matrix *m;
	uint32_t player, next;
	enum matrix_way way; /* of the cell where it is, */
	const struct matrix_cell *cell;
	uint32_t with; /* and the other player */
};

/* Go to the next cell. Returns false behind the last one. */
bool matrix_next(struct matrix_walk *w);

/* The cell from FROM to TO, or NULL. */
const struct matrix_cell *matrix_find(const struct matrix *m, uint32_t from, uint32_t to);

/*
 * Put those players ASIDE, in each direction, who explain the bad ones of all cells, as BAD says of
 * each (-1: nothing): the one that is bad with the largest part of its partners, then the next
 * among the others, as long as one is bad with more than PART of them, which are on LEAST hosts.
 * Who is aside already explains its cells. If hardly a pair is good, nobody knows who is the cause
 * of it, and all who are bad with more than PART are put aside. Returns true then.
 */
bool matrix_explain(const struct matrix *m, const signed char *bad, double part, uint32_t least,
		    bool *const aside[MATRIX_WAYS]);

/* The number below which a part WHERE of COUNT lies (0 to 1); NaN for none. Reorders them. */
double matrix_quantile(float *v, size_t count, double where);

static inline double matrix_median(float *v, size_t count)
{
	return matrix_quantile(v, count, .5);
}

/* Their MEDIAN, and the deviation from it that a minority of outliers does not move; 0 for none. */
double matrix_deviation(float *v, size_t count, double *median);

/*
 * A slot in which two players met, with both directions, as PLAYER sees it. What disturbs a slot
 * disturbs both of them.
 */
struct meeting {
	uint32_t player;
	uint32_t with : 31;    /* the other one */
	uint32_t failed : 1;   /* a run did, in either direction */
	uint32_t at;           /* its place in time: run and round */
	float sends, receives; /* more is better; NaN: no figure */
};

struct meetings {
	struct meeting *of; /* of one player after another, each by partner and time; owned */
	const struct meeting *end; /* behind the last one */
	uint32_t *start;           /* players + 1: the first one of each; owned */
};

/*
 * Make those of the matrix M. They have the figures of those tries that were ALONE on the fabric,
 * or not. Returns -1 if there is no memory. Release it in either case.
 */
int meetings_init(struct meetings *l, const struct matrix *m, bool alone);
void meetings_release(struct meetings *l);

/* The logarithm of a figure, of a LATENCY the negative one: more is better. */
float meetings_y(float figure, bool latency);

/* The first meeting of PLAYER, and what is behind its last one. */
static inline const struct meeting *meetings_of(const struct meetings *l, uint32_t player)
{
	return &l->of[l->start[player]];
}

static inline const struct meeting *meetings_end(const struct meetings *l, uint32_t player)
{
	return &l->of[l->start[player + 1]];
}

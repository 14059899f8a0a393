/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level: what each player reaches in each direction, compared with what is normal, and which of
 * them are slow. A pure function of a matrix and of one number for each of its cells: X, more is
 * better, NaN is no figure.
 *
 * A player is slow if the median of its figures is. Two things mislead that median, and the plain
 * rule "row and column medians below 0.93 of all" named healthy nodes for them in tests:
 *
 *   slow partners  where 4 of 10 nodes are slow, more than half of the 9 partners that a healthy
 *                  node of a quick run has are slow in one of ten cases. So the players whose
 *                  figures are the worst are set aside first, one after another, with their cells;
 *                  what is left of the others is what they reach with good partners.
 *   noise          with 3 figures and 5 % of noise a median is 7 % low in 3 of 100 cases. So it
 *                  must be below by more than 5 MADs, too; the MAD is that among good players, or
 *                  what the noise of the cells makes of as many figures, and at least 0.5 %.
 *
 *   hold-ups       two of four figures that an interrupt or another job cut short make the average
 *                  of the middle two low, however small the noise of the others is. So more than
 *                  half of the figures must be low.
 *
 * A median below by 5 MADs is slow even if it is above the limit: 0.97 among nodes that all reach
 * the same is a fact. Nothing is said of a player with fewer than 3 good hosts to judge it by, but
 * if it met all hosts, three or more, and reached what is normal with none of them: of four nodes
 * of which two are slow, neither has three good partners.
 */
#pragma once

#include "matrix.h"

struct level_rules {
	double limit;  /* a cell below this part of the normal is bad */
	bool absolute; /* X is compared with 1, and only with the limit */
};

/* A player in one direction. */
struct level_player {
	float median;      /* of its figures, as a part of normal; NaN: not known */
	float least;       /* below this part of normal it is slow */
	uint32_t partners; /* good hosts that the median is of */
	uint32_t figures;  /* how many these are: more, where hosts have rails */
	uint32_t bad;      /* cells of these below the limit */
	bool slow;
};

struct level {
	double normal;                        /* X of cells between good players */
	double noise;                         /* their standard deviation, as a part of it */
	struct level_player *of[MATRIX_WAYS]; /* owned, as one block */
};

/* Judge all players. Returns -1 if there is no memory. Release it in either case. */
int level_init(struct level *l, const struct matrix *m, const float *x,
	       const struct level_rules *rules);

/* True if PLAYER has enough good partners to be judged in a direction. */
bool level_is_known(const struct level *l, enum matrix_way way, uint32_t player);

void level_release(struct level *l);

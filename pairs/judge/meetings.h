/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * meetings: each slot in which two players measured, with the better and the worse of both
 * directions. What disturbs a slot disturbs both of its directions, so these count once.
 */
#pragma once

#include "matrix.h"

struct meeting {
	uint32_t a, b; /* players, A < B */
	uint32_t at;   /* its place in time: run and round */
	float better, worse;
};

struct meetings {
	struct meeting *of; /* owned, as all lists are; by A, then B */
	uint32_t count;
	uint32_t *start; /* players + 1: the first place in BY_PLAYER of each */
	uint32_t *by_player;
};

/*
 * Make those of the matrix M of TRIES; ALONE: of the tries alone on the fabric, otherwise of the
 * others. Y of a figure is its logarithm; of a LATENCY the negative one: more is better. Returns -1
 * if there is no memory. Release it in either case.
 */
int meetings_init(struct meetings *l, const struct matrix *m, const struct body_try *tries,
		  bool latency, bool alone);

/* The try among those of CELL in the slot of T, or NULL; CELL may be NULL. */
const struct body_try *meetings_same_slot(const struct matrix_cell *cell,
					  const struct body_try *tries, const struct body_try *t);

/* The Y of a figure. */
float meetings_y(float figure, bool latency);

/* The other player of a meeting. */
static inline uint32_t meeting_partner(const struct meeting *t, uint32_t player)
{
	return t->a == player ? t->b : t->a;
}

void meetings_release(struct meetings *l);

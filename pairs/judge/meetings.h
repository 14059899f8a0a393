/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * meetings: each slot in which two players met, with both directions, as each of the two sees it.
 * What disturbs a slot disturbs both of its directions.
 */
#pragma once

#include "matrix.h"

struct meeting {
	uint32_t with;         /* the other player */
	uint32_t at;           /* its place in time: run and round */
	float sends, receives; /* more is better; NaN: no figure */
	bool failed;           /* a run, in either direction */
};

struct meetings {
	struct meeting *of; /* of one player after another, each by partner and time; owned */
	uint32_t *start;    /* players + 1: the first one of each; owned */
};

/*
 * Make those of the matrix M of TRIES; ALONE: of the tries alone on the fabric, otherwise of the
 * others. Returns -1 if there is no memory. Release it in either case.
 */
int meetings_init(struct meetings *l, const struct matrix *m, const struct body_try *tries,
		  bool latency, bool alone);

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

void meetings_release(struct meetings *l);

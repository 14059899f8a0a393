/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guess: what is normal in a matrix, and how noisy it is, before anybody knows who is slow. As many
 * as half of the nodes may be, in both directions: then one figure of four is of two good ones.
 */
#pragma once

#include "matrix.h"

struct guess {
	double noise;  /* the standard deviation of figures, as a part of them; 0: not known */
	double normal; /* NaN: no figures */
};

/* Guess by X, one number of each cell, more is better. Returns -1 if there is no memory. */
int guess_init(struct guess *g, const struct matrix *m, const float *x);

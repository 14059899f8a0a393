/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peel: which players explain the bad cells of a matrix: the one with the largest part of bad cells
 * is set aside with all its cells, then the next, as long as more than half of what is left of one
 * is bad.
 */
#pragma once

#include "matrix.h"

#define PEEL_PARTNERS_LEAST 3 /* hosts that a player is judged by */

/*
 * Write to ASIDE who was set aside, in each direction. A cell is bad if its X is below LIMIT; NaN
 * is no cell. Returns how many players were, or -1 if there is no memory.
 */
int peel(const struct matrix *m, const float *x, double limit, bool *const aside[MATRIX_WAYS]);

/*
 * True if hardly a cell is good. Then nobody explains the bad ones, and who is set aside first is
 * chance: eight nodes of which all have long tails were five suspects and three good ones.
 */
bool peel_is_general(const struct matrix *m, const float *x, double limit);

/*
 * How many hosts a player has cells with that are not NaN, and whose other end is not ASIDE. NULL:
 * nobody is.
 */
uint32_t peel_hosts(const struct matrix *m, const float *x, enum matrix_way way, uint32_t player,
		    bool *const aside[MATRIX_WAYS]);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plateau: whether a series of values has become steady, and how precisely its level is known.
 *
 * All values are used, not only the last few. A plateau is reached if the mean is known to within a
 * fraction of itself, the values neither rise nor fall, and they are not in two groups. If they
 * rise or fall, a warm-up at the start is dropped, at most half of all values, and the rest is
 * judged.
 *
 * A caller may ask again after each value until the plateau is reached. Repeated tests find a lucky
 * interval more easily, so the interval is a third wider than that of interval_of_run(). The unit
 * test has the resulting error rates. A drift that takes much longer than all the values cannot be
 * seen.
 *
 * Pure functions of finite, non-negative doubles; the caller chooses the unit.
 */
#pragma once

#include <stddef.h>

#include "base/interval.h"

#define PLATEAU_LEAST 12 /* the minimum number of values; at least as many are kept */

/* The aim of the caller. */
struct plateau_aim {
	double confidence; /* percent */
	double within;     /* fraction of the mean, above 0 */
};

enum plateau_state {
	PLATEAU_FEW,    /* not enough values */
	PLATEAU_DRIFTS, /* the values rise or fall */
	PLATEAU_GROUPS, /* the values are in two groups */
	PLATEAU_WIDE,   /* the values are steady, but the mean is not known precisely enough */
	PLATEAU_REACHED
};

struct plateau {
	enum plateau_state state;
	size_t left_out;      /* dropped values at the start; all fields below are of the others */
	struct interval mean; /* half: INFINITY if there are too few values */
	double slope;         /* per value, as a fraction of the mean */
	struct modes groups;  /* PLATEAU_GROUPS */
};

/* Judge COUNT values in order of time; SCRATCH has room for as many. */
void plateau_find(struct plateau *p, const double *value, size_t count,
		  const struct plateau_aim *aim, double *scratch);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plateau: whether a series of values has become steady, and how precisely its level is known.
 *
 * All values are used, not only the last few. A plateau is reached if the mean is known to within a
 * fraction of itself, the values neither rise nor fall, and they are not in two groups. If they
 * rise or fall, a warm-up at the start is dropped, at most half of all values, and the rest is
 * judged.
 *
 * A caller asks again as the values grow, until the plateau is reached, but only where looks_due()
 * says so: the interval is as sure as that look must be. A drift that takes much longer than all
 * the values cannot be seen.
 *
 * Pure functions of finite, non-negative doubles; the caller chooses the unit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "stat/interval.h"
#include "stat/modes.h"

/*
 * The minimum number of values; at least as many are kept. What none of n values shows may still be
 * 3 / n of all (95 %: the rule of three, Hanley and Lippman-Hand, JAMA 249, 1983): with 72, another
 * level or dips that none shows are at most one in 20.
 */
#define PLATEAU_LEAST 72

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

/*
 * Looks at growing data, of which one may stop at any: so sure must each be that all together err
 * no more often than promised. They are at LEAST values and then at a quarter more each time. Look
 * k, from 1, spends the error α / 2^k: their sum, which bounds the error of stopping at any of them
 * (Boole), is less than α, however many there are (an alpha-spending function as of Lan and DeMets,
 * Biometrika 70, 1983). Assumes nothing of how the looks depend on each other.
 *
 * True if one may look at COUNT values; and the confidence in percent that an interval of the look
 * at COUNT values, or of the next one, must have for CONFIDENCE of all.
 */
bool looks_due(size_t least, size_t count);
double looks_confidence(size_t least, size_t count, double confidence);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stable: whether the mean of a growing series of values is known, and is the same in both halves.
 *
 * What none of ten values shows may still be every fourth (95 %: the rule of three, Hanley and
 * Lippman-Hand, JAMA 249, 1983), and a caller that stops at the first interval that is narrow
 * enough errs more often than one that looks once: tests/unit/test_stat_ground.c says how often.
 * Pure functions of finite, non-negative doubles.
 */
#pragma once

#include <stddef.h>

#include "stat/interval.h"

#define STABLE_LEAST 10 /* values. Chosen. */

/* In the order of the catalogue (RUNS_…). */
enum stable_state {
	STABLE_FEW,     /* fewer than STABLE_LEAST */
	STABLE_DIFFERS, /* the second half is not like the first */
	STABLE_WIDE,    /* the mean is not known precisely enough */
	STABLE_REACHED
};

struct stable {
	enum stable_state state;
	struct interval mean; /* half: INFINITY if it is not known */
	double rise;          /* from the first half's mean to the second's, of the mean */
};

/*
 * Judge COUNT values in order of time. The interval of 95 % of their mean, and the difference of
 * their halves, may be at most WITHIN, a fraction of the mean.
 */
struct stable stable_find(const double *value, size_t count, double within);

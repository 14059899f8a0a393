/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * windows: the confidence interval of a cell's rate, computed from its windows.
 *
 * The windows are tested more than once: after the planned ones, then whenever their number has
 * grown by half, up to a limit; and several cells are tested together. Each test may be wrong by
 * chance, so each gets a share of the total error of 5 %: two fifths for the first, which is nearly
 * always the only one, two fifths for the last, and the rest for the others. The upper end of an
 * interval is farther from the mean than the lower one: the test whether the slowest of N rates is
 * below a limit has N chances to be wrong; the test whether all are above it has one. Pure
 * functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "stat/interval.h"
#include "stat/modes.h"

#define WINDOWS_LOOKS_MAX 24
#define WINDOWS_GROWTH    2 /* from test to test the number grows by 1 / WINDOWS_GROWTH */

/* When to test, and the distance of both ends of an interval from its mean, in standard errors. */
struct windows_plan {
	unsigned looks, together;
	struct windows_look {
		unsigned windows;
		double error; /* its share of the error, in percent */
		double low_t, high_t;
	} look[WINDOWS_LOOKS_MAX];
};

/* Plan tests from FIRST to MOST windows of a cell; TOGETHER rates are tested. */
void windows_plan(struct windows_plan *p, unsigned first, unsigned most, unsigned together);

/* The number of windows for the test after the one with DONE; 0: none. */
unsigned windows_next(const struct windows_plan *p, unsigned done);

/* The interval of a rate or a ratio. Without values: mean 0, from 0 to INFINITY. */
struct windows_range {
	double mean, low, high;
	unsigned count;
};

/* The interval of the COUNT values at VALUE, none of which is negative. */
struct windows_range windows_rate(const struct windows_plan *p, const double *value,
				  unsigned count);

/*
 * The interval of the ratio of VALUE's mean to BASE's, pair by pair: a disturbance of both values
 * of a pair cancels out. SCRATCH has room for COUNT values.
 */
struct windows_range windows_ratio(const struct windows_plan *p, const double *value,
				   const double *base, double *scratch, unsigned count);

enum windows_groups {
	WINDOWS_ONE_GROUP,
	WINDOWS_PERHAPS_TWO, /* too few windows to decide */
	WINDOWS_TWO,
};

/*
 * Test whether COUNT values fall into two groups, and the low one is below FLOOR times the high
 * one; then M is set. SCRATCH has room for COUNT values.
 */
enum windows_groups windows_groups(const double *value, double *scratch, unsigned count,
				   double floor, struct modes *m);

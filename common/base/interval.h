/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * interval: the confidence interval of a mean, and whether the values fall into two groups.
 *
 * In CONFIDENCE percent of experiments like this one the interval, mean - half to mean + half by
 * Student's t, contains the true mean. Pure functions of finite doubles; the caller chooses the
 * unit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define INTERVAL_CONFIDENCE 95.0 /* percent, by default */

struct interval {
	double mean, half; /* half: INFINITY if there are too few values */
	size_t count;
};

/*
 * Half the width of an interval of CONFIDENCE percent (more than 0, less than 100), in standard
 * errors: Student's t for FREEDOM degrees of freedom (at least 1). The relative error is below 0.3
 * %.
 */
double interval_t(double confidence, double freedom);

/*
 * The confidence interval of the mean of COUNT values in order of time. Neighbouring values may be
 * correlated: the function computes the interval from the values, and from means of 2, 4 and 8
 * neighbours, each with the number of values reduced by the correlation, and returns the widest.
 * For independent values that is about a third too wide; for correlated ones it is not too narrow.
 * With fewer than INTERVAL_MIN_VALUES half is INFINITY.
 */
#define INTERVAL_MIN_VALUES 8
struct interval interval_of_run(const double *value, size_t count, double confidence);

/* Two separate groups of values. */
struct modes {
	double low, high; /* their means */
	size_t lows;      /* size of the low group, which has the smallest values */
};

/*
 * True if COUNT values fall into two groups, each of at least two values and a tenth of all; then M
 * is set. SORTED is scratch for COUNT values. Always false for fewer than 6 values. For normally
 * distributed values the result is true in less than 1 % of cases.
 */
bool modes_find(const double *value, size_t count, double *sorted, struct modes *m);

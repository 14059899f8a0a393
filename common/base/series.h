/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * series: what the figures of several runs, in order of time, say together: where they lie, how far
 * they are spread, and whether they go up or down.
 *
 * Pure functions of doubles, which are not negative and not NaN; the unit is the caller's.
 */
#ifndef RDMARK_BASE_SERIES_H
#define RDMARK_BASE_SERIES_H

#include <stddef.h>

struct series {
	size_t count;
	double min, max, mean;
	double median;    /* the mean of the two in the middle, where their number is even */
	size_t median_at; /* the first value that is the median, or the lower of the two */
	double cv;        /* standard deviation of the sample (n - 1) as a fraction of the mean */
	double slope;     /* of the least-squares line, for each step, as a fraction of the mean */
};

/*
 * Of the COUNT values at VALUE; SCRATCH has room for as many. All zero for none; cv and slope are 0
 * for one, and where the mean is 0.
 */
void series_measure(struct series *s, const double *value, double *scratch, size_t count);

#endif

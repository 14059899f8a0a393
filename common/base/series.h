/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * series: statistics of several runs' results, in order of time: median, spread and trend.
 *
 * Pure functions of doubles that are not negative and not NaN; the caller chooses the unit.
 */
#pragma once

#include <stddef.h>

struct series {
	size_t count;
	double min, max, mean;
	double median;    /* the mean of the middle two if the count is even */
	size_t median_at; /* index of the first value that is the median, or the lower of the two */
	double cv;        /* standard deviation of the sample (n - 1) as a fraction of the mean */
	double slope;     /* of the least-squares line, per step, as a fraction of the mean */
};

/* Sort VALUE in ascending order. */
void series_sort(double *value, size_t count);

double series_mean(const double *value, size_t count); /* 0 if COUNT is 0 */

/* The variance of the sample (divided by COUNT - 1). */
double series_variance(const double *value, size_t count, double mean);

/*
 * Set S from the COUNT values at VALUE; SCRATCH has room for as many. Everything is 0 if COUNT is
 * 0. cv and slope are 0 for one value, and if the mean is 0.
 */
void series_measure(struct series *s, const double *value, double *scratch, size_t count);

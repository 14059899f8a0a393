/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * series: values in order of time: mean, spread, trend, and how much neighbours are alike.
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

/* One stretch of values in order of time. */
struct series_part {
	const double *value;
	size_t count;
};

/*
 * The correlation time in values, 1 + 2 Σ ρ_k: the variance of a mean of n values is that many times
 * what it is of n independent ones, so they are worth n / time. At least 1: an interval is never
 * narrowed because neighbours differ more than by chance.
 *
 * The autocorrelations ρ_k are estimated from all PARTS together, each about its own mean: windows
 * of one cell, or of all cells in the same turns, which one alone is too short for. Σ ends by
 * Geyer's initial monotone sequence (Statistical Science 7, 1992): pairs of neighbouring lags as
 * long as their sum is positive, none larger than the one before. Each ρ_k is too low by about
 * time / n, since the mean is the parts' own (Marriott and Pope, Biometrika 41, 1954); that is added
 * back. Assumes that the parts have one correlation time and come from a stationary reversible
 * process (AR(1) and telegraph noise are).
 */
double series_correlation_time(const struct series_part *part, size_t parts);

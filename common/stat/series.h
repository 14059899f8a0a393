/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * series: values in order of time: mean, spread, and how much neighbours are alike.
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
};

/* Sort VALUE in ascending order. */
void series_sort(double *value, size_t count);

double series_mean(const double *value, size_t count); /* 0 if COUNT is 0 */

/* The variance of the sample (divided by COUNT - 1). */
double series_variance(const double *value, size_t count, double mean);

/*
 * Set S from the COUNT values at VALUE; SCRATCH has room for as many. Everything is 0 if COUNT is
 * 0. cv is 0 for one value, and if the mean is 0.
 */
void series_measure(struct series *s, const double *value, double *scratch, size_t count);

/* One stretch of values in order of time. */
struct series_part {
	const double *value;
	size_t count;
};

/*
 * The correlation time in values, 1 + 2 Σ ρ_k: the variance of a mean of n values is that many
 * times what it is of n independent ones, so they are worth n / time. At least 1: an interval is
 * never narrowed because neighbours differ more than by chance.
 *
 * The values, and the means of 2, 4 and 8 neighbours, are each taken as AR(1): Σ is then r / (1 -
 * r) with the correlation r of neighbours. The longest of these times is returned: means of
 * neighbours show a slow variation below noise that is not correlated. The plain estimate of r is
 * too low by (1 + 4 r) / n (Kendall, Biometrika 41, 1954), since the mean is the part's own; that
 * is added.
 *
 * All PARTS together give one estimate, each about its own mean: windows of one cell, or of all
 * cells in the same turns, which one alone is too short for. Assumes that they have one correlation
 * time.
 */
double series_correlation_time(const struct series_part *part, size_t parts);

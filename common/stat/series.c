// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_ROUNDS 4 /* of correcting for the mean: it has settled to 1 % */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void series_sort(double *value, size_t count)
{
	qsort(value, count, sizeof(*value), compare_doubles);
}

double series_mean(const double *value, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += value[i];
	return count ? sum / (double)count : 0;
}

double series_variance(const double *value, size_t count, double mean)
{
	double squares = 0;

	for (size_t i = 0; i < count; i++)
		squares += (value[i] - mean) * (value[i] - mean);
	return squares / (double)(count - 1);
}

/* The slope of the regression line, per value: Σ(i − m)(v − mean) / Σ(i − m)², where m is the
 * middle of 0 … count − 1. */
static double slope_of(const double *value, size_t count, double mean)
{
	double m = (double)(count - 1) / 2, both = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		both += ((double)i - m) * (value[i] - mean);
		squares += ((double)i - m) * ((double)i - m);
	}
	return both / squares;
}

/* Find minimum, maximum, median and where the (lower) median is. SORTED is scratch. */
static void sort_series(struct series *s, const double *value, double *sorted, size_t count)
{
	double lower;

	memcpy(sorted, value, count * sizeof(*sorted));
	series_sort(sorted, count);
	s->min = sorted[0];
	s->max = sorted[count - 1];
	lower = sorted[(count - 1) / 2];
	s->median = (lower + sorted[count / 2]) / 2;
	while (s->median_at + 1 < count && value[s->median_at] != lower)
		s->median_at++;
}

void series_measure(struct series *s, const double *value, double *scratch, size_t count)
{
	memset(s, 0, sizeof(*s));
	s->count = count;
	if (!count)
		return;
	sort_series(s, value, scratch, count);
	s->mean = series_mean(value, count);
	if (count == 1 || !(s->mean > 0))
		return;
	s->cv = sqrt(series_variance(value, count, s->mean)) / s->mean;
	s->slope = slope_of(value, count, s->mean) / s->mean;
}

/* Σ (x_i - mean) (x_(i + LAG) - mean) of all parts; each mean is the part's own. */
static double lagged_product(const struct series_part *part, size_t parts, size_t lag)
{
	double sum = 0;

	for (size_t p = 0; p < parts; p++) {
		double mean = series_mean(part[p].value, part[p].count);

		for (size_t i = lag; i < part[p].count; i++)
			sum += (part[p].value[i] - mean) * (part[p].value[i - lag] - mean);
	}
	return sum;
}

/*
 * Σ of the initial monotone sequence, if the plain ρ at LAGS lags are each too low by LOW. ρ[0] is
 * 1.
 */
static double sum_monotone(const double *rho, size_t lags, double low)
{
	double sum = -1, before = INFINITY;

	for (size_t k = 0; k + 1 < lags; k += 2) {
		double pair = (k ? (rho[k] + low) / (1 + low) : 1) + (rho[k + 1] + low) / (1 + low);

		before = fmin(pair, before);
		if (before <= 0)
			break;
		sum += 2 * before;
	}
	return sum;
}

double series_correlation_time(const struct series_part *part, size_t parts)
{
	double square = lagged_product(part, parts, 0), time = 1, length = 0, *rho;
	size_t lags = 0;

	for (size_t p = 0; p < parts; p++) {
		lags = part[p].count > lags ? part[p].count : lags;
		length += (double)part[p].count / (double)parts;
	}
	lags /= 2;
	rho = square > 0 && lags > 1 ? malloc(lags * sizeof(*rho)) : NULL;
	if (!rho)
		return 1;
	for (size_t k = 0; k < lags; k++)
		rho[k] = lagged_product(part, parts, k) / square;
	for (int i = 0; i < TIME_ROUNDS; i++)
		time = fmin(fmax(sum_monotone(rho, lags, time / length), 1), length / 2);
	free(rho);
	return time;
}

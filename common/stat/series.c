// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX      8    /* neighbours whose means are looked at, too */
#define GROUPS_LEAST    16   /* of them in each part */
#define CORRELATION_MAX 0.98 /* with more, no number of values would be enough */

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
}

/* Sums over all parts, whose values are means of `size` neighbours: squared distances from the
 * part's mean, products of the distances of neighbours, and the numbers of both. */
struct products {
	double squares, neighbours, count, pairs;
};

static void add_products(struct products *sum, const struct series_part *part, size_t size)
{
	double mean = series_mean(part->value, part->count / size * size), before = 0;

	for (size_t i = 0; i + size <= part->count; i += size) {
		double off = series_mean(part->value + i, size) - mean;

		sum->squares += off * off;
		sum->neighbours += i ? off * before : 0;
		sum->pairs += i > 0;
		sum->count++;
		before = off;
	}
}

/* The variance of a mean times the number of values, if the means of SIZE neighbours are AR(1); 0
 * if there are too few of them. ALONE is set to their variance. */
static double long_run_variance(const struct series_part *part, size_t parts, size_t size,
				double *alone)
{
	struct products sum = {0};
	double groups, r;

	for (size_t p = 0; p < parts; p++)
		add_products(&sum, &part[p], size);
	groups = sum.count / (double)parts;
	if (!(sum.squares > 0) || sum.pairs < 1 || (size > 1 && groups < GROUPS_LEAST))
		return 0;
	*alone = sum.squares / fmax(sum.count - (double)parts, 1);
	r = sum.neighbours / sum.pairs / *alone;
	r = fmin(fmax(r + (1 + 4 * r) / groups, 0), CORRELATION_MAX);
	return *alone * (double)size * (1 + r) / (1 - r);
}

double series_correlation_time(const struct series_part *part, size_t parts)
{
	double alone = 0, groups_alone, variance = long_run_variance(part, parts, 1, &alone);

	for (size_t size = 2; size <= GROUPS_MAX && variance > 0; size *= 2)
		variance = fmax(variance, long_run_variance(part, parts, size, &groups_alone));
	return variance > 0 ? fmax(variance / alone, 1) : 1;
}

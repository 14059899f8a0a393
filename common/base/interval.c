// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/series.h"

#define SIMPSON_STEPS    40                 /* even */
#define NEWTON_STEPS_MAX 30                 /* it converges in fewer */
#define ANGLE_MAX        (M_PI / 2 - 1e-12) /* its tangent is still finite */
#define GROUPS_MAX       8    /* maximum size of the groups in which neighbours are averaged */
#define CORRELATION_MAX  0.95 /* with more, no number of values would be enough */
#define FREEDOM_MIN      4.0  /* of correlated values: with less, t grows unreasonably large */
#define GROUPS_LEAST     16   /* fewer groups of neighbours are not used */
#define MODES_LEAST      6    /* values */
#define MODES_SHARE      10   /* each mode has at least 1/10 of the values */

/* The integral of cos^POWER from 0 to ANGLE, by Simpson's rule. */
static double integrate_cosine_power(double angle, double power)
{
	double step = angle / SIMPSON_STEPS, sum = 1 + pow(cos(angle), power);

	for (int i = 1; i < SIMPSON_STEPS; i++)
		sum += (i % 2 ? 4 : 2) * pow(cos(i * step), power);
	return sum * step / 3;
}

/*
 * With x = sqrt(v) tan(angle), Student's density is a power of a cosine, which is smooth on a
 * finite interval. The density only falls, so no step of Newton's method overshoots the angle.
 */
double interval_t(double confidence, double freedom)
{
	double v = fmax(freedom, 1), angle = 0, step = 1;
	double want = confidence / 100 * sqrt(M_PI) / 2 * exp(lgamma(v / 2) - lgamma((v + 1) / 2));

	for (int i = 0; i < NEWTON_STEPS_MAX && step > 1e-6 * angle; i++) {
		step = (want - integrate_cosine_power(angle, v - 1)) / pow(cos(angle), v - 1);
		angle = fmin(angle + step, ANGLE_MAX);
	}
	return sqrt(v) * tan(angle);
}

/*
 * The lag-1 autocorrelation of COUNT values, 0 to CORRELATION_MAX. The plain estimate r is too low
 * by about (1 + 4 r) / COUNT (Kendall), which is added.
 */
static double serial_correlation(const double *value, size_t count, double mean, double variance)
{
	double sum = 0, r;

	for (size_t i = 1; i < count; i++)
		sum += (value[i] - mean) * (value[i - 1] - mean);
	if (!(variance > 0))
		return 0;
	r = sum / variance / (double)(count - 1);
	r += (1 + 4 * r) / (double)count;
	/* Negative counts as 0: an interval is never narrowed. */
	return fmin(fmax(r, 0), CORRELATION_MAX);
}

/* Half of the confidence interval of the mean of COUNT values whose neighbours may correlate. They
 * count as WORTH independent values. */
static double interval_half(const double *value, size_t count, double confidence)
{
	double mean = series_mean(value, count), variance = series_variance(value, count, mean);
	double r = serial_correlation(value, count, mean, variance);
	double worth = fmax((double)count * (1 - r) / (1 + r), 2);

	return interval_t(confidence, fmax(worth - 1, fmin(FREEDOM_MIN, (double)count - 1))) *
	       sqrt(variance / worth);
}

/* Replace each two neighbours by their mean, in place. Returns the new count; an odd last value is
 * dropped. */
static size_t average_pairs(double *value, size_t count)
{
	for (size_t i = 0; i < count / 2; i++)
		value[i] = (value[2 * i] + value[2 * i + 1]) / 2;
	return count / 2;
}

struct interval interval_of_run(const double *value, size_t count, double confidence)
{
	struct interval in = {series_mean(value, count), INFINITY, count};
	double *group = count >= INTERVAL_MIN_VALUES ? malloc(count * sizeof(*group)) : NULL;

	if (!group)
		return in;
	memcpy(group, value, count * sizeof(*group));
	in.half = 0;
	for (size_t n = count, size = 1; size <= GROUPS_MAX && (size == 1 || n >= GROUPS_LEAST);
	     size *= 2) {
		in.half = fmax(in.half, interval_half(group, n, confidence));
		n = average_pairs(group, n);
	}
	free(group);
	return in;
}

/*
 * The least distance between two modes, in standard deviations of a value within its mode. It is
 * larger for few values, which chance separates more easily. It is fitted to the distance that 99.5
 * % of 20000 trials with 6 to 200 normal values stay below; tests/unit/test_interval.c checks it.
 */
static double min_mode_distance(size_t count)
{
	double n = (double)count;

	return 2.9 + 40 / n + 1800 / (n * n * n * n);
}

/* The number of values up to one of them, their sum and the sum of their squares. */
struct running_sums {
	double count, sum, squares;
};

/* The sum of the squared deviations from the mean. */
static double sum_squared_deviations(const struct running_sums *s)
{
	return fmax(s->squares - s->sum * s->sum / s->count, 0);
}

/*
 * Try each cut of the sorted values, and keep the one with the least deviations within both parts.
 */
bool modes_find(const double *value, size_t count, double *sorted, struct modes *m)
{
	size_t least = (count + MODES_SHARE - 1) / MODES_SHARE;
	struct running_sums all = {.count = (double)count}, low = {0};
	double shift = series_mean(value, count), best = INFINITY;

	if (count < MODES_LEAST)
		return false;
	if (least < 2)
		least = 2;
	for (size_t i = 0; i < count; i++)
		sorted[i] = value[i] - shift; /* the sums of squares then cancel little */
	series_sort(sorted, count);
	for (size_t i = 0; i < count; i++) {
		all.sum += sorted[i];
		all.squares += sorted[i] * sorted[i];
	}
	for (size_t i = 1; i <= count - least; i++) {
		struct running_sums high;
		double within;

		low.count = (double)i;
		low.sum += sorted[i - 1];
		low.squares += sorted[i - 1] * sorted[i - 1];
		high = (struct running_sums){all.count - low.count, all.sum - low.sum,
					     all.squares - low.squares};
		within = sum_squared_deviations(&low) + sum_squared_deviations(&high);
		if (i < least || within >= best)
			continue;
		best = within;
		*m = (struct modes){low.sum / low.count + shift, high.sum / high.count + shift, i};
	}
	return m->high - m->low > min_mode_distance(count) * sqrt(best / (double)(count - 2));
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/interval.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stat/beta.h"
#include "stat/series.h"

#define BISECT_STEPS  60
#define MAD_NORMAL    1.4826
#define TIMES_LEAST   5.0 /* chosen; of the decay's time, half of the integral */
#define FREEDOM_LEAST 1.5
#define EVENTS_LEAST  3    /* chosen */
#define EVENT_STDEVS  6    /* beyond so many robust deviations from the median is an event */
#define STEADY        1e-4 /* of the mean: a smaller deviation is no reason not to promise */
#define EVENT_SHARE   0.5  /* of the variance */

double interval_p(double t, double freedom)
{
	return beta_incomplete(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double interval_t(double confidence, double freedom)
{
	double p = 1 - confidence / 100, v = fmax(freedom, 1), low = 0, high = 1;

	while (interval_p(high, v) > p)
		high *= 2;
	for (int i = 0; i < BISECT_STEPS; i++) {
		double t = (low + high) / 2;

		*(interval_p(t, v) > p ? &low : &high) = t;
	}
	return high;
}

static double middle_of(const double *sorted, size_t count)
{
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/*
 * The median of VALUE, and the deviation about it, of which up to half of the values can be
 * outliers: the median distance (MAD), which of normal values is the standard deviation divided by
 * 1.4826 = 1 / Φ⁻¹(3/4) (Hampel, JASA 69, 1974). False without memory.
 */
static bool measure_robustly(const double *value, size_t count, double *median, double *deviation)
{
	double *sorted = malloc(count * sizeof(*sorted));

	if (!sorted)
		return false;
	memcpy(sorted, value, count * sizeof(*sorted));
	series_sort(sorted, count);
	*median = middle_of(sorted, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = fabs(value[i] - *median);
	series_sort(sorted, count);
	*deviation = MAD_NORMAL * middle_of(sorted, count);
	free(sorted);
	return true;
}

/*
 * True if one or two events make most of the variance. An event is a stretch of neighbours far from
 * the median on one side of it.
 */
static bool few_events(const double *value, size_t count)
{
	double mean = series_mean(value, count), median, far, in = 0, all = 0;
	unsigned events = 0;
	int side = 0;

	if (!measure_robustly(value, count, &median, &far))
		return false;
	far *= EVENT_STDEVS;
	for (size_t i = 0; i < count; i++) {
		double off = value[i] - median, square = (value[i] - mean) * (value[i] - mean);
		int now = (off > far) - (off < -far);

		events += now && now != side;
		side = now;
		all += square;
		in += now ? square : 0;
	}
	return events && events < EVENTS_LEAST && in > EVENT_SHARE * all;
}

/* IN has COUNT values that are worth fewer by its correlation time; FREEDOM is known. */
static struct interval promise(struct interval in, const double *value, double freedom,
			       double confidence)
{
	double variance = series_variance(value, in.count, in.mean);
	double worth = (double)in.count / in.time;
	bool steady = variance <= STEADY * STEADY * in.mean * in.mean;

	in.state = INTERVAL_KNOWN;
	if (!steady && in.count >= INTERVAL_MIN_VALUES && few_events(value, in.count))
		in.state = INTERVAL_EVENTS;
	else if (!steady && 2 * worth < TIMES_LEAST && in.time > 1)
		in.state = INTERVAL_PHASES;
	if (in.state == INTERVAL_KNOWN)
		in.half = interval_t(confidence, fmin(freedom, (double)in.count - 1)) *
			  sqrt(variance / worth);
	return in;
}

struct interval interval_of_time(const double *value, size_t count, double time, double confidence)
{
	struct interval in = {series_mean(value, count), INFINITY, count, INTERVAL_FEW, time};

	return count < 2 ? in : promise(in, value, (double)count / time - 1, confidence);
}

struct interval interval_of_run(const double *value, size_t count, double confidence)
{
	const struct series_part part = {value, count};
	struct interval in = {series_mean(value, count), INFINITY, count, INTERVAL_FEW, 1};
	double worth;

	if (count < INTERVAL_MIN_VALUES)
		return in;
	in.time = series_correlation_time(&part, 1);
	worth = (double)count / in.time;
	return promise(in, value, fmax(worth * worth / (4 * sqrt((double)count)), FREEDOM_LEAST),
		       confidence);
}

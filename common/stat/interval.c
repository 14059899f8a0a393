// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/interval.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stat/beta.h"
#include "stat/robust.h"
#include "stat/series.h"

#define BISECT_STEPS 60
#define TIMES_LEAST  6.0 /* correlation times: COURT.md's 5, and a margin for their uncertainty */
#define FLAT_PART    2.5 /* the spectrum is flat for this part of the correlation times */
#define EVENTS_LEAST 3   /* COURT.md */
#define EVENT_STDEVS 6   /* beyond so many robust deviations from the median is an event */
#define EVENT_SHARE  0.5 /* of the variance */

const char *interval_state_name(enum interval_state state)
{
	static const char *const name[] = {
		[INTERVAL_FEW] = "few_values",
		[INTERVAL_EVENTS] = "few_events",
		[INTERVAL_PHASES] = "long_phases",
	};

	return name[state];
}

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

/*
 * The variance of the mean of COUNT values: their spectrum at frequency 0 over COUNT, from the
 * first BANDS cosine transforms sqrt(2 / n) Σ x_i cos(π j (i + 1/2) / n).
 */
static double variance_of_mean(const double *value, size_t count, unsigned bands)
{
	double n = (double)count, squares = 0;

	for (unsigned j = 1; j <= bands; j++) {
		double sum = 0;

		for (size_t i = 0; i < count; i++)
			sum += value[i] * cos(M_PI * j * ((double)i + 0.5) / n);
		squares += 2 / n * sum * sum;
	}
	return squares / bands / n;
}

/*
 * True if one or two events make most of the variance. An event is a stretch of neighbours far from
 * the median on one side of it.
 */
static bool few_events(const double *value, size_t count)
{
	struct robust r = robust_measure(value, count);
	double mean = series_mean(value, count), far = EVENT_STDEVS * r.deviation, in = 0, all = 0;
	unsigned events = 0;
	int side = 0;

	for (size_t i = 0; i < count; i++) {
		double off = value[i] - r.median, square = (value[i] - mean) * (value[i] - mean);
		int now = (off > far) - (off < -far);

		events += now && now != side;
		side = now;
		all += square;
		in += now ? square : 0;
	}
	return events && events < EVENTS_LEAST && in > EVENT_SHARE * all;
}

struct interval interval_of_run(const double *value, size_t count, double confidence)
{
	const struct series_part part = {value, count};
	struct interval in = {series_mean(value, count), INFINITY, count, INTERVAL_FEW, 1};
	double times;
	unsigned bands;

	if (count < INTERVAL_MIN_VALUES)
		return in;
	in.time = series_correlation_time(&part, 1);
	times = (double)count / in.time;
	bands = (unsigned)fmin(times / FLAT_PART, (double)count - 1);
	in.state = few_events(value, count) ? INTERVAL_EVENTS
		   : times < TIMES_LEAST    ? INTERVAL_PHASES
					    : INTERVAL_KNOWN;
	if (in.state == INTERVAL_KNOWN)
		in.half = interval_t(confidence, bands) *
			  sqrt(variance_of_mean(value, count, bands));
	return in;
}

struct interval interval_of_time(const double *value, size_t count, double time, double confidence)
{
	struct interval in = {series_mean(value, count), INFINITY, count, INTERVAL_FEW, time};
	double times = (double)count / time;

	if (count < 2)
		return in;
	in.state = few_events(value, count) ? INTERVAL_EVENTS
		   : times < TIMES_LEAST && time > 1 ? INTERVAL_PHASES
						     : INTERVAL_KNOWN;
	if (in.state == INTERVAL_KNOWN)
		in.half = interval_t(confidence, times - 1) *
			  sqrt(series_variance(value, count, in.mean) / times);
	return in;
}

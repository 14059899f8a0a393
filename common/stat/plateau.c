// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/plateau.h"

#include <math.h>
#include <string.h>

#include "stat/series.h"

#define NEGLIGIBLE_PART   4    /* a rise below 1/4 of `within` is negligible */
#define DRIFT_CONFIDENCE  95   /* percent: that there is a rise at all */
#define WARMUP_LEFT_PART  10   /* a warm-up ends 1/10 of `within` from the level */
#define WARMUP_MIN_STDEVS 3    /* of the rest: a warm-up begins further from the level */
#define WARMUP_APPROACH   0.75 /* the second half of a warm-up is nearer to the level by that */

/* The number of the first look, from 1, at COUNT or more values; AT is how many it has. */
static unsigned look_of(size_t least, size_t count, size_t *at)
{
	unsigned look = 1;

	for (*at = least; *at < count; look++)
		*at += *at / 4 + 1;
	return look;
}

bool looks_due(size_t least, size_t count)
{
	size_t at;

	look_of(least, count, &at);
	return at == count;
}

double looks_confidence(size_t least, size_t count, double confidence)
{
	size_t at;

	return 100 - ldexp(100 - confidence, -(int)look_of(least, count, &at));
}

/* The rise or fall of the regression line over all values, as a fraction of the mean. */
static double total_rise(const struct series *s)
{
	return fabs(s->slope) * (double)(s->count - 1);
}

/*
 * True if the slope of the values differs from 0 by a t-test of the regression line, whose
 * residuals count as fewer where they correlate: what wanders is no trend. SCRATCH has room for
 * them.
 */
static bool drift_is_significant(const struct series *s, const double *value, double *scratch)
{
	double n = (double)s->count, steps = n * (n * n - 1) / 12, slope = s->slope * s->mean, time;
	const struct series_part part = {scratch, s->count};

	for (size_t i = 0; i < s->count; i++)
		scratch[i] = value[i] - slope * (double)i;
	time = series_correlation_time(&part, 1);
	return fabs(slope) >
	       interval_t(DRIFT_CONFIDENCE, n / time - 2) *
		       sqrt(series_variance(scratch, s->count, series_mean(scratch, s->count)) *
			    time / steps);
}

/*
 * True if the rise is more than WITHIN, a fraction of the mean, or significant and not negligible.
 */
static bool series_drifts(const struct series *s, const double *value, double within,
			  double *scratch)
{
	if (total_rise(s) * NEGLIGIBLE_PART <= within)
		return false;
	return total_rise(s) > within || drift_is_significant(s, value, scratch);
}

static double mean_distance(const double *value, size_t count, double from)
{
	return fabs(series_mean(value, count) - from);
}

/*
 * The number of warm-up values at the start; 0 if there is no warm-up, or it takes more than half
 * of all values. The level is the median of the second half. The first N values are on one side of
 * it and approach it; as many again also belong to the warm-up. N ends where the distance is the
 * geometric mean of the first distance and of what may remain: an exponential approach then needs
 * just as many values again to come down to what may remain.
 */
static size_t count_warmup(const double *value, size_t count, double within, double *scratch)
{
	size_t half = count / 2, n = 0;
	struct series late;
	double near, began;

	series_measure(&late, value + count - half, scratch, half);
	began = fabs(value[0] - late.median);
	near = sqrt(began * within * late.median / WARMUP_LEFT_PART);
	while (n < half && (value[n] < late.median) == (value[0] < late.median) &&
	       fabs(value[n] - late.median) > near)
		n++;
	if (began <= WARMUP_MIN_STDEVS * late.cv * late.mean)
		return 0; /* noise */
	if (n > 2 && mean_distance(value + n - n / 2, n / 2, late.median) >
			     WARMUP_APPROACH * mean_distance(value, n / 2, late.median))
		return 0; /* a step rather than a warm-up */
	return 2 * n <= half && count - 2 * n >= PLATEAU_LEAST ? 2 * n : 0;
}

/* Skip the warm-up, if there is one. Do the other values still drift? The rest of a warm-up is hard
 * to see in fewer values, so a rise is a drift here even if it is smaller than the interval. */
static bool drifts_after_warmup(struct plateau *p, struct series *s, const double *value,
				const struct plateau_aim *aim, double *scratch)
{
	size_t count = s->count, n = count_warmup(value, count, aim->within, scratch);
	struct interval in;

	if (!n)
		return true;
	p->left_out = n;
	series_measure(s, value + n, scratch, count - n);
	in = interval_of_run(value + n, count - n, aim->confidence);
	return series_drifts(s, value + n, aim->within, scratch) ||
	       (total_rise(s) * NEGLIGIBLE_PART > aim->within && total_rise(s) * in.mean > in.half);
}

void plateau_find(struct plateau *p, const double *value, size_t count,
		  const struct plateau_aim *aim, double *scratch)
{
	struct series s;
	bool drift, known;

	memset(p, 0, sizeof(*p));
	series_measure(&s, value, scratch, count);
	drift = count >= PLATEAU_LEAST && series_drifts(&s, value, aim->within, scratch) &&
		drifts_after_warmup(p, &s, value, aim, scratch);
	value += p->left_out;
	p->slope = s.slope;
	p->mean = interval_of_run(value, s.count,
				  looks_confidence(PLATEAU_LEAST, count, aim->confidence));
	known = p->mean.mean > 0 && p->mean.half <= aim->within * p->mean.mean;
	if (count < PLATEAU_LEAST)
		p->state = PLATEAU_FEW;
	else if (modes_find(value, s.count, scratch, &p->groups) &&
		 p->groups.high - p->groups.low > aim->within * s.mean)
		p->state = PLATEAU_GROUPS;
	else if (drift && (known || drift_is_significant(&s, value, scratch)))
		p->state = PLATEAU_DRIFTS;
	else
		p->state = known ? PLATEAU_REACHED : PLATEAU_WIDE;
}

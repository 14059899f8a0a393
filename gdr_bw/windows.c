// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "windows.h"

#include <math.h>

#include "stat/series.h"

#define FIRST_SHARE  0.4 /* of the allowed error probability; looks between share the rest */
#define LAST_SHARE   0.4
#define ALIKE_CHANCE 1.645 /* standard errors: exceeded by chance in 1 case of 20 */
#define ALIKE_MAX    0.9
#define GROUPS_SURE  20  /* windows needed to tell two groups from noise */
#define GROUPS_APART 5.5 /* standard deviations of a value in its group */

static struct windows_look look_at_windows(unsigned windows, double error, unsigned together)
{
	double freedom = windows > 1 ? windows - 1 : 1;

	return (struct windows_look){windows, error, interval_t(100 - error, freedom),
				     interval_t(100 - error / together, freedom)};
}

/* The share of the allowed error probability that look LOOK of LOOKS gets. */
static double share_of(unsigned look, unsigned looks)
{
	if (looks <= 2)
		return 1.0 / looks;
	if (look == 0)
		return FIRST_SHARE;
	if (look == looks - 1)
		return LAST_SHARE;
	return (1 - FIRST_SHARE - LAST_SHARE) / (looks - 2);
}

void windows_plan(struct windows_plan *p, unsigned first, unsigned most, unsigned together)
{
	double error = 100 - INTERVAL_CONFIDENCE;
	unsigned count[WINDOWS_LOOKS_MAX] = {first}, n = 1;

	while (count[n - 1] < most && n < WINDOWS_LOOKS_MAX) {
		count[n] = count[n - 1] + count[n - 1] / WINDOWS_GROWTH + 1;
		if (count[n] > most || n == WINDOWS_LOOKS_MAX - 1)
			count[n] = most;
		n++;
	}
	p->together = together ? together : 1;
	p->looks = n;
	for (unsigned i = 0; i < n; i++)
		p->look[i] = look_at_windows(count[i], error * share_of(i, n), p->together);
}

unsigned windows_next(const struct windows_plan *p, unsigned done)
{
	for (unsigned i = 0; i < p->looks; i++)
		if (p->look[i].windows > done)
			return p->look[i].windows;
	return 0;
}

/*
 * The test at COUNT windows. If windows are missing, so that no test has that many, the error
 * probability is that of the next planned test.
 */
static struct windows_look look_of(const struct windows_plan *p, unsigned count)
{
	unsigned i = 0;

	while (i + 1 < p->looks && p->look[i].windows < count)
		i++;
	if (p->look[i].windows == count)
		return p->look[i];
	return look_at_windows(count, p->look[i].error, p->together);
}

/*
 * The factor by which correlation of successive values increases the standard error. It is 1 unless
 * the correlation is one that independent values reach in at most one case of twenty.
 */
static double windows_alike(const double *value, unsigned count, double mean, double squares)
{
	double products = 0, r;

	for (unsigned i = 1; i < count; i++)
		products += (value[i] - mean) * (value[i - 1] - mean);
	r = squares > 0 ? products / squares : 0;
	r = fmin(r, ALIKE_MAX);
	return r > ALIKE_CHANCE / sqrt(count) ? sqrt((1 + r) / (1 - r)) : 1;
}

struct windows_range windows_rate(const struct windows_plan *p, const double *value, unsigned count)
{
	struct windows_range r = {series_mean(value, count), 0, INFINITY, count};
	struct windows_look look;
	double variance, error;

	if (count < 2)
		return r;
	variance = series_variance(value, count, r.mean);
	error = sqrt(variance / count) *
		windows_alike(value, count, r.mean, variance * (count - 1));
	look = look_of(p, count);
	r.low = fmax(r.mean - look.low_t * error, 0);
	r.high = r.mean + look.high_t * error;
	return r;
}

/*
 * To first order, the quotient of two means varies as (VALUE - ratio * BASE) / mean of BASE: so its
 * interval is that of the mean of these values.
 */
struct windows_range windows_ratio(const struct windows_plan *p, const double *value,
				   const double *base, double *scratch, unsigned count)
{
	double base_mean = series_mean(base, count);
	double ratio = series_mean(value, count) / base_mean;

	if (!(base_mean > 0))
		count = 0;
	for (unsigned i = 0; i < count; i++)
		scratch[i] = ratio + (value[i] - ratio * base[i]) / base_mean;
	return windows_rate(p, scratch, count);
}

/* The distance of the two groups M, in standard deviations of a value within its group. */
static double groups_apart(const double *value, unsigned count, const struct modes *m)
{
	double squares = 0;

	for (unsigned i = 0; i < count; i++)
		squares += fmin((value[i] - m->low) * (value[i] - m->low),
				(value[i] - m->high) * (value[i] - m->high));
	return squares > 0 ? (m->high - m->low) / sqrt(squares / (count - 2)) : INFINITY;
}

/* Noise looks like two groups now and then, and there are many looks: so a distance is required. */
enum windows_groups windows_groups(const double *value, double *scratch, unsigned count,
				   double floor, struct modes *m)
{
	if (!modes_find(value, count, scratch, m) || m->low >= floor * m->high)
		return WINDOWS_ONE_GROUP;
	if (count < GROUPS_SURE)
		return WINDOWS_PERHAPS_TWO;
	return groups_apart(value, count, m) > GROUPS_APART ? WINDOWS_TWO : WINDOWS_ONE_GROUP;
}

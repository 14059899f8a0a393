// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/series.h"

#define BISECT_STEPS  30

/* A place where values are, and how many are before it and up to it, as fractions. */
struct place {
	double x, before, upto;
};

/* The height at X of the line through A and B of the upper limit, without the band. */
static double line_at(const struct place *a, const struct place *b, double x)
{
	return a->before + (b->before - a->before) * (x - a->x) / (b->x - a->x);
}

/*
 * How many places, from the first on, a convex function can pass that is at each place at most
 * `before` + D, and at all but the last one at least `upto` - D. The largest such function is the
 * greatest convex minorant of the upper limits: HULL[] are the indices of its corners.
 */
static size_t convex_places(const struct place *at, size_t places, double d, size_t *hull)
{
	size_t corners = 0;

	for (size_t k = 0; k < places; k++) {
		while (corners > 1 &&
		       line_at(&at[hull[corners - 2]], &at[k], at[hull[corners - 1]].x) <=
			       at[hull[corners - 1]].before)
			corners--;
		for (size_t i = corners ? hull[corners - 1] + 1 : k; i < k; i++)
			if (line_at(&at[hull[corners - 1]], &at[k], at[i].x) < at[i].upto - 2 * d)
				return k;
		hull[corners++] = k;
		if (at[k].upto - at[k].before > 2 * d)
			return k + 1; /* an atom can only be the mode */
	}
	return places;
}

/* Set AT[] to the places of COUNT sorted values. Returns their number. */
static size_t find_places(const double *sorted, size_t count, struct place *at)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (!n || sorted[i] > at[n - 1].x)
			at[n++] = (struct place){sorted[i], (double)i / (double)count, 0};
		at[n - 1].upto = (double)(i + 1) / (double)count;
	}
	return n;
}

/* A distribution with one mode is convex up to it, then concave: convex, seen from the other end.
 * Both parts share the place of the mode. */
double modes_dip(const double *sorted, size_t count)
{
	struct place *at = calloc(2 * count + 1, sizeof(*at)), *back;
	size_t *hull = calloc(count + 1, sizeof(*hull)), n;
	double low = 0, high = at && hull ? 0.5 : NAN;

	if (at && hull) {
		n = find_places(sorted, count, at);
		back = at + n;
		for (size_t i = 0; i < n; i++)
			back[n - 1 - i] =
				(struct place){-at[i].x, 1 - at[i].upto, 1 - at[i].before};
		for (int step = 0; step < BISECT_STEPS; step++) {
			double d = (low + high) / 2;
			bool fits =
				convex_places(at, n, d, hull) + convex_places(back, n, d, hull) > n;

			*(fits ? &high : &low) = d;
		}
	}
	free(at);
	free(hull);
	return high;
}

/*
 * What the dip of N values of one mode stays below in 99 % of cases: 0.53 / √n for uniform ones
 * (20,000 trials each of 4 to 500 values; Hartigan's table has the same), and half as much again
 * for any that wander, up to a random walk.
 */
static double largest_single_dip(double n, double time)
{
	return 0.53 * (1 + fmin(2 * time / n, 0.5)) / sqrt(n);
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

/* Set M to the cut of SORTED with the least deviations within both groups. */
static void cut_best(const double *sorted, size_t count, struct modes *m)
{
	double shift = series_mean(sorted, count), best = INFINITY; /* sums then cancel little */
	struct running_sums all = {.count = (double)count}, low = {0};

	for (size_t i = 0; i < count; i++) {
		all.sum += sorted[i] - shift;
		all.squares += (sorted[i] - shift) * (sorted[i] - shift);
	}
	for (size_t i = 1; i < count; i++) {
		double x = sorted[i - 1] - shift, within;
		struct running_sums high;

		low = (struct running_sums){low.count + 1, low.sum + x, low.squares + x * x};
		high = (struct running_sums){all.count - low.count, all.sum - low.sum,
					     all.squares - low.squares};
		within = sum_squared_deviations(&low) + sum_squared_deviations(&high);
		if (within >= best)
			continue;
		best = within;
		*m = (struct modes){low.sum / low.count + shift, high.sum / high.count + shift, i,
				    sorted[i]};
	}
}

bool modes_find(const double *value, size_t count, double *sorted, struct modes *m)
{
	const struct series_part part = {value, count};
	double most = largest_single_dip((double)count, series_correlation_time(&part, 1));

	memset(m, 0, sizeof(*m));
	if (!count)
		return false;
	memcpy(sorted, value, count * sizeof(*sorted));
	series_sort(sorted, count);
	if (!(modes_dip(sorted, count) > most))
		return false;
	cut_best(sorted, count, m);
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ranks.h"

#include <math.h>

#include "stat/interval.h"
#include "stat/series.h"
#include "thresholds.h"

double figures_quantile(const struct figures *f, double where)
{
	double at = where * ((double)f->n - 1);
	size_t low = 1;

	if (!f->n)
		return NAN;
	while (low < f->n && f->of[low - 1] <= f->of[low])
		low++;
	if (low < f->n) /* they may be sorted already */
		series_sort(f->of, f->n);
	low = (size_t)at;
	return low + 1 < f->n ? f->of[low] + (at - (double)low) * (f->of[low + 1] - f->of[low])
			      : f->of[low];
}

double figures_deviation(const struct figures *f, double median)
{
	for (size_t i = 0; i < f->n; i++)
		f->of[i] = fabs(f->of[i] - median);
	return f->n ? 1.4826 * figures_median(f) : 0;
}

double figures_floor(const struct figures *f, double where)
{
	double from = figures_quantile(f, where);

	return from - fmax(LOW_LEAST, SPREADS * figures_deviation(f, figures_median(f)));
}

double ranks_chance(const struct figures *x, const struct figures *y)
{
	double n = (double)x->n, m = (double)y->n, below = 0, variance = n * m * (n + m + 1) / 12;

	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < y->n; k++)
			below += x->of[i] < y->of[k] ? 1 : x->of[i] == y->of[k] ? .5 : 0;
	return variance > 0 ? .5 * erfc((below - n * m / 2 - .5) / sqrt(2 * variance)) : 1;
}

/* The sum of the squares of what they differ from their MEAN. */
static double squares(const struct figures *f, double mean)
{
	return f->n > 1 ? series_variance(f->of, f->n, mean) * (double)(f->n - 1) : 0;
}

double ranks_few(const struct figures *x, const struct figures *y, double spread)
{
	double mean_x = series_mean(x->of, x->n), mean_y = series_mean(y->of, y->n);
	double n = (double)x->n, m = (double)y->n, freedom = n + m - 2, variance, t;

	if (!x->n || !y->n || freedom < 1 || !(figures_quantile(x, 1) < figures_quantile(y, 0)))
		return 1;
	variance = fmax((squares(x, mean_x) + squares(y, mean_y)) / freedom, spread * spread);
	t = (mean_y - mean_x) / sqrt(variance * (1 / n + 1 / m));
	return t > 0 ? interval_p(t, freedom)
		     : 1; /* of both sides: which one was chosen by looking */
}

/* The logarithm of how many sets of K there are of N. */
static double ways_of(size_t n, size_t k)
{
	return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double chance_more(size_t k, size_t n, size_t l, size_t m)
{
	size_t all = k + l;
	double chance = 0;

	for (size_t i = k; i <= n && i <= all; i++)
		if (all - i <= m)
			chance += exp(ways_of(n, i) + ways_of(m, all - i) - ways_of(n + m, all));
	return fmin(chance, 1);
}

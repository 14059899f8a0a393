/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ranks: what may be concluded from two sets of figures, whatever their distribution. */
#pragma once

#include <stddef.h>

/* A set of figures; the functions that sort it say so. */
struct figures {
	double *of;
	size_t n;
};

/* The number below which a part WHERE of them lies (0 to 1); NaN of none. Sorts them. */
double figures_quantile(const struct figures *f, double where);

static inline double figures_median(const struct figures *f)
{
	return figures_quantile(f, .5);
}

/* The deviation from the MEDIAN that a minority of outliers does not move. Reorders them. */
double figures_deviation(const struct figures *f, double median);

/* Figures are low that are far below the number at WHERE. Reorders them. */
double figures_floor(const struct figures *f, double where);

/*
 * Mann and Whitney: the chance of so many x below y if neither is lower; normal approximation. 1
 * without figures.
 */
double ranks_chance(const struct figures *x, const struct figures *y);

/*
 * The chance that the mean of X is so far below that of Y, by Student's t; 1 unless all
 * are below all. So few figures may be alike by chance: they are taken to differ by SPREAD at
 * least.
 */
double ranks_few(const struct figures *x, const struct figures *y, double spread);

/* The chance that K or more of N are so, where L of M others are (Fisher). */
double chance_more(size_t k, size_t n, size_t l, size_t m);

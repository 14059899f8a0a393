/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modes: whether values have two modes, which one skewed or long-tailed mode has not.
 *
 * Pure functions of finite doubles.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Two separate groups of values. */
struct modes {
	double low, high; /* their means */
	size_t lows;      /* size of the low group */
	double cut;       /* values below belong to the low group */
};

/*
 * The dip of COUNT values in ascending order: the least distance, as of Kolmogorov and Smirnov,
 * between their cumulative distribution and any with one mode, which may be an atom (Hartigan and
 * Hartigan, Annals of Statistics 13, 1985). By bisection: a distribution that is convex, then
 * concave, fits into the band of that distance. It is 0 to 0.25. NAN if out of memory.
 */
double modes_dip(const double *sorted, size_t count);

/*
 * True if COUNT values in order of time have two modes; then M is set, the cut by Otsu's method:
 * least deviations within both groups. SORTED is scratch for COUNT values.
 *
 * The dip is compared with that of uniform values, which of all single modes have the largest; true
 * in less than 1 % of cases for one mode of any shape. It may be larger for values that are alike
 * for some time (series_correlation_time()). Always false for fewer than 7 values, of which even
 * two points are no proof.
 */
bool modes_find(const double *value, size_t count, double *sorted, struct modes *m);

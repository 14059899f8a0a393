/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * interval: the confidence interval of a mean, and when there is none.
 *
 * In CONFIDENCE percent of experiments like this one the interval, mean - half to mean + half by
 * Student's t, contains the true mean. Pure functions of finite doubles; the caller chooses the
 * unit.
 */
#pragma once

#include <stddef.h>

#define INTERVAL_CONFIDENCE 95.0 /* percent, by default */
#define INTERVAL_MIN_VALUES 8    /* fewer say nothing of how they correlate */

/* Why no interval is promised. The order is that of the checks, and of the catalogue (UNSURE_…). */
enum interval_state {
	INTERVAL_KNOWN,
	INTERVAL_FEW,    /* fewer than INTERVAL_MIN_VALUES */
	INTERVAL_EVENTS, /* one or two events make most of the variance: who knows how many come */
	INTERVAL_PHASES, /* the values vary in phases too long for their number */
};

struct interval {
	double mean, half; /* half: INFINITY unless INTERVAL_KNOWN */
	size_t count;
	enum interval_state state;
	double time; /* correlation time in values; 1: independent */
};

/*
 * Half the width of an interval of CONFIDENCE percent (more than 0, less than 100), in standard
 * errors: Student's t for FREEDOM degrees of freedom (at least 1), by bisection of interval_p().
 * FREEDOM of 1e6 is the normal distribution.
 */
double interval_t(double confidence, double freedom);

/* The two-sided p-value of T for FREEDOM degrees of freedom: I_x(v/2, 1/2) with x = v / (v + t²)
 * (Abramowitz and Stegun 26.7.1). */
double interval_p(double t, double freedom);

/*
 * The confidence interval of the mean of COUNT values in order of time, which may be correlated: s²
 * time / n with Student's t. The correlation time is estimated from the same values, and a time
 * that came out too short makes the interval too narrow just where it is printed; so the degrees of
 * freedom are only (n / time)² / (4 √n), at least 1.5. The 4 was fitted to AR(1) with 12 to 64
 * values; tests/unit/test_stat_ground.c says how often the mean is covered on other grounds.
 *
 * Not promised if the run has fewer than 5 correlation times (of the decay, which for AR(1) and
 * telegraph noise is half of the integral: n / time < 2.5), or if fewer than 3 events make most of
 * the variance, an event being neighbours that are 6 robust deviations from the median. Assumes a
 * stationary series; a trend looks like long phases.
 */
struct interval interval_of_run(const double *value, size_t count, double confidence);

/*
 * The same with a correlation time that is known better than from these values alone (of many cells
 * together, series_correlation_time()): n / time - 1 degrees of freedom, and two values are enough.
 */
struct interval interval_of_time(const double *value, size_t count, double time, double confidence);

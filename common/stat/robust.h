/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * robust: location and scale that a minority of outliers does not move: up to half of the values.
 *
 * Pure functions of finite doubles in any order.
 */
#pragma once

#include <stddef.h>

struct robust {
	double median;    /* the mean of the middle two if the count is even */
	double deviation; /* MAD: the median distance from the median, times 1.4826 = 1 / Φ⁻¹(3/4),
			     which makes it the standard deviation of normal values (Hampel, JASA
			     69, 1974) */
	double mean;      /* Huber's: values farther than 1.345 deviations count as if they were
			     there (Annals of Mathematical Statistics 35, 1964); 95 % as efficient as
			     the mean for normal values. The median if the deviation is 0. */
};

/* All are 0 for no value; NAN if out of memory. */
struct robust robust_measure(const double *value, size_t count);

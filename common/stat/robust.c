// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/series.h"

#define MAD_NORMAL 1.4826
#define HUBER_FAR  1.345
#define HUBER_ROUNDS                                                                \
	50 /* each at least halves the error as long as half of the values are near \
	    */

static double middle_of(const double *sorted, size_t count)
{
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* The mean of VALUE with those farther than FAR from CENTRE moved to that distance. */
static double clipped_mean(const double *value, size_t count, double centre, double far)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += fmax(fmin(value[i] - centre, far), -far);
	return centre + sum / (double)count;
}

struct robust robust_measure(const double *value, size_t count)
{
	struct robust r = {0, 0, 0};
	double *sorted = count ? malloc(count * sizeof(*sorted)) : NULL;

	if (!sorted)
		return count ? (struct robust){NAN, NAN, NAN} : r;
	memcpy(sorted, value, count * sizeof(*sorted));
	series_sort(sorted, count);
	r.median = r.mean = middle_of(sorted, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = fabs(value[i] - r.median);
	series_sort(sorted, count);
	r.deviation = MAD_NORMAL * middle_of(sorted, count);
	for (int i = 0; i < HUBER_ROUNDS && r.deviation > 0; i++)
		r.mean = clipped_mean(value, count, r.mean, HUBER_FAR * r.deviation);
	free(sorted);
	return r;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/stable.h"

#include <math.h>

#include "stat/series.h"

struct stable stable_find(const double *value, size_t count, double within)
{
	struct stable s = {.mean = interval_of_run(value, count, INTERVAL_CONFIDENCE)};
	size_t half = count / 2;

	if (count < STABLE_LEAST)
		return s;
	s.rise = (series_mean(value + count - half, half) - series_mean(value, half)) / s.mean.mean;
	if (fabs(s.rise) > within)
		s.state = STABLE_DIFFERS;
	else
		s.state = s.mean.half <= within * s.mean.mean ? STABLE_REACHED : STABLE_WIDE;
	return s;
}

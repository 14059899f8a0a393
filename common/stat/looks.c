// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/looks.h"

#include <math.h>

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

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/quantile.h"

#include <math.h>

#include "stat/beta.h"

/* The probability that at most K of COUNT samples are below a percentile of SHARE. */
static double binomial_up_to(uint64_t k, uint64_t count, double share)
{
	return k >= count ? 1 : beta_incomplete((double)(count - k), (double)k + 1, 1 - share);
}

/* The smallest K such that binomial_up_to() is more than PROBABILITY. */
static uint64_t binomial_quantile(double probability, uint64_t count, double share)
{
	uint64_t low = 0, high = count;

	while (low < high) {
		uint64_t k = low + (high - low) / 2;

		if (binomial_up_to(k, count, share) > probability)
			high = k;
		else
			low = k + 1;
	}
	return low;
}

/*
 * With K samples below the percentile, it is between the samples of rank K and K + 1. K is at least
 * LOW except in half of the error, and less than HIGH except in the other half.
 */
struct quantile_ranks quantile_ranks(double percent, uint64_t count, double confidence)
{
	double half = (1 - confidence / 100) / 2;

	return (struct quantile_ranks){
		binomial_quantile(half, count, percent / 100),
		binomial_quantile(1 - half, count, percent / 100) + 1,
	};
}

struct quantile quantile_of_hist(const struct hist *h, double percent, double confidence)
{
	uint64_t count = hist_count(h);
	struct quantile_ranks r = quantile_ranks(percent, count, confidence);

	if (!count)
		return (struct quantile){NAN, NAN, NAN};
	return (struct quantile){
		.value = hist_percentile(h, percent),
		.low = r.low ? hist_at_rank(h, r.low) : NAN,
		.high = r.high <= count ? hist_at_rank(h, r.high) : NAN,
	};
}

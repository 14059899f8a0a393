// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/hist.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(struct hist) <= 256 * 1024, "a histogram takes at most 256 KiB");

void hist_reset(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

void hist_merge(struct hist *h, const struct hist *from)
{
	if (!from->count)
		return;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		h->bucket[i] += from->bucket[i];
	h->count += from->count;
	h->sum += from->sum;
	h->sum_squares += from->sum_squares;
	if (from->min < h->min)
		h->min = from->min;
	if (from->max > h->max)
		h->max = from->max;
}

/* How far values of bucket INDEX are shifted right to get their place in the octave. */
static unsigned bucket_shift(unsigned index)
{
	return index < 2 * HIST_SUBS ? 0 : (index >> HIST_SUB_BITS) - 1;
}

uint64_t hist_bucket_low(unsigned index)
{
	unsigned shift = bucket_shift(index);

	return (uint64_t)(index - (shift << HIST_SUB_BITS)) << shift;
}

uint64_t hist_bucket_width(unsigned index)
{
	return UINT64_C(1) << bucket_shift(index);
}

/*
 * Which sample in order of size, from 1. 99.9 as a double is a trifle more than 99.9, and 99.9 % of
 * 1000 must be 999, not 1000: what exceeds a whole number by rounding alone is taken off.
 */
static uint64_t percentile_rank(double percent, uint64_t count)
{
	long double exact = (long double)percent * (long double)count / 100;
	uint64_t rank = (uint64_t)ceill(exact - exact * 0x1p-48L);

	return rank ? rank : 1;
}

double hist_percentile(const struct hist *h, double percent)
{
	uint64_t rank, seen = 0;
	double value;
	unsigned i;

	if (!h->count)
		return 0;
	rank = percentile_rank(percent, h->count);
	if (rank >= h->count)
		return (double)h->max;
	for (i = hist_index(h->min); i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			break;
	}
	value = (double)hist_bucket_low(i) + (double)(hist_bucket_width(i) - 1) / 2;
	if (value < (double)h->min)
		return (double)h->min;
	return value > (double)h->max ? (double)h->max : value;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)((long double)h->sum / (long double)h->count) : 0;
}

/*
 * Σ(x − m)² = Σx² − 2mΣx + nm² holds in integers for any m, and modulo 2^128 whatever overflows on
 * the way. With m the mean, rounded down, nothing is left to cancel when it becomes floating point.
 */
double hist_stdev(const struct hist *h)
{
	unsigned __int128 n = h->count, m, squares;
	long double rest, variance;

	if (!n)
		return 0;
	m = h->sum / n;
	squares = h->sum_squares - 2 * m * h->sum + n * m * m;
	rest = (long double)(h->sum - n * m) / (long double)n;
	variance = (long double)squares / (long double)n - rest * rest;
	return variance > 0 ? (double)sqrtl(variance) : 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/hist.h"

#include <math.h>

_Static_assert(sizeof(struct hist) <= 256 * 1024, "a histogram takes at most 256 KiB");

void hist_reset(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

void hist_merge(struct hist *h, const struct hist *from)
{
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		h->bucket[i] += from->bucket[i];
	h->sum += from->sum;
	if (from->min < h->min)
		h->min = from->min;
	if (from->max > h->max)
		h->max = from->max;
}

/*
 * Where bucket INDEX begins: the least integer of its part of the octave, less the one that was
 * added. In the octaves below 512 there are more buckets than integers.
 */
uint64_t hist_bucket_low(unsigned index)
{
	uint64_t place = (UINT64_C(1) << HIST_SUB_BITS) + index % (1u << HIST_SUB_BITS);
	unsigned octave = index >> HIST_SUB_BITS, down;

	if (octave >= HIST_SUB_BITS)
		return (place << (octave - HIST_SUB_BITS)) - 1;
	down = HIST_SUB_BITS - octave;
	return ((place + (UINT64_C(1) << down) - 1) >> down) - 1;
}

uint64_t hist_bucket_width(unsigned index)
{
	return hist_bucket_low(index + 1) - hist_bucket_low(index);
}

/* The first bucket that has samples, and the one behind the last: none if H is empty. */
struct range {
	unsigned first, end;
};

static struct range used(const struct hist *h)
{
	if (h->min > h->max)
		return (struct range){0, 0};
	return (struct range){(unsigned)hist_index(h->min), (unsigned)hist_index(h->max) + 1};
}

uint64_t hist_count(const struct hist *h)
{
	struct range r = used(h);
	uint64_t count = 0;

	for (unsigned i = r.first; i < r.end; i++)
		count += h->bucket[i];
	return count;
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
	uint64_t count = hist_count(h), rank, seen = 0;
	double value;
	unsigned i;

	if (!count)
		return 0;
	rank = percentile_rank(percent, count);
	if (rank >= count)
		return (double)h->max;
	for (i = used(h).first; i < HIST_BUCKETS; i++) {
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
	uint64_t count = hist_count(h);

	return count ? (double)((long double)h->sum / (long double)count) : 0;
}

/* Where the samples of bucket I lie: its middle, and the variance in it if they fill it evenly. */
struct spread {
	double middle, variance;
};

static struct spread spread_of(const struct hist *h, unsigned i)
{
	uint64_t low = hist_bucket_low(i), high = low + hist_bucket_width(i) - 1;
	double steps;

	if (low < h->min)
		low = h->min;
	if (high > h->max)
		high = h->max;
	steps = (double)(high - low);
	return (struct spread){(double)low + steps / 2, steps * (steps + 2) / 12};
}

/*
 * About the mean of the middles, not of the samples: what all middles are off by is then no
 * deviation. The second pass has nothing to cancel.
 */
double hist_stdev(const struct hist *h)
{
	double count = (double)hist_count(h), mean = 0, sum = 0;
	struct range r = used(h);
	struct spread s;

	for (unsigned i = r.first; i < r.end; i++)
		if (h->bucket[i])
			mean += (double)h->bucket[i] / count * spread_of(h, i).middle;
	for (unsigned i = r.first; i < r.end; i++) {
		if (!h->bucket[i])
			continue;
		s = spread_of(h, i);
		s.middle -= mean;
		sum += (double)h->bucket[i] / count * (s.middle * s.middle + s.variance);
	}
	return sqrt(sum);
}

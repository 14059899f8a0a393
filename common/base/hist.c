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
 * The lowest value of bucket INDEX: the least integer of its part of the octave, minus the 1 that
 * hist_index() adds. Octaves below 512 have more buckets than integers.
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

/* The first bucket with samples and the one after the last; both 0 if H is empty. */
struct range {
	unsigned first, end;
};

static struct range find_used_buckets(const struct hist *h)
{
	if (h->min > h->max)
		return (struct range){0, 0};
	return (struct range){(unsigned)hist_index(h->min), (unsigned)hist_index(h->max) + 1};
}

/* 99.9 as a double is slightly more than 99.9, and 99.9 % of 1000 must be 999, not 1000: the
 * subtraction removes rounding errors. */
uint64_t hist_rank(double percent, uint64_t count)
{
	long double exact = (long double)percent * (long double)count / 100;
	uint64_t rank = (uint64_t)ceill(exact - exact * 0x1p-48L);

	return rank ? rank : 1;
}

double hist_mean(const struct hist *h)
{
	uint64_t count = hist_count(h);

	return count ? (double)((long double)h->sum / (long double)count) : 0;
}

/* The middle of bucket I, and the variance of its samples if they fill it evenly. The limits of all
 * samples cut the bucket off. */
struct spread {
	double middle, variance;
};

static struct spread measure_bucket(const struct hist *h, unsigned i)
{
	uint64_t low = hist_bucket_low(i), high = low + hist_bucket_width(i) - 1;
	double steps;

	low = low < h->min ? h->min : low;
	high = high > h->max ? h->max : high;
	steps = (double)(high - low);
	return (struct spread){(double)low + steps / 2, steps * (steps + 2) / 12};
}

/*
 * Deviations are from the mean of the bucket middles, not of the samples: an error that all middles
 * share then adds no deviation. A second pass avoids the cancellation of a sum of squares.
 */
double hist_stdev(const struct hist *h)
{
	double count = (double)hist_count(h), mean = 0, sum = 0;
	struct range r = find_used_buckets(h);
	struct spread s;

	for (unsigned i = r.first; i < r.end; i++)
		if (h->bucket[i])
			mean += (double)h->bucket[i] / count * measure_bucket(h, i).middle;
	for (unsigned i = r.first; i < r.end; i++) {
		if (!h->bucket[i])
			continue;
		s = measure_bucket(h, i);
		s.middle -= mean;
		sum += (double)h->bucket[i] / count * (s.middle * s.middle + s.variance);
	}
	return sqrt(sum);
}

struct hist_excess hist_excess(const struct hist *h, double from, double over)
{
	struct hist_excess e = {0, 0};
	struct range r = find_used_buckets(h);

	for (unsigned i = r.first; i < r.end; i++) {
		double middle;

		if (!h->bucket[i] || (middle = measure_bucket(h, i).middle) < from)
			continue;
		e.count += h->bucket[i];
		e.sum += (double)h->bucket[i] * (middle - over);
	}
	return e;
}

uint64_t hist_count(const struct hist *h)
{
	struct range r = find_used_buckets(h);
	uint64_t count = 0;

	for (unsigned i = r.first; i < r.end; i++)
		count += h->bucket[i];
	return count;
}

double hist_percentile(const struct hist *h, double percent)
{
	return hist_at_rank(h, hist_rank(percent, hist_count(h)));
}

double hist_at_rank(const struct hist *h, uint64_t rank)
{
	uint64_t count = hist_count(h), seen = 0;
	unsigned i = find_used_buckets(h).first;

	if (rank >= count)
		return count ? (double)h->max : 0;
	while ((seen += h->bucket[i]) < rank)
		i++;
	return measure_bucket(h, i).middle;
}

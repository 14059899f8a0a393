// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/hist.h"

#include <math.h>

#define NO_CORRECTION UINT64_MAX /* an interval that corrects nothing */

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

/* The middle of bucket I, and the variance of its samples if they fill it evenly. MIN and MAX are
 * the limits of all samples and cut the bucket off. */
struct spread {
	double middle, variance;
};

static struct spread measure_bucket_within(unsigned i, uint64_t min, uint64_t max)
{
	uint64_t low = hist_bucket_low(i), high = low + hist_bucket_width(i) - 1;
	double steps;

	low = low < min ? min : low;
	high = high > max ? max : high;
	steps = (double)(high - low);
	return (struct spread){(double)low + steps / 2, steps * (steps + 2) / 12};
}

static struct spread measure_bucket(const struct hist *h, unsigned i)
{
	return measure_bucket_within(i, h->min, h->max);
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

/* The number of samples that the correction for coordinated omission adds to a sample V: V -
 * INTERVAL, V - 2 * INTERVAL and so on, down to INTERVAL. */
static uint64_t count_added(uint64_t v, uint64_t interval)
{
	return v / interval > 1 ? v / interval - 1 : 0;
}

/* The number of samples, added ones included, that are at most HIGH, the last value of a bucket. */
static uint64_t count_corrected_up_to(const struct hist *h, uint64_t interval, uint64_t high)
{
	struct range r = find_used_buckets(h);
	uint64_t count = 0;

	for (unsigned i = r.first; i < r.end; i++) {
		uint64_t v, all, above;

		if (!h->bucket[i])
			continue;
		v = (uint64_t)measure_bucket(h, i).middle;
		all = count_added(v, interval);
		if (v <= high) {
			count += h->bucket[i] * (1 + all);
			continue;
		}
		above = (v - high - 1) / interval;
		count += h->bucket[i] * (above < all ? all - above : 0);
	}
	return count;
}

uint64_t hist_count(const struct hist *h)
{
	return hist_corrected_count(h, NO_CORRECTION);
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

uint64_t hist_corrected_count(const struct hist *h, uint64_t interval)
{
	return count_corrected_up_to(h, interval, HIST_MOST);
}

double hist_corrected_percentile(const struct hist *h, uint64_t interval, double percent)
{
	uint64_t count = hist_corrected_count(h, interval), rank = hist_rank(percent, count);
	uint64_t least = h->min < interval ? h->min : interval;
	unsigned low, high;

	if (rank >= count)
		return count ? (double)h->max : 0;
	low = (unsigned)hist_index(least);
	high = (unsigned)hist_index(h->max);
	while (low < high) {
		unsigned i = low + (high - low) / 2;

		if (count_corrected_up_to(h, interval, hist_bucket_low(i + 1) - 1) >= rank)
			high = i;
		else
			low = i + 1;
	}
	return measure_bucket_within(low, least, h->max).middle;
}

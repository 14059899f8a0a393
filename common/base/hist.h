/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hist: a log-linear histogram of unsigned samples.
 *
 * Every power of two is cut into 512 buckets, so a percentile (the middle of its bucket) is off by
 * at most 1/1024 < 0.1 %. Each value below 1023 has its own bucket. The size is fixed (212 KiB) for
 * any number of samples, no sample is dropped, and two histograms merge by addition.
 *
 * Minimum, maximum and mean are exact. The standard deviation is computed from the buckets: its
 * error is at most 0.12 % of the samples' root mean square (of the mean, if the samples are close
 * together), and far less if they fill more than a few buckets.
 *
 * The caller chooses the unit of a sample (rdmark records clock ticks). A sample above HIST_MOST
 * counts as HIST_MOST: 34 days of ticks at 3 GHz, or the difference of two clock readings that went
 * backwards. The mean is correct up to a sum of 2^64, 195 years of such ticks. Not thread-safe.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define HIST_SUB_BITS 9u  /* 512 buckets for each power of two */
#define HIST_OCTAVES  53u /* a double has 53 significant bits */
#define HIST_BUCKETS  (HIST_OCTAVES << HIST_SUB_BITS)
#define HIST_MOST     ((UINT64_C(1) << HIST_OCTAVES) - 2)

struct hist {
	uint64_t min; /* greater than max: no sample */
	uint64_t max;
	uint64_t sum;
	uint64_t bucket[HIST_BUCKETS];
};

/* Remove all samples. Call it once before the first sample. */
void hist_reset(struct hist *h);

/*
 * The index of the bucket of VALUE, which is at most HIST_MOST. The conversion to double computes
 * it: the exponent is the power of two, and the highest bits of the mantissa are the place within
 * it. One is added to every value because zero has no exponent. Hot.
 */
static inline __attribute__((always_inline)) uint64_t hist_index(uint64_t value)
{
	double shifted = (double)(int64_t)(value + 1);
	uint64_t bits;

	_Static_assert(sizeof(shifted) == sizeof(bits), "a double is IEEE 754's");
	memcpy(&bits, &shifted, sizeof(bits));
	return (bits >> (52 - HIST_SUB_BITS)) - (UINT64_C(1023) << HIST_SUB_BITS);
}

/*
 * Record one sample. Hot: 11 instructions on x86-64, and no branch that depends on the bucket. Only
 * a new maximum can be too large, so the limit is checked there at no cost to other samples.
 */
static inline __attribute__((always_inline)) void hist_add(struct hist *h, uint64_t value)
{
	if (__builtin_expect(value > h->max, 0)) {
		if (value > HIST_MOST)
			value = HIST_MOST;
		h->max = value;
	}
	if (__builtin_expect(value < h->min, 0))
		h->min = value;
	h->sum += value;
	h->bucket[hist_index(value)]++;
}

/* Add all samples of FROM to H. */
void hist_merge(struct hist *h, const struct hist *from);

/*
 * The lowest value of bucket INDEX; and the number of values in it, which is 0 for some of the
 * lowest indices.
 */
uint64_t hist_bucket_low(unsigned index);
uint64_t hist_bucket_width(unsigned index);

/* The number of samples. Like all functions below, it reads every bucket. */
uint64_t hist_count(const struct hist *h);

/*
 * The smallest value such that at least PERCENT (0 < PERCENT <= 100) of the samples are no larger.
 * Has the relative error given above and is always within [min, max]. 0 if empty.
 */
double hist_percentile(const struct hist *h, double percent);

/* The rank of that sample, from 1 in ascending order, of COUNT samples; and the sample of a rank. */
uint64_t hist_rank(double percent, uint64_t count);
double hist_at_rank(const struct hist *h, uint64_t rank);

/* The mean, and the standard deviation of the population (divided by n). 0 if empty. */
double hist_mean(const struct hist *h);
double hist_stdev(const struct hist *h);

/*
 * The samples that are FROM or more: their number, and the sum of their excess over OVER, which is
 * at most FROM.
 */
struct hist_excess {
	uint64_t count;
	double sum;
};
struct hist_excess hist_excess(const struct hist *h, double from, double over);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hist: a log-linear histogram of unsigned 64-bit samples, with the exact moments beside it.
 *
 * Values below 1024 have a bucket each; above, every power of two is cut into 512 buckets, so a
 * percentile (the middle of its bucket) is off by at most 1/1024 < 0.1 %. The size is fixed
 * (about 225 KiB) whatever the number of samples, no sample is dropped, and two histograms merge
 * by addition. Minimum, maximum, mean and standard deviation are exact, not read off buckets; the
 * deviation so long as the squares of the samples' distances from the mean sum up below 2^128
 * (2^40 samples that are 2^44 off).
 *
 * The unit of a sample is the caller's (rdmark records clock ticks). Not thread-safe.
 */
#ifndef RDMARK_BASE_HIST_H
#define RDMARK_BASE_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_SUB_BITS 9u /* 512 buckets for each power of two */
#define HIST_SUBS     (1u << HIST_SUB_BITS)
#define HIST_BUCKETS  ((64u - HIST_SUB_BITS + 1u) * HIST_SUBS)

struct hist {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	unsigned __int128 sum;
	unsigned __int128 sum_squares; /* modulo 2^128, see hist_stdev() */
	uint64_t bucket[HIST_BUCKETS];
};

/* Forget all samples. A histogram must be reset once before its first sample. */
void hist_reset(struct hist *h);

/* The bucket of VALUE. Hot. */
static inline __attribute__((always_inline)) unsigned hist_index(uint64_t value)
{
	unsigned shift = (63u - HIST_SUB_BITS) - (unsigned)__builtin_clzll(value | HIST_SUBS);

	return (shift << HIST_SUB_BITS) + (unsigned)(value >> shift);
}

/* Record one sample. Hot: no branch that depends on the bucket, no division. */
static inline __attribute__((always_inline)) void hist_add(struct hist *h, uint64_t value)
{
	h->bucket[hist_index(value)]++;
	h->sum += value;
	h->sum_squares += (unsigned __int128)value * value;
	if (__builtin_expect(value < h->min, 0))
		h->min = value;
	if (__builtin_expect(value > h->max, 0))
		h->max = value;
	h->count++;
}

/* Add all samples of FROM to H. */
void hist_merge(struct hist *h, const struct hist *from);

/* Lowest value of bucket INDEX, and how many values share it (its width). */
uint64_t hist_bucket_low(unsigned index);
uint64_t hist_bucket_width(unsigned index);

/*
 * The smallest recorded value such that at least PERCENT (0 < PERCENT <= 100) of the samples are
 * no larger, within the relative error above and never outside [min, max]. 0 if empty.
 */
double hist_percentile(const struct hist *h, double percent);

/* Mean, and standard deviation of the population (divided by n). 0 if empty. */
double hist_mean(const struct hist *h);
double hist_stdev(const struct hist *h);

#endif

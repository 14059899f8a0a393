/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hist: a log-linear histogram of unsigned samples.
 *
 * Every power of two is cut into 512 buckets, so that a percentile (the middle of its bucket) is
 * off by at most 1/1024 < 0.1 %; values below 1023 have a bucket each. The size is fixed (212 KiB)
 * whatever the number of samples, no sample is dropped, and two histograms merge by addition.
 *
 * Minimum, maximum and mean are exact, not read off buckets. The standard deviation is: it is off
 * by at most 0.12 % of the samples' root mean square (of the mean, if they lie close together), and
 * where they fill more than a few buckets by far less.
 *
 * The unit of a sample is the caller's (rdmark records clock ticks). One above HIST_MOST, 34 days
 * of ticks at 3 GHz, or the difference of two clock readings that went backwards, counts as that.
 * The mean holds for samples of 2^64 in all, 195 years of such ticks. Not thread-safe.
 */
#ifndef RDMARK_BASE_HIST_H
#define RDMARK_BASE_HIST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HIST_SUB_BITS 9u  /* 512 buckets for each power of two */
#define HIST_OCTAVES  53u /* what a double has digits for */
#define HIST_BUCKETS  (HIST_OCTAVES << HIST_SUB_BITS)
#define HIST_MOST     ((UINT64_C(1) << HIST_OCTAVES) - 2)

struct hist {
	uint64_t min; /* more than max: there is no sample */
	uint64_t max;
	uint64_t sum;
	uint64_t bucket[HIST_BUCKETS];
};

/* Forget all samples. A histogram must be reset once before its first sample. */
void hist_reset(struct hist *h);

/*
 * The bucket of VALUE, at most HIST_MOST. The exponent of a double and the digits behind it are the
 * octave and the place in it, ready made; zero has none of its own, so one is added to all. Hot.
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
 * Record one sample. Hot: 11 instructions on x86-64, no branch that depends on the bucket. That the
 * maximum is looked at first keeps what is too large from the buckets, at no cost for others.
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

/* Lowest value of bucket INDEX, and how many values share it (its width; 0 among the lowest). */
uint64_t hist_bucket_low(unsigned index);
uint64_t hist_bucket_width(unsigned index);

/* How many samples there are. Like all that follows it looks at each bucket. */
uint64_t hist_count(const struct hist *h);

/*
 * The smallest recorded value such that at least PERCENT (0 < PERCENT <= 100) of the samples are
 * no larger, within the relative error above and never outside [min, max]. 0 if empty.
 */
double hist_percentile(const struct hist *h, double percent);

/* Mean, and standard deviation of the population (divided by n). 0 if empty. */
double hist_mean(const struct hist *h);
double hist_stdev(const struct hist *h);

#endif

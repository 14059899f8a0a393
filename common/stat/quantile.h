/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * quantile: percentiles, and how precisely they are known.
 *
 * The P-th percentile of n samples is the inverse of their cumulative distribution: the smallest
 * sample such that at least P percent of the samples are no larger. Its rank, from 1 in ascending
 * order, is ⌈n P / 100⌉ (hist_rank() in base/hist.h); nothing is interpolated.
 *
 * The interval of CONFIDENCE percent are two ranks: the number of samples below the true percentile
 * is binomial (n, P / 100), whatever the distribution (David and Nagaraja, Order Statistics, 7.1).
 * It covers at least CONFIDENCE percent. Assumes independent samples: of those that come in bursts,
 * the interval is too narrow.
 */
#pragma once

#include <stdint.h>

#include "base/hist.h"

/* Ranks of the limits, from 1; LOW is 0 and HIGH is COUNT + 1 if no sample is one. */
struct quantile_ranks {
	uint64_t low, high;
};
struct quantile_ranks quantile_ranks(double percent, uint64_t count, double confidence);

/* A percentile and its interval. NAN: too few samples for that limit. */
struct quantile {
	double value, low, high;
};

/* Of a histogram's samples, in its unit; all NAN if it is empty. */
struct quantile quantile_of_hist(const struct hist *h, double percent, double confidence);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples of all kinds for a histogram, the same on every machine. */
#ifndef RDMARK_TESTS_HIST_SAMPLES_H
#define RDMARK_TESTS_HIST_SAMPLES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"

#define SAMPLES 20011 /* a prime, so no percentile falls exactly between two samples */

struct random {
	uint64_t x;
};

/* splitmix64: the same numbers on every machine. */
static uint64_t draw(struct random *r)
{
	uint64_t z = (r->x += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static double draw_unit(struct random *r)
{
	return (double)((draw(r) >> 11) + 1) / 9007199254740993.0;
}

static uint64_t uniform_small(struct random *r)
{
	return draw(r) % 1000;
}

static uint64_t uniform_large(struct random *r)
{
	return draw(r) >> 14; /* below 2^50 */
}

static uint64_t exponential(struct random *r)
{
	return (uint64_t)(-log(draw_unit(r)) * 5000);
}

/* All orders of magnitude are equally likely. */
static uint64_t log_uniform(struct random *r)
{
	return draw(r) >> (14 + draw(r) % 50);
}

/* Like a ping-pong: a narrow peak with a long tail. */
static uint64_t hump_and_tail(struct random *r)
{
	uint64_t base = 4200 + draw(r) % 60;

	return draw(r) % 1000 ? base : base * 300 + draw(r) % 100000;
}

static uint64_t constant(struct random *r)
{
	(void)r;
	return 123456789;
}

static uint64_t two_values(struct random *r)
{
	return draw(r) & 1 ? 1023 : 1024;
}

static uint64_t powers(struct random *r)
{
	uint64_t one = UINT64_C(1) << draw(r) % 50;

	return one + draw(r) % 3 - 1;
}

typedef uint64_t (*draw_fn)(struct random *r);

static const draw_fn distributions[] = {uniform_small, uniform_large, exponential, log_uniform,
					hump_and_tail, constant,      two_values,  powers};

#define DISTRIBUTIONS (sizeof(distributions) / sizeof(distributions[0]))

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct hist *new_hist(void)
{
	struct hist *h = malloc(sizeof(*h));

	assert_non_null(h);
	memset(h, 0xa5, sizeof(*h));
	hist_reset(h);
	return h;
}

/* SAMPLES sorted numbers, also recorded in H unless that is NULL. */
static uint64_t *new_samples(draw_fn fn, uint64_t seed, struct hist *h)
{
	uint64_t *v = malloc(SAMPLES * sizeof(*v));
	struct random r = {seed};

	assert_non_null(v);
	for (size_t i = 0; i < SAMPLES; i++) {
		v[i] = fn(&r);
		if (h)
			hist_add(h, v[i]);
	}
	qsort(v, SAMPLES, sizeof(*v), compare);
	return v;
}

static void expect_close(double got, double want, double relative)
{
	if (fabs(got - want) > fabs(want) * relative)
		fail_msg("got %.17g, want %.17g within %g", got, want, relative);
}

#endif

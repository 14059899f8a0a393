// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Guesses from the figures that are the best, and from those that hardly differ. */
#include "guess.h"

#include <math.h>
#include <stdlib.h>

#define BEST       .95    /* this part of the figures is below the best */
#define NEAR       .9     /* of the best: such figures are of good pairs */
#define NEAR_SURE  2.     /* with noise, those this many standard deviations below the best are */
#define NEAR_LEAST .8     /* but none below this part of the best: slow ones may be there */
#define SAMPLE     200000 /* differences: more tell no more of the noise */
#define PER_CELL   4      /* a cell has two players, who compare it with the next two */

/* A standard deviation of normal noise is this many quartiles of the differences of two figures. */
static const double sd_per_quartile = 2.2191;

static float difference(float a, float b)
{
	return fabsf(a - b) / fmaxf(a, b);
}

/*
 * The noise, even where nodes are slow: by how much two figures of the same player differ. Those of a good
 * player with slow partners differ by more than noise, and may be most of all, so not the median of
 * the differences counts but their quartile.
 */
static double guess_noise(const struct matrix *m, const float *x, float *some, size_t room)
{
	uint32_t step = m->cells / (SAMPLE / PER_CELL) + 1;
	size_t n = 0;

	for (uint32_t i = 0; i < m->players * MATRIX_WAYS; i += step) {
		enum matrix_way way = i < m->players ? MATRIX_SEND : MATRIX_RECEIVE;
		uint32_t player = i % m->players, count = matrix_count(m, way, player);

		for (uint32_t k = 0; k < 2 * count && n < room; k++) {
			uint32_t other = (k / 2 + 1 + k % 2) % count;
			float d = difference(x[matrix_at(m, way, player, k / 2)],
					     x[matrix_at(m, way, player, other)]);

			if (!isnan(d) && other != k / 2)
				some[n++] = d;
		}
	}
	return n ? sd_per_quartile * matrix_quantile(some, n, .25) : 0;
}

/*
 * The median of the figures near the best. Noise makes the best better than normal: with 10 % of it
 * 0.9 of the best is more than half of the good figures reach, and the median of the rest names the
 * others.
 */
static double guess_normal(const struct matrix *m, const float *x, double noise, float *some)
{
	double near = fmax(NEAR_LEAST, fmin(NEAR, 1 - NEAR_SURE * noise)), best;
	size_t n = 0;

	for (uint32_t i = 0; i < m->cells; i++)
		if (!isnan(x[i]))
			some[n++] = x[i];
	if (!n)
		return NAN;
	best = matrix_quantile(some, n, BEST);
	n = 0;
	for (uint32_t i = 0; i < m->cells; i++)
		if ((double)x[i] >= near * best)
			some[n++] = x[i];
	return matrix_median(some, n);
}

int guess_init(struct guess *g, const struct matrix *m, const float *x)
{
	size_t most = m->cells > SAMPLE ? m->cells : SAMPLE, all = (size_t)m->cells * PER_CELL;
	size_t room = all < most ? all : most;
	float *some = malloc((room + 1) * sizeof(*some));

	if (!some)
		return -1;
	g->noise = guess_noise(m, x, some, room);
	g->normal = guess_normal(m, x, g->noise, some);
	free(some);
	return 0;
}

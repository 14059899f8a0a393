// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "chances.h"
#include "limits.h"

#include <math.h>

#define BINS    CHANCES_BINS
#define LOWEST  -3. /* a twentieth of normal */
#define HIGHEST 1.

static uint32_t bin_of(double figure)
{
	double at = (figure - LOWEST) / (HIGHEST - LOWEST) * BINS;

	return !(at >= 0) ? 0 : at >= BINS ? BINS - 1 : (uint32_t)at;
}

/* The middle of a bin. */
static double figure_of(uint32_t bin)
{
	return LOWEST + (bin + .5) * (HIGHEST - LOWEST) / BINS;
}

void chances_add(struct chances *p, double figure)
{
	if (isnan(figure)) /* nothing is normal where nothing was measured */
		return;
	p->below[bin_of(figure) + 1]++;
	p->count++;
}

/* Hill's estimate of the tail's power, from the figures that are farther than where it begins. */
static void find_tail(struct chances *p)
{
	double sum = 0, figures = 0,
	       least = p->count < CHANCES_FEW ? CHANCES_NEAR_FEW : CHANCES_NEAR;
	uint32_t bin = 0;

	p->tail_share = fmin(CHANCES_TAIL_MOST,
			     fmax(CHANCES_TAIL_COUNT / fmax(p->count, 1), CHANCES_TAIL_LEAST));
	while (bin < BINS && p->below[bin + 1] < p->tail_share * p->count)
		bin++;
	p->tail_at = fmax(least, -figure_of(bin));
	p->tail_share = fmax(1, p->below[bin + 1]) / fmax(p->count, 1);
	for (uint32_t i = 0; i < bin; i++) {
		double n = p->below[i + 1] - p->below[i], far = -figure_of(i);

		if (far > p->tail_at && n) {
			sum += n * log(far / p->tail_at);
			figures += n;
		}
	}
	p->tail_power = fmin(p->count < CHANCES_FEW ? CHANCES_POWER_FEW : CHANCES_POWER_MOST,
			     sum > 0 ? figures / sum : CHANCES_POWER_MOST);
}

/* The power by two quantiles, so that what is beyond the farther one does not matter. */
static void find_bulk(struct chances *p)
{
	uint32_t bin = 0;
	double far;

	while (bin < BINS && p->below[bin + 1] < p->tail_share / CHANCES_FARTHEST * p->count)
		bin++;
	far = fmax(-figure_of(bin), p->tail_at * CHANCES_NO_FARTHER);
	p->bulk_power = fmin(CHANCES_POWER_MOST,
			     CHANCES_OUTWARD * log(CHANCES_FARTHEST) / log(far / p->tail_at));
}

void chances_close(struct chances *p)
{
	for (uint32_t i = 0; i < BINS; i++)
		p->below[i + 1] += p->below[i];
	find_tail(p);
	find_bulk(p);
}

double chances_share(const struct chances *p, double figure, uint32_t own, uint32_t own_below)
{
	double others = p->count - (double)own;
	double below = p->below[bin_of(figure) + 1] - (double)own_below, tail;

	if (!(others > 0))
		return 1;
	if (below >= p->tail_share * others || -figure <= p->tail_at)
		return fmin(1, (below + 1) / (others + 1));
	tail = p->tail_share * pow(-figure / p->tail_at, -p->tail_power);
	return fmin(1, fmax(tail, below / others));
}

double chances_share_of_bulk(const struct chances *p, double figure)
{
	if (-figure <= p->tail_at)
		return 1;
	return p->tail_share * pow(-figure / p->tail_at, -p->bulk_power);
}

double chances_at(const struct chances *p, double share)
{
	uint32_t low = 0, high = BINS;

	if (share < p->tail_share)
		return -p->tail_at * pow(share / p->tail_share, -1 / p->tail_power);
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (p->below[middle + 1] >= share * p->count)
			high = middle;
		else
			low = middle + 1;
	}
	return figure_of(low < BINS ? low : BINS - 1);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How slow a player must be to be named. */
#include <math.h>
#include <stdlib.h>

#include "fit.h"
#include "stat/beta.h"
#include "limits.h"
#include "proto/json_memory.h"

#define STEP .01

#define ROUNDS_MOST 65536

/* The chance that at least K of N are so, each of which is with chance P. */
static double at_least(uint32_t k, uint32_t n, double p)
{
	return p >= 1 ? 1 : p <= 0 ? 0 : beta_incomplete(k, n - k + 1., p);
}

/* The largest share of which K of N figures are proof. */
static double proof_share(const struct fit *f, uint32_t k, uint32_t n)
{
	double low = 0, high = 1;

	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		if (at_least(k, n, middle) <= f->chance)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * The smallest part that K of N figures prove. What is slow by a part D has all figures lower by
 * it, or where the network already takes POWER_TOP from the best ones, none above 1 - D of these.
 */
static double smallest_of(const struct fit *f, const struct chances *p, uint32_t k, uint32_t n,
			  double top, double named)
{
	double limit = chances_at(p, POWER_SAFE * proof_share(f, k, n)), d = STEP;

	while (d < 1 && at_least(k, n, chances_share(p, limit - log(1 - d), 0, 0)) < named)
		d += STEP;
	return top > 0 ? fmax(d, 1 - exp(limit - top)) : d;
}

/* The figures that half of the players have at least in one way; 0: too few to judge them by. */
static uint32_t usual_figures(const struct fit *f)
{
	size_t n = 0;

	for (uint32_t i = 0; i < f->m->players; i++)
		if (f->of[i].way[FIT_SENDS].partners >= FIT_PARTNERS)
			f->some[n++] = (float)f->of[i].way[FIT_SENDS].figures;
	return 2 * n > f->m->players ? (uint32_t)matrix_median(f->some, n) : 0;
}

/* The sum of what pairs reach in a round, as parts of normal, and how many there are. */
struct sum {
	double parts, squares;
	uint32_t count;
};

/* True if in some round all pairs reach less than in another one, and chance does not explain it.
 */
static bool differ(const struct sum *of, uint32_t rounds)
{
	const struct sum *best = NULL;

	for (uint32_t i = 0; i < rounds; i++)
		if (of[i].count >= POWER_ROUND_PAIRS &&
		    (!best || of[i].parts / of[i].count > best->parts / best->count))
			best = &of[i];
	for (uint32_t i = 0; i < rounds && best; i++) {
		double n = of[i].count, mean = of[i].parts / n, most = best->parts / best->count;
		double variance = (of[i].squares / n - mean * mean) / n +
				  (best->squares / best->count - most * most) / best->count;

		if (n >= POWER_ROUND_PAIRS && mean < POWER_ROUND_LOW * most &&
		    most - mean > POWER_ROUND_SURE * sqrt(fmax(0, variance)))
			return true;
	}
	return false;
}

/* What pairs reach on average, as a part of the best ones: POWER_TOP, a logarithm. NaN: it is even.
 */
static double network_of(const struct fit *f, double top)
{
	struct sum all = {0}, *of = calloc(ROUNDS_MOST, sizeof(*of));
	double average;
	bool uneven;

	if (!of)
		json_memory_lacked();
	for (const struct meeting *t = f->slots.of; of && t < f->slots.end; t++) {
		uint32_t a = t->player, b = t->with;
		struct sum *to = &of[t->at % ROUNDS_MOST];
		double y = ((double)fmaxf(t->sends, t->receives) +
			    (double)fminf(t->sends, t->receives)) /
			   2;
		double part = exp(y - fmin(f->kind[f->kinds.of[a]], f->kind[f->kinds.of[b]]));

		if (isnan(y) || a > b || f->lost[a] || f->lost[b] || fit_is_aside(f, a) ||
		    fit_is_aside(f, b))
			continue;
		to->parts += part;
		to->squares += part * part;
		to->count++;
		all.parts += part;
		all.count++;
	}
	uneven = of && differ(of, ROUNDS_MOST);
	free(of);
	average = all.count ? all.parts / all.count / exp(top) : NAN;
	return uneven || average < FIT_NETWORK ? average : NAN;
}

double fit_smallest(const struct fit *f, double named, double *network)
{
	const struct chances *p = fit_main_pool(f);
	uint32_t n = usual_figures(f);
	double top, best = NAN;

	*network = NAN;
	if (!n || !p->count)
		return NAN;
	if (!f->body->latency) /* the longest way takes no part of the shortest one */
		*network = network_of(f, chances_at(p, POWER_BEST));
	top = isnan(*network) ? 0 : chances_at(p, POWER_TOP);
	for (double part = .8; part < 1.05; part += .1)
		best = fmin(best, smallest_of(f, p, (uint32_t)fmin(n, ceil(part * n - 1e-9)), n,
					      top, named));
	/* Half of those that are slow by the least effect seem to be less slow. */
	return fmax(best, 1 - exp(-fit_least(f) - top - POWER_MEDIAN_SURE * fit_noise(f) / sqrt(n)));
}

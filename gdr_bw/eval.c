// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "eval.h"

#include <math.h>
#include <string.h>

#include "stat/interval.h"
#include "stat/series.h"

#define ROUNDING    1e-9
#define HOSTS       2   /* host memory cells: one for each direction */
#define WORTH_LEAST 2.6 /* independent windows: of fewer interval_of_time() promises nothing */
#define OWN_GROUPS  12  /* McNemar's chi-square, 3.5 standard deviations: what is the GPU's */

unsigned eval_cells(const struct eval_attr *a)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->results; i++)
		n += a->result[i].judged;
	return n ? n + HOSTS : 0;
}

unsigned eval_next(const struct eval_attr *a, unsigned done)
{
	unsigned next = a->first;

	while (next <= done)
		next += next / 2 + 1;
	return next < a->most ? next : done < a->most ? a->most : 0;
}

/* The error in percent that each look may make, so that all of them together keep theirs (Boole).
 */
static double error_of_look(const struct eval_attr *a)
{
	unsigned looks = 0;

	for (unsigned n = eval_next(a, 0); n; n = eval_next(a, n))
		looks++;
	return (100 - INTERVAL_CONFIDENCE) / fmax(looks, 1);
}

/*
 * Copy the windows of the turns in which both R and its host cell were measured: R's to VALUE, the
 * host's to BASE. Returns how many pairs.
 */
static unsigned pair_windows(const struct gdr_result *r, double *value, double *base)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->turns; i++) {
		if (!(r->gbps[i] > 0 && r->host->gbps[i] > 0))
			continue;
		value[n] = r->gbps[i];
		base[n++] = r->host->gbps[i];
	}
	return n;
}

/*
 * To first order, the quotient of two means varies as (VALUE - ratio * BASE) / mean of BASE: so its
 * interval is that of the mean of these values, which replace VALUE. For a host cell they are its
 * rates.
 */
static unsigned ratio_windows(const struct gdr_result *r, double *value, double *base)
{
	unsigned n = pair_windows(r, value, base);
	double base_mean = series_mean(base, n), ratio = series_mean(value, n) / base_mean;

	for (unsigned i = 0; i < n && r != r->host; i++)
		value[i] = ratio + (value[i] - ratio * base[i]) / base_mean;
	return n;
}

/* The correlation time of the windows of A's host cells, or of the ratios of all others. */
static double correlation_time(const struct eval_attr *a, bool host)
{
	double *room = a->scratch, mean, variance;
	struct series_part part[GDR_CELLS_MAX];
	size_t parts = 0, n;

	for (unsigned i = 0; i < a->results && parts < GDR_CELLS_MAX; i++) {
		const struct gdr_result *r = &a->result[i];

		if ((r == r->host) != host || r->size_bytes != a->result[a->results - 1].size_bytes)
			continue;
		n = ratio_windows(r, room, a->scratch + (size_t)r->turns * (1 + a->results));
		mean = series_mean(room, n);
		variance = n > 1 ? series_variance(room, n, mean) : 0;
		if (!(variance > ROUNDING * ROUNDING * mean * mean)) /* errors of rounding */
			continue;
		for (size_t k = 0; k < n; k++)
			room[k] /= sqrt(variance); /* each cell has the same weight */
		part[parts++] = (struct series_part){room, n};
		room += r->turns;
	}
	return series_correlation_time(part, parts);
}

/*
 * The interval of the mean of COUNT values. Of the ERROR the lower end has half; of the upper end's
 * half each of TOGETHER cells has a part: that all cells are above a limit is wrong only if the
 * worst one is, but one of many is soon below it.
 */
static struct eval_range range_of(const double *value, unsigned count, double time, double error,
				  unsigned together)
{
	double least = fmin(time, count / WORTH_LEAST);
	struct interval low = interval_of_time(value, count, least, 100 - error);
	struct interval high = interval_of_time(value, count, least, 100 - error / together);

	return (struct eval_range){low.mean, fmax(low.mean - low.half, 0), high.mean + high.half,
				   count};
}

/* Two groups of COUNT values of which the low one is below FLOOR times the high one. */
static struct modes groups_of(const double *value, double *sorted, unsigned count, double floor)
{
	struct modes m;

	if (!modes_find(value, count, sorted, &m) || m.low >= floor * m.high)
		m = (struct modes){0};
	return m;
}

/*
 * True if the GPU's windows VALUE are in the low group of M in more turns than host memory's BASE
 * are low by as much: McNemar's test on the turns in which one of them is low (Psychometrika 12,
 * 1947).
 */
static bool are_own(const struct modes *m, const double *value, const double *base, unsigned count)
{
	double cut = (m->low + m->high) / 2, high = 0, gpu = 0, host = 0;

	for (unsigned i = 0; i < count; i++)
		high = fmax(high, base[i]);
	for (unsigned i = 0; i < count; i++) {
		bool low = value[i] < cut, host_low = base[i] < cut / m->high * high;

		gpu += low && !host_low;
		host += host_low && !low;
	}
	return gpu > host && (gpu - host) * (gpu - host) > OWN_GROUPS * (gpu + host);
}

static enum verdict_level ratio_level(double ratio, double within)
{
	if (ratio >= 1 - within - ROUNDING)
		return VERDICT_PASS;
	return ratio >= EVAL_WARN_RATIO - ROUNDING ? VERDICT_WARN : VERDICT_FAIL;
}

static void set_levels(struct eval_cell *c, double within)
{
	double floor = c->result->host->expected_gbps * (1 - fmax(within, EVAL_LOW) - ROUNDING);
	bool low = c->host.high < floor, may_be_low = c->host.low < floor;
	bool at_times = c->host_groups.high > floor;
	const struct {
		enum verdict_level best, worst;
	} answer[] = {
		[EVAL_RATIO] = {ratio_level(c->ratio.high, within),
				ratio_level(c->ratio.low, within)},
		[EVAL_HOST] = {low && !at_times ? VERDICT_WARN : VERDICT_PASS,
			       may_be_low && !at_times ? VERDICT_WARN : VERDICT_PASS},
		[EVAL_HOST_GROUPS] = {VERDICT_PASS,
				      may_be_low && at_times ? VERDICT_WARN : VERDICT_PASS},
	};

	c->host_low = low;
	if (c->gpu_groups.high > 0) { /* the mean of both is the rate of neither */
		c->best = c->worst =
			answer[EVAL_RATIO].best == VERDICT_FAIL ? VERDICT_FAIL : VERDICT_WARN;
		c->why = c->best == VERDICT_FAIL ? EVAL_RATIO : EVAL_GROUPS;
		return;
	}
	c->best = c->worst = VERDICT_PASS;
	for (unsigned i = 0; i < EVAL_GROUPS; i++) {
		c->best = answer[i].best > c->best ? answer[i].best : c->best;
		c->worst = answer[i].worst > c->worst ? answer[i].worst : c->worst;
	}
	/* Decided: the first question so answered. Open: the first that may be as bad. */
	for (c->why = EVAL_RATIO; c->why + 1 < EVAL_GROUPS; c->why++)
		if (c->best == c->worst ? answer[c->why].best == c->best
					: answer[c->why].worst == c->worst)
			break;
}

/* Choose the cell that decides E or keeps it open; of several, the slowest relative to host. */
static void choose_deciding(struct eval *e)
{
	for (unsigned i = 0; i < e->cells; i++) {
		const struct eval_cell *c = &e->cell[i];

		if (e->best == e->worst ? c->best != e->best : c->worst != e->worst)
			continue;
		if (!e->deciding || c->ratio.mean < e->deciding->ratio.mean)
			e->deciding = c;
	}
}

void eval_results(struct eval *e, const struct eval_attr *a)
{
	double ratio_time = correlation_time(a, false), host_time = correlation_time(a, true);
	double error = error_of_look(a), *value = a->scratch, floor = 1 - a->within;
	unsigned together = eval_cells(a), n;

	memset(e, 0, sizeof(*e));
	e->confidence = 100 - (error + error / fmax(together, 1)) / 2;
	for (unsigned i = 0; i < a->results && e->cells < EVAL_CELLS_MAX; i++) {
		const struct gdr_result *r = &a->result[i];
		struct eval_cell *c = &e->cell[e->cells];
		double *base = value + r->turns, *sorted = base + r->turns;

		if (!r->judged || !r->windows || !r->host->windows)
			continue;
		c->result = r;
		n = pair_windows(r->host, value, base);
		c->host = range_of(value, n, host_time, error, together);
		c->host_groups = groups_of(value, sorted, n, floor);
		n = pair_windows(r, value, base);
		c->gpu_gbps = series_mean(value, n);
		c->gpu_groups = groups_of(value, sorted, n, floor);
		if (!are_own(&c->gpu_groups, value, base, n))
			c->gpu_groups = (struct modes){0};
		n = ratio_windows(r, value, base);
		c->ratio = range_of(value, n, ratio_time, error, together);
		set_levels(c, a->within);
		e->cells++;
		e->best = c->best > e->best ? c->best : e->best;
		e->worst = c->worst > e->worst ? c->worst : e->worst;
	}
	choose_deciding(e);
}

bool eval_needs_more(const struct eval *e, const struct gdr_result *r)
{
	for (unsigned i = 0; i < e->cells; i++) {
		const struct eval_cell *c = &e->cell[i];

		if ((c->result == r || c->result->host == r) && c->best != c->worst &&
		    c->worst > e->best)
			return true;
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "eval.h"

#include <math.h>
#include <string.h>

#define ROUNDING     1e-9
#define HOSTS        2  /* host memory cells: one for each direction */
#define MORE_TIME    5  /* extra windows take at most 5 times the time of the planned ones */
#define MORE_WINDOWS 19 /* a cell has at most 19 times its planned windows in addition */

/* The size that is judged: the largest one of a sweep. */
static uint64_t judged_size(const struct eval_attr *a)
{
	uint64_t size = 0;

	for (unsigned i = 0; i < a->results; i++)
		if (a->result[i].size_bytes > size)
			size = a->result[i].size_bytes;
	return size;
}

static bool is_judged(const struct eval_attr *a, const struct gdr_result *r)
{
	return gdr_cell_is_default_route(&r->cell, a->has) && r->size_bytes == judged_size(a);
}

static unsigned count_gpu(const struct eval_attr *a)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->results; i++)
		n += is_judged(a, &a->result[i]);
	return n;
}

unsigned eval_cells(const struct eval_attr *a)
{
	unsigned n = count_gpu(a);

	return n ? n + HOSTS : 0;
}

unsigned eval_most_windows(const struct eval_attr *a, unsigned first)
{
	unsigned cells = eval_cells(a), more = MORE_WINDOWS * first;

	if (!cells)
		return first;
	if (more > MORE_TIME * first * a->results / cells)
		more = MORE_TIME * first * a->results / cells;
	return first + more;
}

/* Each GPU cell has two intervals (ratio, rate), each host cell one: all must hold together. */
void eval_plan(struct eval_attr *a, unsigned first, unsigned most)
{
	windows_plan(&a->plan, first, most, 2 * count_gpu(a) + HOSTS);
}

/*
 * Copy the windows of the turns in which both A and B were measured: A's to SCRATCH, B's to
 * SCRATCH + a->turns. Returns how many pairs.
 */
static unsigned pair_windows(const struct gdr_result *a, const struct gdr_result *b,
			     double *scratch)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->turns; i++) {
		if (!(a->gbps[i] > 0 && b->gbps[i] > 0))
			continue;
		scratch[n] = a->gbps[i];
		scratch[a->turns + n++] = b->gbps[i];
	}
	return n;
}

static struct eval_rate rate_of(const struct gdr_result *r, const struct eval_attr *a)
{
	struct eval_rate e = {.expected_gbps = r->expected_gbps, .expected_from = r->expected_from};
	unsigned n = pair_windows(r, r, a->scratch);

	e.gbps = windows_rate(&a->plan, a->scratch, n);
	e.groups = windows_groups(a->scratch, a->scratch + r->turns, n, 1 - a->within, &e.modes);
	return e;
}

static struct windows_range ratio_of(const struct gdr_result *r, const struct eval_attr *a)
{
	double *base = a->scratch + r->turns, *room = base + r->turns;

	return windows_ratio(&a->plan, a->scratch, base, room,
			     pair_windows(r, r->host, a->scratch));
}

double eval_tolerance(double within)
{
	return fmax(within, EVAL_LOW);
}

static enum eval_level ratio_level(double ratio, double within)
{
	if (ratio >= 1 - within - ROUNDING)
		return EVAL_PASS;
	return ratio >= EVAL_WARN_RATIO - ROUNDING ? EVAL_WARN : EVAL_FAIL;
}

static enum eval_level rate_level(double gbps, double expected_gbps, double within)
{
	return gbps < expected_gbps * (1 - eval_tolerance(within) - ROUNDING) ? EVAL_WARN
									      : EVAL_PASS;
}

/* If the windows fall into two groups, they decide: the mean of both is the rate of neither. */
static bool decide_groups(struct eval_cell *c, enum windows_groups most, enum eval_level ratio)
{
	if (most != WINDOWS_TWO)
		return false;
	c->best = c->worst = ratio == EVAL_FAIL ? EVAL_FAIL : EVAL_WARN;
	c->why = ratio == EVAL_FAIL ? EVAL_RATIO : EVAL_GROUPS;
	return true;
}

void eval_set_levels(struct eval_cell *c, double within)
{
	const struct eval_rate *gpu = &c->gpu, *host = &c->host;
	enum windows_groups most = gpu->groups > host->groups ? gpu->groups : host->groups;
	const struct {
		enum eval_level best, worst;
	} answer[] = {
		[EVAL_RATIO] = {ratio_level(c->ratio.high, within),
				ratio_level(c->ratio.low, within)},
		[EVAL_HOST] = {rate_level(host->gbps.high, host->expected_gbps, within),
			       rate_level(host->gbps.low, host->expected_gbps, within)},
		/* If the GPU may be slower than host memory, that is reported rather than this. */
		[EVAL_GPU] = {ratio_level(c->ratio.low, within) == EVAL_PASS
				      ? rate_level(gpu->gbps.high, gpu->expected_gbps, within)
				      : EVAL_PASS,
			      rate_level(gpu->gbps.low, gpu->expected_gbps, within)},
		[EVAL_GROUPS] = {EVAL_PASS, most == WINDOWS_ONE_GROUP ? EVAL_PASS : EVAL_WARN},
	};

	if (decide_groups(c, most, answer[EVAL_RATIO].best))
		return;
	c->best = c->worst = EVAL_PASS;
	for (unsigned i = 0; i <= EVAL_GROUPS; i++) {
		c->best = answer[i].best > c->best ? answer[i].best : c->best;
		c->worst = answer[i].worst > c->worst ? answer[i].worst : c->worst;
	}
	/* Decided: the first question so answered. Open: the first that may be as bad. */
	for (c->why = EVAL_RATIO; c->why < EVAL_GROUPS; c->why++)
		if (c->best == c->worst ? answer[c->why].best == c->best
					: answer[c->why].worst == c->worst)
			break;
}

/* Choose the cell that decides W or keeps it open; of several, the slowest relative to host. */
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
	memset(e, 0, sizeof(*e));
	for (unsigned i = 0; i < a->results; i++) {
		const struct gdr_result *r = &a->result[i];
		struct eval_cell *c = &e->cell[e->cells];

		if (!is_judged(a, r) || !r->windows || !r->host->windows ||
		    e->cells == EVAL_CELLS_MAX)
			continue;
		*c = (struct eval_cell){.result = r,
					.ratio = ratio_of(r, a),
					.gpu = rate_of(r, a),
					.host = rate_of(r->host, a)};
		eval_set_levels(c, a->within);
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

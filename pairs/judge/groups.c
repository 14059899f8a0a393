// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Groups that are slow with others, by blocks, since only a full uplink tells: what a group carries
 * with another one while all groups do so.
 */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"
#include "proto/json_memory.h"

#define SLOTS 8 /* of blocks, which follow each other: more than a plan has */

struct group {
	double sum[SLOTS];      /* of what its blocks reach in each slot, */
	uint32_t n[SLOTS];      /* and how many runs that is */
	double level; /* the median of slots, as a logarithm: one partner may be bad; NaN: none */
	uint32_t runs, starved; /* all runs; and those that reach hardly anything */
};

static bool tells(const struct judgement *j, const struct observation *o)
{
	return (o->part == PART_BLOCK || o->part == PART_LOADED) && judge_counts(j, o) &&
	       judge_is_apart(j, o->from, o->to) && j->player[o->from].group != NONE &&
	       j->player[o->to].group != NONE && !judge_is_bad(j, o->from) && !judge_is_bad(j, o->to);
}

static void take_runs(const struct judgement *j, struct group *of)
{
	struct figures f = {.of = j->room};
	double hardly;

	for (uint32_t i = 0; i < j->e->count; i++)
		if (tells(j, &j->e->of[i]))
			f.of[f.n++] = (double)j->e->of[i].y;
	hardly = figures_median(&f) + log(STARVES * STARVES);
	for (uint32_t i = 0; i < j->e->count; i++) {
		const struct observation *o = &j->e->of[i];

		for (int end = 0; end < 2 && tells(j, o); end++) {
			struct group *g = &of[j->player[end ? o->to : o->from].group];

			g->runs++;
			g->starved += (double)o->y < hardly;
			if (o->part == PART_LOADED)
				continue;
			g->sum[o->slot % SLOTS] += exp((double)o->y);
			g->n[o->slot % SLOTS]++;
		}
	}
	for (uint32_t i = 0; i < j->groups->names.count; i++) {
		f.n = 0;
		for (int s = 0; s < SLOTS; s++)
			if (of[i].n[s])
				f.of[f.n++] = log(of[i].sum[s] / of[i].n[s]);
		of[i].level = figures_median(&f);
	}
}

/* True if only some of its pairs are low, but more than of the others: one of several uplinks is.
 */
static bool is_low_in_part(const struct judgement *j, const struct group *of, uint32_t group)
{
	size_t runs = 0, starved = 0; /* of the others */

	for (uint32_t i = 0; i < j->groups->names.count; i++) {
		runs += i != group ? of[i].runs : 0;
		starved += i != group ? of[i].starved : 0;
	}
	return judge_tells_groups(j) && of[group].starved > 1 &&
	       chance_more(of[group].starved, of[group].runs, starved, runs) <
		       TEST_RISK / j->groups->names.count;
}

/* MEDIAN: of the levels of all groups, which have such a SPREAD. */
static void add_group(struct judgement *j, const struct group *of, uint32_t group, double median,
		      double spread)
{
	struct statement s = suspect_of(SUSPECT_GROUP, group);
	double least = of[group].level - median;
	bool all = least < fmin(log(1 - DEEP), -SPREADS * spread);

	if (!all && !is_low_in_part(j, of, group))
		return;
	s.about = ABOUT_GROUP;
	s.value = all ? exp(least) : 1 - (double)of[group].starved / of[group].runs;
	s.normal = 1;
	s.of = of[group].runs;
	s.count = all ? s.of : of[group].starved;
	statements_add(j, &s);
}

void judge_groups(struct judgement *j)
{
	uint32_t groups = j->groups->names.count;
	struct group *of = calloc((size_t)groups + 1, sizeof(*of));
	struct figures f = {.of = j->room};
	double median, spread;

	if (!of) {
		json_memory_lacked();
		return;
	}
	if (groups && !j->e->latency && !j->e->incast)
		take_runs(j, of);
	for (uint32_t g = 0; g < groups; g++)
		if (!isnan(of[g].level))
			f.of[f.n++] = of[g].level;
	median = figures_median(&f);
	spread = figures_deviation(&f, median);
	for (uint32_t g = 0; g < groups; g++)
		add_group(j, of, g, median, spread);
	free(of);
}

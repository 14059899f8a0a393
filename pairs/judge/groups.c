// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Groups that are slow with others. By the test: their candidates are low with references of other
 * groups, and not with their own. And all at once, where only a full uplink tells: in each round the
 * pairs of a group with others are held against those of all groups in the same round.
 */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"
#include "proto/json_memory.h"

#define GROUPS_LEAST 4 /* of fewer nobody can say whose uplink it is; by the test, of three */
#define ROUNDS_LEAST 5

struct group {
	uint32_t players, tested, place; /* those of its players that were tested, and are low far away */
	uint32_t rounds, low;            /* rounds, and those in which it is far below the others */
	double sum, below;               /* of a round's logarithms; of all rounds, less the others' */
	double total; /* what it carried in a round */
	uint32_t n;
	uint32_t runs, starved; /* with others, and those that reach hardly anything */
};

/* The median of all groups of what they reach in a round on average, or TOGETHER. */
static double median_of(const struct judgement *j, const struct group *of, bool together, double *room)
{
	struct figures f = {.of = room};

	for (uint32_t g = 0; g < j->groups->names.count; g++)
		if (of[g].n)
			f.of[f.n++] = together ? log(of[g].total) : of[g].sum / of[g].n;
	return f.n < GROUPS_LEAST ? NAN : figures_median(&f);
}

/*
 * Take a round: what each group has less than the middle one, of each pair and together, goes to ALL.
 * Where uplinks are full, one with more pairs has less of each.
 */
static void take_round(const struct judgement *j, struct group *of, struct figures *all)
{
	double pairs = median_of(j, of, false, all->of + all->n);
	double together = median_of(j, of, true, all->of + all->n);

	for (uint32_t g = 0; g < j->groups->names.count; g++) {
		if (of[g].n && !isnan(pairs)) {
			double below = fmax(of[g].sum / of[g].n - pairs, log(of[g].total) - together);

			of[g].rounds++;
			of[g].low += below < log(1 - DEEP);
			of[g].below += below;
			all->of[all->n++] = below;
		}
		of[g].sum = of[g].total = 0;
		of[g].n = 0;
	}
}

static int by_slot(const void *a, const void *b, void *of)
{
	const struct observation *x = (const struct observation *)of + *(const uint32_t *)a;
	const struct observation *y = (const struct observation *)of + *(const uint32_t *)b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

/* What such a player reaches says nothing of its group. */
static bool is_bad(const struct judgement *j, uint32_t player)
{
	uint32_t at = j->candidate_of[player];

	return at != NONE && (j->candidate[at].verdict == VERDICT_SLOW ||
			      j->candidate[at].verdict == VERDICT_TIMES);
}

/* All pairs at once, round by round. */
static void take_rounds(const struct judgement *j, struct group *of, uint32_t *order,
			struct figures *all)
{
	struct figures f = {.of = all->of};
	uint32_t n = 0;
	double middle;

	for (uint32_t i = 0; i < j->e->count; i++) {
		const struct observation *o = &j->e->of[i];

		if (o->part == PART_LOADED && judge_counts(j, o) && j->group[o->from] != NONE &&
		    j->group[o->to] != NONE && judge_is_apart(j, o->from, o->to) &&
		    !is_bad(j, o->from) && !is_bad(j, o->to))
			order[n++] = i;
	}
	for (; f.n < n; f.n++)
		f.of[f.n] = (double)j->e->of[order[f.n]].y;
	middle = figures_median(&f);
	qsort_r(order, n, sizeof(*order), by_slot, j->e->of);
	for (uint32_t i = 0; i < n; i++) {
		const struct observation *o = &j->e->of[order[i]];

		if (i && o->slot != j->e->of[order[i - 1]].slot)
			take_round(j, of, all);
		for (int end = 0; end < 2; end++) {
			struct group *g = &of[j->group[end ? o->to : o->from]];

			g->sum += (double)o->y;
			g->total += exp((double)o->y);
			g->n++;
			g->runs++;
			g->starved += (double)o->y < middle + log(STARVES * STARVES);
		}
	}
	take_round(j, of, all);
}

static void take_candidates(const struct judgement *j, struct group *of)
{
	for (uint32_t i = 0; i < j->players; i++)
		if (j->group[i] != NONE)
			of[j->group[i]].players++;
	for (uint32_t i = 0; i < j->candidates; i++) {
		uint32_t group = j->group[j->candidate[i].player];

		if (group == NONE || j->candidate[i].verdict < VERDICT_GOOD)
			continue;
		of[group].tested++;
		of[group].place += j->candidate[i].verdict == VERDICT_PLACE;
	}
}

/* SPREAD: of what groups have less than others in a round. */
static void add_group(struct judgement *j, uint32_t group, const struct group *of, double spread)
{
	const struct group *g = &of[group];
	size_t runs = 0, starved = 0; /* of the others */
	double below = g->rounds ? g->below / g->rounds : 0;
	bool by_test = g->place > 1 && 2 * g->place >= g->tested && judge_tells_groups(j);
	bool by_load = g->rounds >= ROUNDS_LEAST && below < log(1 - DEEP) &&
		       below < -LOW_SPREADS * spread / sqrt(g->rounds);
	struct suspect s = suspect_of(SUSPECT_GROUP, group);
	bool by_part;

	for (uint32_t i = 0; i < j->groups->names.count; i++) {
		runs += i != group ? of[i].runs : 0;
		starved += i != group ? of[i].starved : 0;
	}
	/* one of several uplinks: only some of its pairs use it */
	by_part = g->starved > 1 && chance_more_than(g->starved, g->runs, starved, runs) <
					    TEST_RISK / j->groups->names.count;
	if (!by_test && !by_load && !(by_part && judge_tells_groups(j)))
		return;
	s.tested = by_test;
	s.value = by_test || by_load ? exp(below) : 1 - (double)g->starved / g->runs;
	s.normal = 1;
	s.partners = by_test ? g->tested : by_load ? g->rounds : g->runs;
	s.bad = by_test ? g->place : by_load ? g->low : g->starved;
	for (uint32_t i = 0; i < j->candidates && by_test; i++) {
		const struct candidate *c = &j->candidate[i];

		if (j->group[c->player] == group && c->verdict == VERDICT_PLACE)
			s.value = fmin(s.value, exp(c->y - c->control));
	}
	suspects_add(&j->suspects, &s);
}

void judge_groups(struct judgement *j)
{
	uint32_t groups = j->groups->names.count;
	struct group *of = calloc((size_t)groups + 1, sizeof(*of));
	uint32_t *order = malloc(((size_t)j->e->count + 1) * sizeof(*order));
	struct figures all = {.of = j->room};
	double spread;

	if (!of || !order) {
		json_memory_lacked();
	} else if (groups) {
		take_candidates(j, of);
		if (!j->e->latency && !j->e->incast)
			take_rounds(j, of, order, &all);
		spread = figures_deviation(&all, figures_median(&all));
		for (uint32_t g = 0; g < groups; g++)
			add_group(j, g, of, spread);
	}
	free(of);
	free(order);
}

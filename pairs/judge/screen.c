// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The screen: who is measured again. It is generous and proves nothing.
 *
 * What a player reaches at best tells most: a network that is shared, noise, hashes and other
 * tenants take from some of its runs, a slow end from all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judgement.h"

/* Who reaches less in WAY than most others: at best, or of a latency in the middle, too. */
static void find_low(struct judgement *j, enum way way, bool middle)
{
	struct figures f = {.of = j->room + j->players}, upper;
	double *standing = j->room, level, margin, reach;

	for (uint32_t i = 0; i < j->players; i++) {
		standing[i] = (double)(middle ? j->player[i].median : j->player[i].best)[way];
		if (!isnan(standing[i]))
			f.of[f.n++] = standing[i];
	}
	if (f.n < 2)
		return;
	level = figures_quantile(&f, TYPICAL);
	reach = figures_quantile(&f, .95);
	upper = (struct figures){f.of + f.n / 2, f.n - f.n / 2};
	margin = fmax(SCREEN_PART * judge_least(j),
		      SPREADS * figures_deviation(&upper, figures_median(&upper)));
	if (j->e->incast) /* that senders share unevenly is no suspicion */
		margin = -log(STARVES);
	for (uint32_t i = 0; i < j->players; i++)
		if (standing[i] - level < -margin)
			j->player[i].depth = fmin(j->player[i].depth, standing[i] - level);
	if (middle)
		return;
	j->level_best[way] = level;
	if (j->e->incast)
		return;
	/* the screen sees what is lower by the margin, and the test what harms */
	j->smallest = fmax(j->smallest, -expm1(-(reach - level + margin + judge_least(j))));
}

/* Who is low, or fails, in more of its runs than the others. */
static void find_at_times(struct judgement *j)
{
	struct figures f = judge_figures(j, 1U << PART_LOADED);
	double floor[2] = {figures_floor(&f, .5)};
	size_t all = 0, low = 0;

	f = judge_figures(j, 1U << PART_SCREEN);
	floor[PART_SCREEN] = figures_floor(&f, .5);
	for (uint32_t i = 0; i < j->e->count; i++)
		if (PARTS_SCREEN >> j->e->of[i].part & 1) {
			all++;
			low += judge_y(j, &j->e->of[i]) < floor[j->e->of[i].part];
		}
	for (uint32_t i = 0; i < j->players; i++) {
		size_t own = 0, own_low = 0;

		for (struct walk w = walk_all(j->e, i, PARTS_SCREEN); walk_next(&w);) {
			own++;
			own_low += judge_y(j, w.is) < floor[w.is->part];
		}
		if (own_low > 1 && !j->player[i].lost &&
		    chance_more(own_low, own, low - own_low, all - own) < LOW_CHANCE)
			j->player[i].depth = fmin(j->player[i].depth, AT_TIMES);
	}
}

/* Figures of PLAYER (NONE: of all) in the first or the LAST third of the loaded rounds. */
static struct figures third_of(const struct judgement *j, uint32_t player, bool last)
{
	uint32_t rounds = j->e->run[0].seen, third = rounds / 3, from = last ? rounds - third : 0;
	bool all = player == NONE;
	struct figures f = {.of = j->room};

	for (uint32_t i = all ? 0 : player; i < (all ? j->players : player + 1); i++)
		for (struct walk w = walk_way(j->e, i, all ? SENDS : WAYS, 1U << PART_LOADED);
		     walk_next(&w);)
			if (judge_counts(j, w.is) && w.is->slot >= from &&
			    w.is->slot < from + third)
				f.of[f.n++] = (double)w.is->y;
	return f;
}

/*
 * Who falls during the rounds: hardly any figure of its last third reaches those of its first, nor
 * what hardly any pair was below at first. Where all fall, this is made up for.
 */
static void find_falls(struct judgement *j)
{
	struct figures first = third_of(j, NONE, false), last;
	double low = figures_quantile(&first, .1), shift = figures_median(&first);

	last = third_of(j, NONE, true);
	shift = fmin(0, figures_median(&last) - shift);
	for (uint32_t i = 0; i < j->players; i++) {
		double before, least, after, most;
		struct player *c = &j->player[i];

		first = third_of(j, i, false);
		before = figures_median(&first);
		least = figures_quantile(&first, .2);
		last = third_of(j, i, true);
		after = figures_median(&last);
		most = figures_quantile(&last, .8);
		if (first.n < FIGURES_LEAST || last.n < FIGURES_LEAST ||
		    !(most - shift < fmin(low, least - LOW_LEAST / 2)) ||
		    !(after - shift < fmin(low, before - LOW_LEAST / 2) - LOW_LEAST / 2))
			continue;
		c->depth = fmin(c->depth, AT_TIMES);
		c->falls = true;
		c->before = before;
		c->after = after;
	}
}

static int by_depth(const void *a, const void *b, void *of)
{
	const uint32_t *x = a, *y = b;
	const struct player *player = of;

	if (player[*x].depth != player[*y].depth)
		return player[*x].depth < player[*y].depth ? -1 : 1;
	return *x < *y ? -1 : 1;
}

/* List them, the worst first. Of few players only these: the others are needed as references. */
static void list_candidates(struct judgement *j)
{
	uint32_t n = 0, most = j->players > FEW_HOSTS ? j->players : j->players > 5 ? 3 : 1;

	for (uint32_t i = 0; i < j->players; i++)
		if (j->player[i].depth < 0)
			j->candidate[n++] = i;
	qsort_r(j->candidate, n, sizeof(*j->candidate), by_depth, j->player);
	j->candidates = n < most ? n : most;
	for (uint32_t i = 0; i < j->candidates; i++)
		j->player[j->candidate[i]].candidate = true;
}

/* The three players with whom each player is best, who are no candidates. */
static void find_near(struct judgement *j)
{
	for (uint32_t i = 0; i < j->players; i++) {
		float best[TEST_NEAR] = {-INFINITY, -INFINITY, -INFINITY};
		uint32_t *near = j->player[i].near;

		memset(near, 0xff, sizeof(j->player[i].near));
		for (struct walk w = walk_all(j->e, i, PARTS_SCREEN); walk_next(&w);) {
			uint32_t at = best[1] < best[0] ? 1 : 0; /* the least of the three */

			at = best[2] < best[at] ? 2 : at;
			if (!judge_counts(j, w.is) || j->player[w.with].candidate ||
			    !judge_tells(j, i, w.with) || w.with == near[0] || w.with == near[1] ||
			    w.with == near[2])
				continue;
			if (w.is->y > best[at]) {
				best[at] = w.is->y;
				near[at] = w.with;
			}
		}
	}
}

bool judge_is_near(const struct judgement *j, uint32_t a, uint32_t b)
{
	if (j->groups->names.count)
		return !judge_is_apart(j, a, b);
	for (int i = 0; i < TEST_NEAR; i++)
		if (j->player[a].near[i] == b || j->player[b].near[i] == a)
			return true;
	return false;
}

void judge_screen(struct judgement *j)
{
	judge_standings(j);
	if (j->players < 3)
		return;
	for (enum way way = SENDS; way < evidence_ways(j->e); way++)
		find_low(j, way, false);
	if (j->e->latency)
		find_low(j, SENDS, true);
	if (!j->e->incast) {
		find_at_times(j);
		if (!j->e->latency)
			find_falls(j);
	}
	list_candidates(j);
	find_near(j);
}

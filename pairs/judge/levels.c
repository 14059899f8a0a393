// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What each player reaches at best and in the middle; and whether that is in two levels. */
#include <math.h>

#include "judgement.h"

struct figures judge_figures(const struct judgement *j, unsigned parts)
{
	struct figures f = {.of = j->room};

	for (uint32_t i = 0; i < j->e->count; i += judge_step(j))
		if (parts >> j->e->of[i].part & 1 && judge_counts(j, &j->e->of[i]))
			f.of[f.n++] = (double)j->e->of[i].y;
	return f;
}

/* Of the figures of each player in each way: with those that tell, if there are such. */
static void find_standings(struct judgement *j)
{
	for (uint32_t i = 0; i < j->players; i++)
		for (enum way way = SENDS; way < evidence_ways(j->e); way++) {
			struct figures f = {.of = j->room};

			for (int tells = 1; tells >= 0 && !f.n; tells--)
				for (struct walk w = walk_way(j->e, i, way, PARTS_SCREEN); walk_next(&w);)
					if (judge_counts(j, w.is) && judge_tells(j, i, w.with) >= tells)
						f.of[f.n++] = (double)w.is->y;
			if (!f.n)
				continue;
			j->player[i].median[way] = (float)figures_median(&f);
			j->player[i].best[way] = (float)f.of[f.n - (f.n >= ORDER_LEAST ? 2 : 1)];
		}
}

/* The best of a player, of both ways; NaN: none. */
static double top_of(const struct judgement *j, uint32_t player)
{
	return fmax((double)j->player[player].best[SENDS], (double)j->player[player].best[RECEIVES]);
}

/* How far the first K of sorted figures are from the others, in deviations by their quartiles. */
static double apart(const struct figures *f, size_t k, double *gap)
{
	const double *side[] = {f->of, f->of + k};
	const size_t n[] = {k, f->n - k};
	double spread = 0;

	for (int i = 0; i < 2; i++)
		spread += pow((side[i][n[i] * 3 / 4] - side[i][n[i] / 4]) / 1.349, 2);
	*gap = side[1][n[1] / 2] - side[0][n[0] / 2];
	return sqrt(2) * *gap / sqrt(fmax(spread, 1e-6));
}

/* True if most pairs of players who are above CUT are so: otherwise these only have good partners.
 */
static bool are_high(const struct judgement *j, double cut)
{
	double *room = j->room + j->players;
	struct figures f = {.of = room};

	for (uint32_t i = 0; i < j->e->count; i++) {
		const struct observation *o = &j->e->of[i];

		if (PARTS_SCREEN >> o->part & 1 && judge_counts(j, o) && top_of(j, o->from) > cut &&
		    top_of(j, o->to) > cut)
			f.of[f.n++] = (double)o->y;
	}
	return figures_median(&f) > cut;
}

/*
 * What players reach; and two levels, if what that is at best is in two sets, of which each is a
 * fifth of them at least. Each is judged within its own from then on.
 */
void judge_standings(struct judgement *j)
{
	struct figures f = {.of = j->room};
	double gap, widest = 0, cut = NAN;
	size_t least;

	find_standings(j);
	for (uint32_t i = 0; i < j->players; i++)
		if (!isnan(top_of(j, i)))
			f.of[f.n++] = top_of(j, i);
	least = (size_t)fmax(2, ceil(LEVEL_SHARE * (double)f.n));
	if (j->e->hosts.count < FEW_HOSTS || f.n < least || j->e->latency || j->e->incast)
		return;
	figures_median(&f); /* sorts them */
	for (size_t k = least; k <= f.n - least; k++) {
		bool two = apart(&f, k, &gap) > LEVEL_APART && gap > SCREEN_PART * judge_least(j);

		if (two && f.of[k] - f.of[k - 1] > widest) {
			widest = f.of[k] - f.of[k - 1];
			cut = (f.of[k - 1] + f.of[k]) / 2;
			j->level = exp(-gap);
		}
	}
	if (isnan(cut) || !are_high(j, cut)) {
		j->level = 0;
		return;
	}
	for (uint32_t i = 0; i < j->players; i++)
		j->player[i].lower = top_of(j, i) < cut;
	judge_kinds(j);
	find_standings(j);
}

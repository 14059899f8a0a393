// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Groups (leaves, racks) of which more pairs with other groups are slow than those of other groups:
 * an uplink is lost or bad. How uneven groups are by chance is taken from the others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judgement.h"
#include "stat/beta.h"
#include "limits.h"

#define GROUPS_JUDGED 512

/* Where slow begins: also at these quantiles of all pairs, so that what many have hides nothing. */
static const double begins[] = LEAF_BEGINS;

#define BEGINS (sizeof(begins) / sizeof(*begins))

/* The pairs of a group with others, either way, or those from one group to another. */
struct leaf {
	double pairs, low;           /* of a group: in either way */
	double sends_low;            /* of those, sent by it */
	double players, low_players; /* of the group, and those with a slow pair */
};

struct leaves {
	struct judgement *j;
	uint32_t groups;
	struct leaf *of, *block; /* BLOCK: FROM * groups + TO */
	double pairs, low;       /* of all */
	bool *has_low;           /* of each player */
	bool *found;             /* groups that were found bad */
};

/* The groups of the ends of the cell I if it tells of two different ones. */
static bool is_crossing(const struct leaves *l, uint32_t i, uint32_t *from, uint32_t *to)
{
	const struct matrix_cell *c = &l->j->m.cell[i];

	*from = l->j->group[c->from];
	*to = l->j->group[c->to];
	return *from != *to && *from != NAMES_NONE && *to != NAMES_NONE &&
	       !isnan(l->j->fit.part[i]);
}

/* Count the pairs that are lower than LIMIT. */
static void count(struct leaves *l, double limit)
{
	const struct matrix *m = &l->j->m;
	uint32_t from, to;

	memset(l->of, 0, l->groups * sizeof(*l->of));
	memset(l->block, 0, (size_t)l->groups * l->groups * sizeof(*l->block));
	memset(l->has_low, 0, m->players);
	l->pairs = l->low = 0;
	for (uint32_t i = 0; i < m->cells; i++) {
		bool low = (double)l->j->fit.part[i] < limit;
		struct leaf *b;

		if (!is_crossing(l, i, &from, &to))
			continue;
		b = &l->block[from * l->groups + to];
		b->pairs++;
		b->low += low;
		l->of[from].pairs++;
		l->of[to].pairs++;
		l->pairs++;
		if (!low)
			continue;
		l->low++;
		l->of[from].low++;
		l->of[from].sends_low++;
		l->of[to].low++;
		l->has_low[m->cell[i].from] = l->has_low[m->cell[i].to] = true;
	}
	for (uint32_t i = 0; i < m->players; i++)
		if (l->j->group[i] != NAMES_NONE) {
			l->of[l->j->group[i]].players++;
			l->of[l->j->group[i]].low_players += l->has_low[i];
		}
}

/* How much more other groups differ, in pairs that are not G's, than chance makes them. */
static double unevenness(const struct leaves *l, uint32_t g)
{
	double sum = 0, n = 0, low = l->low - l->of[g].low, pairs = l->pairs - l->of[g].pairs;

	for (uint32_t i = 0; i < l->groups && low >= LEAF_LEAST; i++) {
		const struct leaf *out = &l->block[i * l->groups + g];
		const struct leaf *in = &l->block[g * l->groups + i];
		double mean = (l->of[i].pairs - out->pairs - in->pairs) / pairs * low;
		double off = l->of[i].low - out->low - in->low - mean;

		if (i == g || !(mean > 0))
			continue;
		sum += off * off / mean;
		n++;
	}
	return n > 1 ? fmax(1, sum / (n - 1)) : 1;
}

/* True if most slow pairs of the group G are with one other group. */
static bool is_one_block(const struct leaves *l, uint32_t g)
{
	double most = 0;

	for (uint32_t i = 0; i < l->groups; i++)
		most = fmax(most,
			    l->block[i * l->groups + g].low + l->block[g * l->groups + i].low);
	return l->groups > 2 && most > LEAF_ONE_BLOCK * l->of[g].low;
}

/* True if more of all slow pairs are the group G's than chance makes. */
static bool is_bad_leaf(const struct leaves *l, uint32_t g)
{
	const struct leaf *of = &l->of[g];
	double share = of->pairs / l->pairs, uneven;

	if (l->groups < LEAF_LEAST || of->low < LEAF_LEAST || !(share < 1) ||
	    of->low < LEAF_EXCESS * share * l->low ||
	    of->low_players < fmax(2, LEAF_PLAYERS * of->players) || is_one_block(l, g))
		return false;
	uneven = unevenness(l, g);
	return beta_incomplete(of->low / uneven, (l->low - of->low) / uneven + 1, share) <
	       FIT_CHANCE / l->groups / (BEGINS + 1);
}

/* True if pairs from one group to another are slow, more than chance makes of the others. */
static bool is_bad_block(const struct leaves *l, uint32_t b)
{
	const struct leaf *of = &l->block[b];
	double others = l->pairs - of->pairs, low = l->low - of->low,
	       share = (low + 1) / (others + 2);

	if (of->low < LEAF_LEAST - 1 || 2 * of->low < of->pairs || !(share < .5))
		return false;
	return beta_incomplete(of->low, of->pairs - of->low + 1, share) <
	       FIT_CHANCE / l->groups / l->groups;
}

/* The figure that a part AT of pairs of two groups is not above. */
static double quantile(const struct leaves *l, double at)
{
	uint32_t from, to;
	size_t n = 0;

	for (uint32_t i = 0; i < l->j->m.cells; i++)
		if (is_crossing(l, i, &from, &to))
			l->j->fit.some[n++] = l->j->fit.part[i];
	return matrix_quantile(l->j->fit.some, n, at);
}

/* True if the cell C goes from FROM, or into TO; NAMES_NONE: into or from any other group. */
static bool is_between(const struct judgement *j, const struct matrix_cell *c, uint32_t from,
		       uint32_t to)
{
	uint32_t a = j->group[c->from], b = j->group[c->to];

	return a != b && a != NAMES_NONE && b != NAMES_NONE && (from == NAMES_NONE || a == from) &&
	       (to == NAMES_NONE || b == to);
}

/* Add the group FROM or TO, or the pair of both, and leave its pairs out of what players reach. */
static int add_group(struct judgement *j, const struct leaf *l, uint32_t from, uint32_t to,
		     bool both)
{
	double normal = j->fit.distance[FIT_GROUPS] + j->fit.kind[0];
	bool pair = from != NAMES_NONE && to != NAMES_NONE;
	size_t n = 0;

	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		if (!is_between(j, c, from, to))
			continue;
		if (!isnan(j->fit.part[i]))
			j->fit.some[n++] = j->fit.part[i];
		j->bad_pair[j->group[c->from] * j->groups->names.count + j->group[c->to]] = true;
	}
	return suspects_add(
		&j->suspects,
		&(struct suspect){.kind = SUSPECT_GROUP,
				  .a = from != NAMES_NONE ? from : to,
				  .b = pair ? to : SUSPECT_NONE,
				  .sends = from != NAMES_NONE,
				  .receives = both || (!pair && to != NAMES_NONE),
				  .value = judge_unit(j, normal + matrix_median(j->fit.some, n)),
				  .normal = judge_unit(j, normal),
				  .partners = (uint32_t)l->pairs,
				  .bad = (uint32_t)l->low,
				  .text = SUSPECT_NONE});
}

/* Pairs of groups that are bad, of which neither group is bad with all others. */
static int find_blocks(struct leaves *l)
{
	for (uint32_t b = 0; b < l->groups * l->groups; b++) {
		uint32_t from = b / l->groups, to = b % l->groups, back = to * l->groups + from;
		bool both;

		if (l->j->bad_pair[b] || !is_bad_block(l, b))
			continue;
		both = is_bad_block(l, back);
		if (add_group(l->j, &l->block[b], from, to, both))
			return -1;
		l->j->bad_pair[back] |= both;
	}
	return 0;
}

static int find_leaves(struct leaves *l)
{
	for (uint32_t g = 0; g < l->groups; g++) {
		double sends = l->of[g].sends_low / fmax(1, l->of[g].low);

		if (l->found[g] || !is_bad_leaf(l, g))
			continue;
		l->found[g] = true;
		if (add_group(l->j, &l->of[g], sends > 1 / 3. ? g : NAMES_NONE,
			      sends > 1 / 3. ? NAMES_NONE : g, sends > 1 / 3. && sends < 2 / 3.))
			return -1;
	}
	return 0;
}

/*
 * True if far more pairs of two groups are slow than within groups, and nothing else was found: of
 * two groups nobody knows whose uplink it is.
 */
static bool is_doubtful(struct leaves *l, double best)
{
	const struct matrix *m = &l->j->m;
	double within = 0, low = 0;

	for (uint32_t i = 0; i < m->cells; i++) {
		uint32_t from = l->j->group[m->cell[i].from];

		if (isnan(l->j->fit.part[i]) || from == NAMES_NONE ||
		    from != l->j->group[m->cell[i].to])
			continue;
		within++;
		low += (double)l->j->fit.part[i] < log(LEAF_DEEP);
	}
	count(l, best + log(LEAF_DEEP));
	for (uint32_t b = 0; b < l->groups * l->groups; b++)
		if (l->j->bad_pair[b])
			return false;
	return l->low >= LEAF_LEAST && l->low < LEAF_DEEP_MOST * l->pairs &&
	       beta_incomplete(l->low, l->pairs - l->low + 1, (low + 1) / (within + 2)) <
		       FIT_CHANCE;
}

static int find_all(struct leaves *l)
{
	double best = quantile(l, LEAF_GOOD), limit = best + log(1 - LEAF_LOW);

	for (size_t i = 0; i <= BEGINS; i++) {
		count(l, i < BEGINS ? fmin(limit, quantile(l, begins[i])) : limit);
		if (find_leaves(l))
			return -1;
	}
	if (find_blocks(l))
		return -1;
	l->j->uplinks_doubtful = is_doubtful(l, best);
	return 0;
}

int leaves_find(struct judgement *j)
{
	uint32_t groups = j->groups->names.count;
	size_t n = (size_t)groups + 1;
	struct leaves l = {.j = j, .groups = groups};
	int failed;

	if (!j->group || groups > GROUPS_JUDGED)
		return 0;
	l.of = calloc(n, sizeof(*l.of));
	l.block = calloc(n * n, sizeof(*l.block));
	l.has_low = calloc((size_t)j->m.players + 1, sizeof(bool));
	l.found = calloc(n, sizeof(bool));
	failed = l.of && l.block && l.has_low && l.found ? find_all(&l) : -1;
	free(l.of);
	free(l.block);
	free(l.has_low);
	free(l.found);
	return failed;
}

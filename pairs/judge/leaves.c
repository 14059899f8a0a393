// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Groups (leaves, racks) of which more pairs with other groups are slow than those of other groups:
 * an uplink is lost or bad. How uneven groups are by chance is taken from the others.
 *
 * And racks that nobody told of: players that are slow with others and fast among themselves are no
 * slow players. They share a way out that is slow, and where that is seen the distance counts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judgement.h"
#include "proto/json_memory.h"
#include "stat/beta.h"
#include "limits.h"

#define GROUPS_JUDGED 512

/* Where slow begins: also at these quantiles of all pairs, so that what many have hides nothing. */
static const double begins[] = LEAF_BEGINS;

#define BEGINS (sizeof(begins) / sizeof(*begins))

/* Pairs, and how many of them are slow. */
struct tally {
	double pairs, low;
};

struct leaf {
	struct tally all, sent; /* of its pairs with other groups */
	bool found;             /* it is bad */
};

struct leaves {
	struct judgement *j;
	uint32_t groups;
	struct tally *block; /* from one group to another: FROM * groups + TO */
	struct leaf *of;     /* of each group */
	struct tally all;
	bool *has_low; /* players that have a slow pair */
};

/* True if the cell C is of two different groups, the BLOCK. */
static bool is_crossing(const struct leaves *l, const struct matrix_cell *c, uint32_t *block)
{
	uint32_t from = l->j->group[c->from], to = l->j->group[c->to];

	*block = from * l->groups + to;
	return from != to && from != NAMES_NONE && to != NAMES_NONE;
}

static void tally(struct tally *to, bool low)
{
	to->pairs++;
	to->low += low;
}

/* Count the pairs that are lower than LIMIT. */
static void count(struct leaves *l, double limit)
{
	const struct matrix *m = &l->j->m;
	uint32_t block;

	memset(l->block, 0, (size_t)l->groups * l->groups * sizeof(*l->block));
	memset(l->has_low, 0, m->players);
	l->all = (struct tally){0};
	for (uint32_t g = 0; g < l->groups; g++)
		l->of[g].all = l->of[g].sent = l->all;
	for (uint32_t i = 0; i < m->cells; i++) {
		const struct matrix_cell *c = &m->cell[i];
		bool low = (double)l->j->fit.part[i] < limit;

		if (isnan(l->j->fit.part[i]) || !is_crossing(l, c, &block))
			continue;
		tally(&l->all, low);
		tally(&l->block[block], low);
		tally(&l->of[block / l->groups].all, low);
		tally(&l->of[block / l->groups].sent, low);
		tally(&l->of[block % l->groups].all, low);
		l->has_low[c->from] |= low;
		l->has_low[c->to] |= low;
	}
}

/* Those of two groups, in both directions. */
static struct tally between(const struct leaves *l, uint32_t a, uint32_t b)
{
	const struct tally *to = &l->block[a * l->groups + b], *back = &l->block[b * l->groups + a];

	return (struct tally){.pairs = to->pairs + back->pairs, .low = to->low + back->low};
}

/* How much more other groups differ, in pairs that are not G's, than chance makes them. */
static double unevenness(const struct leaves *l, uint32_t g)
{
	double low = l->all.low - l->of[g].all.low, pairs = l->all.pairs - l->of[g].all.pairs;
	double sum = 0, n = 0;

	for (uint32_t i = 0; i < l->groups && low >= LEAF_LEAST; i++) {
		const struct tally *of = &l->of[i].all, with = between(l, i, g);
		double mean = (of->pairs - with.pairs) / pairs * low;
		double off = of->low - with.low - mean;

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
		most = fmax(most, between(l, g, i).low);
	return l->groups > 2 && most > LEAF_ONE_BLOCK * l->of[g].all.low;
}

/* True if a group has slow pairs because of one of its players. */
static bool is_one_player(const struct leaves *l, uint32_t g)
{
	uint32_t players = 0, low = 0;

	for (uint32_t i = 0; i < l->j->m.players; i++)
		if (l->j->group[i] == g) {
			players++;
			low += l->has_low[i];
		}
	return low < fmax(2, LEAF_PLAYERS * players);
}

/* True if more of all slow pairs are the group G's than chance makes. */
static bool is_bad_leaf(const struct leaves *l, uint32_t g)
{
	const struct tally *of = &l->of[g].all;
	double share = of->pairs / l->all.pairs, uneven;

	if (l->groups < LEAF_LEAST || of->low < LEAF_LEAST || !(share < 1) || is_one_player(l, g) ||
	    is_one_block(l, g))
		return false;
	uneven = unevenness(l, g);
	return beta_incomplete(of->low / uneven, (l->all.low - of->low) / uneven + 1, share) <
	       FIT_CHANCE / l->groups / (BEGINS + 1);
}

/* True if pairs from one group to another are slow, more than chance makes of the others. */
static bool is_bad_block(const struct leaves *l, uint32_t b)
{
	const struct tally *of = &l->block[b];
	double others = l->all.pairs - of->pairs, low = l->all.low - of->low,
	       share = (low + 1) / (others + 2);

	if (of->low < LEAF_LEAST - 1 || 2 * of->low < of->pairs || !(share < .5))
		return false;
	return beta_incomplete(of->low, of->pairs - of->low + 1, share) <
	       FIT_CHANCE / l->groups / l->groups;
}

/* The figure that a part AT of pairs of two groups is not above. */
static double quantile(const struct leaves *l, double at)
{
	uint32_t block;
	size_t n = 0;

	for (uint32_t i = 0; i < l->j->m.cells; i++)
		if (!isnan(l->j->fit.part[i]) && is_crossing(l, &l->j->m.cell[i], &block))
			l->j->fit.some[n++] = l->j->fit.part[i];
	return matrix_quantile(l->j->fit.some, n, at);
}

/*
 * Add the group FROM or TO, or the pair of both, and leave its pairs out of what players reach.
 * NAMES_NONE: into, or from, any other group.
 */
static void add_group(struct leaves *l, const struct tally *of, uint32_t from, uint32_t to,
		      bool both)
{
	struct judgement *j = l->j;
	struct suspect s = suspect_of(SUSPECT_GROUP, from != NAMES_NONE ? from : to);
	double normal = j->fit.distance[FIT_GROUPS] + j->fit.kind[0];
	bool pair = from != NAMES_NONE && to != NAMES_NONE;
	uint32_t block;
	size_t n = 0;

	for (uint32_t i = 0; i < j->m.cells; i++) {
		if (!is_crossing(l, &j->m.cell[i], &block) ||
		    (from != NAMES_NONE && block / l->groups != from) ||
		    (to != NAMES_NONE && block % l->groups != to))
			continue;
		if (!isnan(j->fit.part[i]))
			j->fit.some[n++] = j->fit.part[i];
		j->fit.bad_pair[block] = true;
	}
	s.b = pair ? to : SUSPECT_NONE;
	s.sends = from != NAMES_NONE;
	s.receives = both || (!pair && to != NAMES_NONE);
	s.value = judge_unit(j, normal + matrix_median(j->fit.some, n));
	s.normal = judge_unit(j, normal);
	s.partners = (uint32_t)of->pairs;
	s.bad = (uint32_t)of->low;
	suspects_add(&j->suspects, &s);
}

/* Pairs of groups that are bad, of which neither group is bad with all others. */
static void find_blocks(struct leaves *l)
{
	for (uint32_t b = 0; b < l->groups * l->groups; b++) {
		uint32_t from = b / l->groups, to = b % l->groups, back = to * l->groups + from;
		bool both;

		if (l->j->fit.bad_pair[b] || !is_bad_block(l, b))
			continue;
		both = is_bad_block(l, back);
		add_group(l, &l->block[b], from, to, both);
		l->j->fit.bad_pair[back] |= both;
	}
}

static void find_leaves(struct leaves *l)
{
	for (uint32_t g = 0; g < l->groups; g++) {
		struct leaf *of = &l->of[g];
		double sent = of->sent.low / fmax(1, of->all.low);
		bool out = sent > 1 / 3., in = sent < 2 / 3.;

		if (of->found || !is_bad_leaf(l, g))
			continue;
		of->found = true;
		add_group(l, &of->all, out ? g : NAMES_NONE, out ? NAMES_NONE : g, out && in);
	}
}

/*
 * True if far more pairs of two groups are slow than within groups, and nothing else was found: of
 * two groups nobody knows whose uplink it is.
 */
static bool is_doubtful(struct leaves *l, double best)
{
	const struct matrix *m = &l->j->m;
	struct tally within = {0};
	uint32_t block;

	for (uint32_t b = 0; b < l->groups * l->groups; b++)
		if (l->j->fit.bad_pair[b])
			return false;
	for (uint32_t i = 0; i < m->cells; i++)
		if (!isnan(l->j->fit.part[i]) && !is_crossing(l, &m->cell[i], &block))
			tally(&within, (double)l->j->fit.part[i] < log(LEAF_DEEP));
	count(l, best + log(LEAF_DEEP));
	return l->all.low >= LEAF_LEAST && l->all.low < LEAF_DEEP_MOST * l->all.pairs &&
	       beta_incomplete(l->all.low, l->all.pairs - l->all.low + 1,
			       (within.low + 1) / (within.pairs + 2)) < FIT_CHANCE;
}

static void find_all(struct leaves *l)
{
	double best = quantile(l, LEAF_GOOD), limit = best + log(1 - LEAF_LOW);

	for (size_t i = 0; i <= BEGINS; i++) {
		count(l, i < BEGINS ? fmin(limit, quantile(l, begins[i])) : limit);
		find_leaves(l);
	}
	find_blocks(l);
	l->j->uplinks_doubtful = is_doubtful(l, best);
}

void leaves_find(struct judgement *j)
{
	uint32_t groups = j->groups->names.count;
	size_t n = (size_t)groups + 1;
	struct leaves l = {.j = j, .groups = groups, .has_low = j->fit.mark[0]};

	if (!j->group || groups > GROUPS_JUDGED)
		return;
	l.block = calloc(n * n, sizeof(*l.block));
	l.of = calloc(n, sizeof(*l.of));
	if (l.block && l.of)
		find_all(&l);
	else
		json_memory_lacked();
	free(l.block);
	free(l.of);
}

/* True if most of its figures are low: what a player is that is slow because of a rack. */
static bool is_slow(const struct fit *f, uint32_t i)
{
	const struct fit_player *p = &f->of[i];

	return p->way[FIT_SENDS].slow || p->way[FIT_RECEIVES].slow ||
	       (p->way[FIT_WORSE].slow && 2 * p->way[FIT_WORSE].low > p->way[FIT_WORSE].figures);
}

/* What player I reaches: the lowest of what is known. */
static double level_of(const struct fit *f, uint32_t i)
{
	double level = 0;

	for (enum fit_way way = 0; way < FIT_WAYS; way++)
		if (f->of[i].way[way].slow)
			level = fmin(level, (double)f->of[i].way[way].effect);
	return level;
}

/* True if player I, which is slow, is fast with LOW, the other slow ones, and not with others. */
static bool is_of_rack(const struct fit *f, uint32_t i, const bool *low)
{
	uint32_t all[2] = {0}, fast[2] = {0}; /* figures with good ones, and with slow ones */

	for (const struct meeting *t = meetings_of(&f->slots, i); t < meetings_end(&f->slots, i);
	     t++) {
		double limit = fmin(level_of(f, i), low[t->with] ? level_of(f, t->with) : 0) / 2;
		double part = (double)fit_part(f, t, FIT_WORSE);

		if (f->lost[t->with] || f->rack[t->with] != f->rack[i] || isnan(part))
			continue;
		all[low[t->with]]++;
		fast[low[t->with]] += part > limit;
	}
	return fast[1] && fast[1] >= RACK_FAST_WITHIN * all[1] && fast[0] <= RACK_FAST_OUT * all[0];
}

/* Find rack NUMBER. Returns false if there is none. */
static bool find_rack(struct fit *f, uint32_t number)
{
	bool *low = f->mark[0], *member = f->mark[1];
	uint32_t members = 0, players = f->m->players;

	for (uint32_t i = 0; i < players; i++)
		low[i] = is_slow(f, i);
	for (uint32_t i = 0; i < players; i++) {
		member[i] = low[i] && !f->rack[i] && is_of_rack(f, i, low);
		members += member[i];
	}
	for (uint32_t i = 0; i < players && members > 1; i++)
		f->rack[i] = member[i] ? number : f->rack[i];
	return members > 1;
}

/* True if player I is slow with a player of a rack, too, more than the distance makes it. */
static bool slow_with_rack(const struct fit *f, uint32_t i)
{
	const struct meeting *t = meetings_of(&f->slots, i), *end = meetings_end(&f->slots, i);

	while (t < end &&
	       !(f->rack[t->with] && (double)fit_part(f, t, FIT_WORSE) < level_of(f, i) / 2))
		t++;
	return t < end;
}

/* Slow players that may be in a rack: they reach what it does, and are not slow with it. */
static void find_doubtful(struct fit *f)
{
	for (uint32_t i = 0; i < f->m->players; i++)
		f->of[i].doubtful =
			f->racks && is_slow(f, i) && !f->rack[i] &&
			fabs(level_of(f, i) - f->distance[FIT_RACKS]) < RACK_SAME_LEVEL &&
			!slow_with_rack(f, i);
}

void racks_find(struct fit *f)
{
	while (f->racks < RACK_ROUNDS && find_rack(f, f->racks + 1)) {
		f->racks++;
		fit_again(f);
	}
	find_doubtful(f);
}

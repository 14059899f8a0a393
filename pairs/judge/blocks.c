// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pairs of groups that are slow: all cells from one to another are a block. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judgement.h"

#define CELLS_LEAST 3  /* of a block that is judged */
#define GOOD_PART   .8 /* of the blocks between groups; those below may be slow */
#define SURE        5. /* a block's median is low if it is by this many of its MADs */

struct block {
	uint32_t from, to, cells;
	double median, alone; /* of X; NaN: none */
	bool slow;
};

/* A cell of two groups. */
struct member {
	uint32_t block; /* from * groups + to */
	float x, alone;
};

struct blocks {
	struct block *of;
	uint32_t count;
	double noise; /* of cells, as a part of the normal one */
};

static int by_block(const void *a, const void *b)
{
	uint32_t x = ((const struct member *)a)->block, y = ((const struct member *)b)->block;

	return (x > y) - (x < y);
}

/* Collect the cells whose players are in groups and good, as far as that is known. */
static uint32_t collect(const struct judgement *j, struct member *all)
{
	uint32_t n = 0, groups = j->groups->names.count;

	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];
		uint32_t from = j->group[c->from], to = j->group[c->to];
		const struct level *l = &j->level;

		if (from == NAMES_NONE || to == NAMES_NONE || isnan(j->plain[i]))
			continue;
		if (l->of[MATRIX_SEND] &&
		    (l->of[MATRIX_SEND][c->from].slow || l->of[MATRIX_RECEIVE][c->to].slow))
			continue;
		all[n++] = (struct member){.block = from * groups + to,
					   .x = j->plain[i],
					   .alone = c->alone / (float)judge_speed(j, c->from)};
	}
	qsort(all, n, sizeof(*all), by_block);
	return n;
}

/* Make a block of COUNT cells that belong to it. */
static struct block make_block(const struct judgement *j, const struct member *of, uint32_t count)
{
	float *some = j->some;
	uint32_t groups = j->groups->names.count, alone = 0;
	struct block b = {.from = of->block / groups, .to = of->block % groups, .cells = count};

	for (uint32_t i = 0; i < count; i++)
		some[i] = of[i].x;
	b.median = matrix_median(some, count);
	for (uint32_t i = 0; i < count && !j->body->latency; i++)
		if (!isnan(of[i].alone))
			some[alone++] = of[i].alone;
	b.alone = matrix_median(some, alone);
	return b;
}

/* The noise within blocks: the median of the MADs of those that have enough cells. */
static double noise_of(const struct member *all, uint32_t n, double median, float *some)
{
	for (uint32_t i = 0; i < n; i++)
		some[i] = fabsf(all[i].x / (float)median - 1);
	return matrix_median(some, n);
}

static int make_blocks(const struct judgement *j, struct blocks *b)
{
	size_t room = (size_t)j->m.cells + 1;
	struct member *all = malloc(room * sizeof(*all));
	float *mads = malloc(room * sizeof(*mads));
	uint32_t n, count, mads_n = 0;

	b->of = malloc(room * sizeof(*b->of));
	n = all && mads && b->of ? collect(j, all) : 0;
	for (uint32_t i = 0; i < n; i += count) {
		for (count = 1; i + count < n && all[i + count].block == all[i].block;)
			count++;
		if (count < CELLS_LEAST)
			continue;
		b->of[b->count] = make_block(j, &all[i], count);
		mads[mads_n++] = (float)noise_of(&all[i], count, b->of[b->count++].median, j->some);
	}
	b->noise = mads_n ? matrix_median(mads, mads_n) : 0;
	free(all);
	free(mads);
	return all && mads && b->of ? 0 : -1;
}

/* What a block within a group reaches, or between groups. */
static double normal_block(const struct blocks *b, bool within, float *some)
{
	size_t n = 0;

	for (uint32_t i = 0; i < b->count; i++)
		if ((b->of[i].from == b->of[i].to) == within)
			some[n++] = (float)b->of[i].median;
	if (within)
		return matrix_median(some, n);
	/*
	 * A median of all would do if few could be slow; but one group of four whose uplinks are
	 * slow in both directions has half of the blocks between groups. With two groups nothing
	 * but what is within them is left to compare with.
	 */
	return n > 2 ? matrix_quantile(some, n, GOOD_PART) : normal_block(b, true, some);
}

static int by_ends(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static const struct block *find_block(const struct blocks *b, uint32_t from, uint32_t to)
{
	struct block key = {.from = from, .to = to};

	return b->count ? bsearch(&key, b->of, b->count, sizeof(*b->of), by_ends) : NULL;
}

/* True if nothing is known against the group itself. */
static bool is_good_within(const struct blocks *b, uint32_t group, double normal)
{
	const struct block *own = find_block(b, group, group);

	return !own || !(own->median < JUDGEMENT_GROUP * normal);
}

static void find_slow(struct blocks *b, double within, double between)
{
	for (uint32_t i = 0; i < b->count; i++) {
		struct block *of = &b->of[i];
		double own = SURE * b->noise * 1.2533 / sqrt(of->cells);
		double limit = fmin(JUDGEMENT_GROUP, 1 - own);

		of->slow = of->from != of->to && of->median < limit * between &&
			   is_good_within(b, of->from, within) && is_good_within(b, of->to, within);
	}
}

/* Take the cells of slow blocks out of what the nodes are judged by. */
static void take_out(struct judgement *j, const struct blocks *b)
{
	uint32_t groups = j->groups->names.count;
	bool *slow = calloc((size_t)groups * groups, sizeof(*slow));

	for (uint32_t i = 0; i < b->count && slow; i++)
		slow[(size_t)b->of[i].from * groups + b->of[i].to] = b->of[i].slow;
	for (uint32_t i = 0; i < j->m.cells && slow; i++) {
		uint32_t from = j->group[j->m.cell[i].from], to = j->group[j->m.cell[i].to];
		bool out =
			from != NAMES_NONE && to != NAMES_NONE && slow[(size_t)from * groups + to];

		j->x[i] = out ? NAN : j->plain[i];
	}
	free(slow);
}

static enum suspect_proof prove(const struct judgement *j, const struct block *b, double normal)
{
	if (!j->any_loaded)
		return SUSPECT_CONFIRMED;
	if (isnan(b->alone))
		return SUSPECT_ONCE;
	return b->alone < JUDGEMENT_GROUP * normal ? SUSPECT_CONFIRMED : SUSPECT_LOAD;
}

static int add_slow(struct judgement *j, const struct blocks *b, double normal)
{
	double unit = j->body->latency ? NAN : 1;

	for (uint32_t i = 0; i < b->count; i++) {
		const struct block *of = &b->of[i], *back = find_block(b, of->to, of->from);
		bool both = back && back->slow;

		if (!of->slow || (both && of->from > of->to))
			continue;
		if (suspects_add(&j->suspects, &(struct suspect){.kind = SUSPECT_GROUP,
								 .proof = prove(j, of, normal),
								 .sends = true,
								 .receives = both,
								 .a = of->from,
								 .b = of->to,
								 .value = of->median * unit,
								 .normal = normal * unit,
								 .partners = of->cells,
								 .bad = of->cells,
								 .text = SUSPECT_NONE}))
			return -1;
	}
	return 0;
}

int judge_groups(struct judgement *j, bool last)
{
	struct blocks b = {0};
	double between;
	int failed = 0;

	if (!j->group)
		return 0;
	if (make_blocks(j, &b)) {
		free(b.of);
		return -1;
	}
	between = normal_block(&b, false, j->some);
	find_slow(&b, normal_block(&b, true, j->some), between);
	if (last)
		failed = add_slow(j, &b, between);
	else
		take_out(j, &b);
	free(b.of);
	return failed;
}

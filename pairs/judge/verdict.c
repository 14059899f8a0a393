// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The verdict on each candidate that was tested: its figures with references against those of the
 * controls, which the same network, noise and hours have made. Of a latency, which grows with the
 * distance, near and far ones are compared after what the controls have of each is taken away.
 */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"

#define RANKS_LEAST 6 /* partners on both sides, before their medians are compared by ranks */
#define LEAST       3 /* figures before anything is said */

/* Figures, and the medians of each pair's. */
struct bench {
	struct figures of, pair;
};

struct sample {
	uint64_t pair;
	double y;
};

struct work {
	struct judgement *j;
	double distance[2]; /* what controls that are far (0) or near (1) have, of a latency */
	struct sample *sample;
	size_t samples;
	double *room, *free; /* for twice the figures of a bench and of the controls */
	struct bench controls;
};

static int by_pair(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return (x->y > y->y) - (x->y < y->y);
}

/* What O tells, without its distance; NaN: nothing. */
static double figure_of(const struct work *w, const struct observation *o)
{
	double y = judge_y(w->j, o);

	return y > FAILED ? y - w->distance[judge_is_near(w->j, o->from, o->to)] : y;
}

static void put(struct work *w, const struct observation *o)
{
	double y = figure_of(w, o);

	if (!isnan(y))
		w->sample[w->samples++] = (struct sample){(uint64_t)o->from << 32 | o->to, y};
}

/* Make a bench of the samples, which are used up. */
static struct bench make_bench(struct work *w)
{
	struct bench b = {{w->free, w->samples}, {w->free + w->samples, 0}};

	if (w->samples)
		qsort(w->sample, w->samples, sizeof(*w->sample), by_pair);
	for (size_t i = 0, end; i < w->samples; i = end) {
		for (end = i; end < w->samples && w->sample[end].pair == w->sample[i].pair; end++)
			b.of.of[end] = w->sample[end].y;
		b.pair.of[b.pair.n++] =
			(w->sample[(i + end - 1) / 2].y + w->sample[(i + end) / 2].y) / 2;
	}
	w->free = b.pair.of + b.pair.n;
	w->samples = 0;
	return b;
}

static bool is_control(const struct judgement *j, const struct observation *o)
{
	return o->part == PART_CONTROL && j->player[o->from].candidate == NONE &&
	       j->player[o->to].candidate == NONE;
}

/* What far and near controls have in the middle, if there are enough of both. */
static void find_distances(struct work *w)
{
	const struct judgement *j = w->j;
	double median[2];

	for (int near = 0; near < 2 && j->e->latency; near++) {
		struct figures f = {w->room, 0};

		for (const struct observation *o = j->e->of; o < j->e->of + j->e->count; o++)
			if (is_control(j, o) && judge_y(j, o) > FAILED &&
			    judge_is_near(j, o->from, o->to) == near)
				f.of[f.n++] = judge_y(j, o);
		median[near] = figures_median(&f);
		if (f.n < RANKS_LEAST)
			return;
	}
	if (j->e->latency) {
		w->distance[0] = median[0];
		w->distance[1] = median[1];
	}
}

static void collect_controls(struct work *w)
{
	const struct judgement *j = w->j;

	w->free = w->room;
	for (const struct observation *o = j->e->of; o < j->e->of + j->e->count; o++)
		if (is_control(j, o))
			put(w, o);
	w->controls = make_bench(w);
}

/* What C reached in WAY with references: with those that tell, if there are such. */
static struct bench collect(struct work *w, struct candidate *c, enum way way)
{
	const struct judgement *j = w->j;
	uint32_t tests = 0;

	for (int tells = 1; tells >= 0 && !w->samples; tells--) {
		struct walk k = walk_way(j->e, c->player, way, 1U << PART_TEST);

		for (tests = 0; walk_next(&k);) {
			if (j->player[k.with].candidate != NONE)
				continue;
			tests++;
			if (judge_tells(j, c->player, k.with) >= tells)
				put(w, k.is);
		}
	}
	c->tests += way == SENDS || j->e->one_way ? tests : 0; /* otherwise each is both ways */
	return make_bench(w);
}

/* The part of X that reaches what the median CONTROL has, but for half of what harms. */
static double reaches(const struct judgement *j, const struct figures *x, double control)
{
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++)
		n += x->of[i] > control - judge_least(j) / 2;
	return (double)n / (double)x->n;
}

/* The medians of PAIR, without those of pairs that always failed, as long as others are left. */
static struct figures that_ran(const struct figures *pair)
{
	struct figures f = *pair;

	for (figures_median(&f); f.n > 1 && f.of[0] == FAILED; f.n--) /* which sorts them */
		f.of++;
	return f;
}

/* The chance that the pairs of X are so low among the CONTROLS. */
static double chance_of(const struct bench *x, const struct bench *controls)
{
	struct figures pairs, others;

	if (x->pair.n >= RANKS_LEAST && controls->pair.n >= RANKS_LEAST)
		return ranks_chance(&x->pair, &controls->pair);
	pairs = that_ran(&x->pair);
	others = that_ran(&controls->pair);
	return ranks_few(&pairs, &others, TEST_PAIR_SPREAD);
}

/* The verdict on X, one direction of C. */
static enum verdict judge_way(const struct work *w, struct candidate *c, const struct bench *x)
{
	const struct judgement *j = w->j;
	const struct figures *controls = &w->controls.of;
	double risk = TEST_RISK / (double)(j->players * evidence_ways(j->e));

	if (x->of.n < LEAST || controls->n < LEAST)
		return VERDICT_OPEN;
	c->y = figures_median(&x->of);
	c->control = figures_median(controls);
	if (!(c->y < c->control - judge_least(j)))
		return VERDICT_GOOD;
	return reaches(j, &x->of, c->control) <= TEST_REACHES && chance_of(x, &w->controls) < risk
		       ? VERDICT_SLOW
		       : VERDICT_UNCLEAR;
}

static size_t count_below(const struct figures *f, double limit)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += f->of[i] < limit;
	return n;
}

/* Whether more of C's runs are low, or fail, than of the controls; X: those of each way. */
static enum verdict judge_times(struct work *w, struct candidate *c, const struct bench *x)
{
	const struct figures *controls = &w->controls.of;
	struct figures copy = {w->free, controls->n};
	double floor, chance;

	for (size_t i = 0; i < controls->n; i++)
		copy.of[i] = controls->of[i];
	/* of a latency how far the references are differs, and says nothing of the player */
	floor = w->j->e->latency ? FAILED + .5 : figures_floor(&copy, .25);
	for (enum way way = SENDS; way < evidence_ways(w->j->e); way++) {
		c->figures += (uint32_t)x[way].of.n;
		c->low += (uint32_t)count_below(&x[way].of, floor);
		c->failed += (uint32_t)count_below(&x[way].of, FAILED + .5);
	}
	chance = c->low ? chance_more_than(c->low, c->figures, count_below(controls, floor),
					   controls->n)
			: 1;
	if (c->low > 1 && c->figures >= LEAST && chance < TEST_RISK / w->j->players)
		return VERDICT_TIMES;
	return chance < TEST_DOUBT / w->j->candidates ? VERDICT_UNCLEAR : VERDICT_OPEN;
}

static void judge_candidate(struct work *w, struct candidate *c)
{
	struct bench x[WAYS] = {0};
	double *free = w->free;
	enum verdict times;

	for (enum way way = SENDS; way < evidence_ways(w->j->e); way++) {
		struct candidate of_way = {.verdict = VERDICT_OPEN};

		x[way] = collect(w, c, way);
		of_way.verdict = judge_way(w, &of_way, &x[way]);
		*(way == SENDS ? &c->sends : &c->receives) =
			of_way.verdict >= VERDICT_PLACE || w->j->e->latency;
		if (way != SENDS && of_way.verdict <= c->verdict)
			continue;
		c->verdict = of_way.verdict;
		c->y = of_way.y;
		c->control = of_way.control;
	}
	times = judge_times(w, c, x);
	if (times > c->verdict && c->verdict < VERDICT_UNCLEAR)
		c->verdict = times;
	w->free = free;
	if (c->verdict == VERDICT_OPEN && c->tests) /* its threads lacked their CPUs */
		c->verdict = VERDICT_UNCLEAR;
}

/* Whether the candidates A and B, who are low with references, are as good with each other as near
 * controls are. */
static bool are_good_together(const struct work *w, uint32_t a, uint32_t b, uint32_t *met)
{
	struct figures f = {w->free, 0};
	double control = figures_median(&w->controls.of) + w->distance[1];
	double least = judge_least(w->j);

	for (struct walk k = walk_all(w->j->e, a, 1U << PART_TEST); walk_next(&k);)
		if (k.with == b && !isnan(judge_y(w->j, k.is)))
			f.of[f.n++] = judge_y(w->j, k.is);
	*met = (uint32_t)f.n;
	return f.n && figures_median(&f) > control - least / 2 &&
	       f.of[0] > control - fmax(LOW_LEAST, 2 * least);
}

/* Who is low with references and good with other candidates shares a place with them. */
static void find_places(struct work *w)
{
	struct judgement *j = w->j;

	for (uint32_t i = 0; i < j->candidates; i++)
		for (uint32_t k = 0; k < j->candidates; k++) {
			struct candidate *a = &j->candidate[i];
			bool together;
			uint32_t met;

			if (j->player[a->player].host ==
				    j->player[j->candidate[k].player].host ||
			    a->verdict < VERDICT_PLACE)
				continue;
			together = are_good_together(w, a->player, j->candidate[k].player, &met);
			if (together && j->candidate[k].verdict >= VERDICT_PLACE)
				a->verdict = VERDICT_PLACE;
			a->met += met > 0;
			/* who is as good as a good one is not drained */
			a->unmet += met ? together : judge_may_share(j, a, &j->candidate[k]);
		}
}

int judge_verdicts(struct judgement *j)
{
	struct work w = {.j = j};
	size_t figures = 0;

	for (uint32_t i = 0; i < j->e->count; i++)
		figures += PARTS_TEST >> j->e->of[i].part & 1;
	j->tests = (uint32_t)figures;
	if (!figures)
		return 0;
	w.sample = malloc(figures * sizeof(*w.sample));
	w.room = malloc(6 * figures * sizeof(*w.room));
	if (w.sample && w.room) {
		find_distances(&w);
		collect_controls(&w);
		for (uint32_t i = 0; i < j->candidates; i++)
			judge_candidate(&w, &j->candidate[i]);
		find_places(&w);
	}
	free(w.sample);
	free(w.room);
	return w.sample && w.room ? 0 : -1;
}

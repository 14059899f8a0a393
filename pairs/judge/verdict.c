// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The verdict on each candidate that was tested: its figures with references against those of the
 * controls, which the same network, noise and hours have made. Near and far partners are strata of
 * their own: who is low only with far ones has a place that is, and is not slow.
 */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"

#define RANKS_LEAST 6 /* partners on both sides, before their medians are compared by ranks */
#define LEAST       3 /* figures before anything is said */

enum stratum {
	NEAR,
	FAR,
	STRATA
};

/* Figures of each stratum, and the medians of each of its pairs. */
struct bench {
	struct figures of[STRATA], pair[STRATA];
};

struct sample {
	enum stratum stratum;
	uint64_t pair;
	double y;
};

struct work {
	struct judgement *j;
	bool one_stratum; /* too few controls to tell near ones from far ones */
	struct sample *sample;
	size_t samples;
	double *room, *free; /* for twice the figures of a bench and of the controls */
	struct bench controls;
};

static int by_pair(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->stratum != y->stratum)
		return x->stratum < y->stratum ? -1 : 1;
	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return (x->y > y->y) - (x->y < y->y);
}

static void put(struct work *w, const struct observation *o)
{
	double y = judge_y(w->j, o);
	bool near = !w->one_stratum && judge_is_near(w->j, o->from, o->to);

	if (!isnan(y))
		w->sample[w->samples++] =
			(struct sample){near ? NEAR : FAR, (uint64_t)o->from << 32 | o->to, y};
}

/* Make a bench of the samples, which are used up. */
static struct bench make_bench(struct work *w)
{
	size_t n = w->samples, i = 0;
	struct bench b;

	if (n)
		qsort(w->sample, n, sizeof(*w->sample), by_pair);
	for (enum stratum s = NEAR; s < STRATA; s++) {
		struct figures *of = &b.of[s], *pair = &b.pair[s];
		size_t first = i, end;

		*of = (struct figures){w->free, 0};
		for (; i < n && w->sample[i].stratum == s; i++)
			of->of[of->n++] = w->sample[i].y;
		*pair = (struct figures){w->free + of->n, 0};
		for (size_t k = first; k < i; k = end) {
			for (end = k; end < i && w->sample[end].pair == w->sample[k].pair;)
				end++;
			pair->of[pair->n++] =
				(w->sample[(k + end - 1) / 2].y + w->sample[(k + end) / 2].y) / 2;
		}
		w->free = pair->of + pair->n;
	}
	w->samples = 0;
	return b;
}

static void collect_controls(struct work *w)
{
	const struct judgement *j = w->j;

	w->free = w->room;
	for (const struct observation *o = j->e->of; o < j->e->of + j->e->count; o++)
		if (o->part == PART_CONTROL && j->candidate_of[o->from] == NONE &&
		    j->candidate_of[o->to] == NONE)
			put(w, o);
	w->controls = make_bench(w);
}

/* What C reached in WAY with references: with those that tell, if there are two. */
static struct bench collect(struct work *w, struct candidate *c, enum way way)
{
	const struct judgement *j = w->j;
	struct walk k = walk_way(j->e, c->player, way, 1U << PART_TEST);
	bool told = judge_has_peers(j, k);

	while (walk_next(&k)) {
		if (j->candidate_of[k.with] != NONE)
			continue;
		c->tests += way == SENDS || j->e->one_way; /* otherwise each is both ways */
		if (!told || judge_tells(j, c->player, k.with))
			put(w, k.is);
	}
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

/* The chance that the pairs of X are so low among the CONTROLS, of the strata that are USED. */
static double chance_of(const struct bench *x, const struct bench *controls, const bool *used)
{
	struct ranks ranks = {0};
	struct figures pairs, others;
	size_t n = 0, m = 0, few = FAR;

	for (size_t s = NEAR; s < STRATA; s++)
		if (used[s]) {
			ranks_add(&ranks, &x->pair[s], &controls->pair[s]);
			n += x->pair[s].n;
			m += controls->pair[s].n;
			few = s;
		}
	if (n >= RANKS_LEAST && m >= RANKS_LEAST)
		return ranks_chance(&ranks);
	pairs = that_ran(&x->pair[few]);
	others = that_ran(&controls->pair[few]);
	return ranks_few(&pairs, &others, TEST_PAIR_SPREAD);
}

/* The verdict on X, one direction of C. */
static enum verdict judge_way(struct work *w, struct candidate *c, const struct bench *x)
{
	const struct judgement *j = w->j;
	double risk = TEST_RISK / (double)(j->players * evidence_ways(j->e)), worst = 0;
	bool low[STRATA] = {false}, maybe = false;
	uint32_t strata = 0, strata_low = 0;

	for (enum stratum s = NEAR; s < STRATA; s++) {
		const struct figures *of = &x->of[s], *controls = &w->controls.of[s];
		double is = figures_median(of), control = figures_median(controls);

		if (of->n < LEAST || controls->n < LEAST)
			continue;
		low[s] = is < control - judge_least(j) && reaches(j, of, control) <= TEST_REACHES;
		strata_low += low[s];
		/* near ones that nobody named may be no nearer than others */
		maybe |= is < control - judge_least(j) && (s == FAR || j->groups->names.count > 0);
		if (!strata++ || is - control < worst) {
			worst = is - control;
			c->y = is;
			c->control = control;
		}
	}
	if (strata_low && chance_of(x, &w->controls, low) < risk)
		return strata_low == strata ? VERDICT_SLOW
		       : low[FAR]           ? VERDICT_PLACE
		       : j->groups->names.count > 0
			       ? VERDICT_SLOW /* others are limited farther on */
			       : VERDICT_UNCLEAR;
	return maybe ? VERDICT_UNCLEAR : strata ? VERDICT_GOOD : VERDICT_OPEN;
}

/* Whether more of C's runs are low, or fail, than of the controls; X: those of each way. */
static enum verdict judge_times(struct work *w, struct candidate *c, const struct bench *x)
{
	size_t n = 0, m = 0, low = 0;
	double chance;

	for (enum stratum s = NEAR; s < STRATA; s++) {
		const struct figures *controls = &w->controls.of[s];
		struct figures copy = {w->free, controls->n};
		double floor;

		for (size_t i = 0; i < controls->n; i++)
			copy.of[i] = controls->of[i];
		floor = figures_floor(&copy, .25);

		/* how far the far ones are differs, and says nothing of the player */
		if (w->j->e->latency && s == FAR && !w->one_stratum)
			floor = FAILED / 2;
		for (enum way way = SENDS; way < evidence_ways(w->j->e); way++) {
			const struct figures *of = &x[way].of[s];

			for (size_t i = 0; i < of->n; i++) {
				c->low += of->of[i] < floor;
				c->failed += of->of[i] == FAILED;
			}
			n += of->n;
		}
		for (size_t i = 0; i < controls->n; i++)
			low += controls->of[i] < floor;
		m += controls->n;
	}
	c->figures = (uint32_t)n;
	chance = c->low ? chance_more_than(c->low, n, low, m) : 1;
	if (c->low > 1 && n >= LEAST && chance < TEST_RISK / w->j->players)
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
	if (times > c->verdict && c->verdict < VERDICT_PLACE)
		c->verdict = times;
	w->free = free;
	if (c->verdict == VERDICT_OPEN && c->tests) /* its threads lacked their CPUs */
		c->verdict = VERDICT_UNCLEAR;
}

/* A pair of two good players, measured several times. */
static void judge_pair(struct work *w, struct pair *p)
{
	const struct judgement *j = w->j;
	struct figures x = {w->free, 0}, controls = w->controls.of[FAR];
	struct ranks ranks = {0};
	double control = figures_median(&controls);

	for (struct walk k = walk_way(j->e, p->from, SENDS, 1U << PART_TEST); walk_next(&k);)
		if (k.with == p->to && !isnan(judge_y(j, k.is)))
			x.of[x.n++] = judge_y(j, k.is);
	p->tests = (uint32_t)x.n;
	if (x.n < LEAST || controls.n < LEAST)
		return;
	p->y = figures_median(&x);
	ranks_add(&ranks, &x, &controls);
	p->verdict = p->y < control - fmax(LOW_LEAST, judge_least(j)) &&
				     reaches(j, &x, control) <= TEST_REACHES &&
				     ranks_chance(&ranks) < TEST_RISK
			     ? VERDICT_SLOW
			     : VERDICT_GOOD;
}

/* Whether the candidates A and B, who are low with references, are good with each other. */
static bool are_good_together(const struct work *w, uint32_t a, uint32_t b, uint32_t *met)
{
	struct figures f = {w->free, 0};
	/* of a latency one may be slow and have a partner that is nearer than most near ones */
	bool nearest = w->j->e->latency && !w->j->groups->names.count;
	double control =
		figures_quantile(&w->controls.of[w->one_stratum ? FAR : NEAR], nearest ? .9 : .5);
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
			uint32_t met;

			if (j->e->player[a->player].host ==
				    j->e->player[j->candidate[k].player].host ||
			    a->verdict < VERDICT_PLACE)
				continue;
			if (are_good_together(w, a->player, j->candidate[k].player, &met))
				a->verdict = VERDICT_PLACE;
			a->met += met > 0;
			a->unmet += !met && judge_may_share(j, a, &j->candidate[k]);
		}
}

int judge_verdicts(struct judgement *j)
{
	struct work w = {.j = j};
	size_t figures = 0;

	for (uint32_t i = 0; i < j->e->count; i++)
		figures += PARTS_TEST >> j->e->of[i].part & 1;
	j->tests = (uint32_t)figures;
	if (!figures) {
		judge_find_pairs(j);
		return 0;
	}
	w.sample = malloc(figures * sizeof(*w.sample));
	w.room = malloc(6 * figures * sizeof(*w.room));
	if (w.sample && w.room) {
		collect_controls(&w);
		if (w.controls.pair[NEAR].n < RANKS_LEAST || w.controls.pair[FAR].n < RANKS_LEAST) {
			w.one_stratum = true;
			collect_controls(&w);
		}
		for (uint32_t i = 0; i < j->candidates; i++)
			judge_candidate(&w, &j->candidate[i]);
		find_places(&w);
		judge_find_pairs(j);
		for (uint32_t i = 0; i < j->pairs; i++)
			judge_pair(&w, &j->pair[i]);
	}
	free(w.sample);
	free(w.room);
	return w.sample && w.room ? 0 : -1;
}

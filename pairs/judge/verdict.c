// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The verdict on each candidate that was tested: its figures with references against those of the
 * controls, which the same network, noise and hours have made. Of a latency, which grows with the
 * distance, near and far ones are compared after what the controls have of each is taken away.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judgement.h"

/* A figure of a pair. */
struct sample {
	uint64_t pair;
	double y;
};

struct work {
	struct judgement *j;
	double distance[2]; /* what controls that are far (0) or near (1) have, of a latency */
	struct sample *sample;
	size_t controls; /* so many are the first ones; behind them those of a candidate */
	double control, floor; /* their median; below it they are low, */
	size_t low;            /* as so many are */
};

static int by_pair(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return (x->y > y->y) - (x->y < y->y);
}

static struct figures figures_of(const struct sample *s, size_t n, double *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = s[i].y;
	return (struct figures){to, n};
}

/* The median of each pair, in order; without those that always failed, if others are left. */
static struct figures pairs_of(struct sample *s, size_t n, double *to)
{
	struct figures f = {to, 0};

	if (n)
		qsort(s, n, sizeof(*s), by_pair);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && s[end].pair == s[i].pair;)
			end++;
		f.of[f.n++] = (s[(i + end - 1) / 2].y + s[(i + end) / 2].y) / 2;
	}
	for (figures_median(&f); f.n > 1 && f.of[0] == FAILED; f.n--)
		f.of++;
	return f;
}

/* Put what O tells, without its distance, to S. Returns how many that is: 1 or none. */
static size_t put(const struct work *w, const struct observation *o, struct sample *s)
{
	double y = judge_y(w->j, o);

	if (y > FAILED)
		y -= w->distance[judge_is_near(w->j, o->from, o->to)];
	*s = (struct sample){(uint64_t)o->from << 32 | o->to, y};
	return !isnan(y);
}

/* Collect those of the controls. NEAR: only near ones or others; -1: all. */
static void collect_controls(struct work *w, int near)
{
	const struct judgement *j = w->j;

	w->controls = 0;
	for (const struct observation *o = j->e->of; o < j->e->of + j->e->count; o++)
		if (o->part == PART_CONTROL && !j->player[o->from].candidate &&
		    !j->player[o->to].candidate &&
		    (near < 0 || (judge_is_near(j, o->from, o->to) == near && judge_y(j, o) > FAILED)))
			w->controls += put(w, o, &w->sample[w->controls]);
}

static void find_controls(struct work *w)
{
	double median[2] = {NAN, NAN};
	struct figures f;

	for (int near = 0; near < 2 && w->j->e->latency; near++) {
		collect_controls(w, near);
		f = figures_of(w->sample, w->controls, w->j->room);
		median[near] = f.n < ORDER_LEAST ? NAN : figures_median(&f);
	}
	if (!isnan(median[0] + median[1]))
		memcpy(w->distance, median, sizeof(median));
	collect_controls(w, -1);
	f = figures_of(w->sample, w->controls, w->j->room);
	w->control = figures_median(&f);
	/* of a latency how far the references are differs, and says nothing of the player */
	w->floor = w->j->e->latency ? FAILED + .5 : figures_floor(&f, .25);
	for (size_t i = 0; i < w->controls; i++)
		w->low += w->sample[i].y < w->floor;
}

/* What PLAYER reached in WAY with references: with those that tell, if there are such. */
static size_t collect(struct work *w, uint32_t player, enum way way)
{
	const struct judgement *j = w->j;
	uint32_t tests = 0;
	size_t n = 0;

	for (int tells = 1; tells >= 0 && !n; tells--) {
		struct walk k = walk_way(j->e, player, way, 1U << PART_TEST);

		for (tests = 0; walk_next(&k);) {
			if (j->player[k.with].candidate)
				continue;
			tests++;
			if (judge_tells(j, player, k.with) >= tells)
				n += put(w, k.is, &w->sample[w->controls + n]);
		}
	}
	j->player[player].tests += way == SENDS || j->e->one_way ? tests : 0; /* otherwise each is both ways */
	return n;
}

/* The chance that the pairs of the N figures of a candidate are so low among the controls. */
static double chance_of(const struct work *w, size_t n)
{
	struct figures x = pairs_of(w->sample + w->controls, n, w->j->room);
	struct figures y = pairs_of(w->sample, w->controls, w->j->room + n);

	return x.n >= ORDER_LEAST && y.n >= ORDER_LEAST
		       ? ranks_chance(&x, &y) : ranks_few(&x, &y, TEST_PAIR_SPREAD);
}

/* The verdict on N figures, one direction of C; Y gets their median. */
static enum verdict judge_way(const struct work *w, size_t n, double *y)
{
	const struct judgement *j = w->j;
	double risk = TEST_RISK / (double)(j->players * evidence_ways(j->e)), reach = 0;
	struct figures f = figures_of(w->sample + w->controls, n, j->room);

	*y = figures_median(&f);
	if (n < FIGURES_LEAST || w->controls < FIGURES_LEAST)
		return VERDICT_OPEN;
	if (!(*y < w->control - judge_least(j)))
		return VERDICT_GOOD;
	for (size_t i = 0; i < n; i++)
		reach += f.of[i] > w->control - judge_least(j) / 2;
	return reach <= TEST_REACHES * (double)n && chance_of(w, n) < risk ? VERDICT_SLOW
									   : VERDICT_UNCLEAR;
}

/* Whether more of C's runs are low, or fail, than of the controls. */
static enum verdict judge_times(const struct work *w, const struct player *c)
{
	double chance = c->low ? chance_more(c->low, c->figures, w->low, w->controls) : 1;

	if (c->low > 1 && c->figures >= FIGURES_LEAST && chance < TEST_RISK / w->j->players)
		return VERDICT_TIMES;
	return chance < TEST_DOUBT / w->j->candidates ? VERDICT_UNCLEAR : VERDICT_OPEN;
}

static void judge_candidate(struct work *w, uint32_t player)
{
	struct player *c = &w->j->player[player];
	enum verdict times;

	for (enum way way = SENDS; way < evidence_ways(w->j->e); way++) {
		size_t n = collect(w, player, way);
		double y;
		enum verdict of_way = judge_way(w, n, &y);

		*(way == SENDS ? &c->sends : &c->receives) =
			of_way >= VERDICT_PLACE || w->j->e->latency;
		c->figures += (uint32_t)n;
		for (size_t i = w->controls; i < w->controls + n; i++) {
			c->low += w->sample[i].y < w->floor;
			c->failed += w->sample[i].y < FAILED + .5;
		}
		if (way == SENDS || of_way > c->verdict) {
			c->verdict = of_way;
			c->y = y;
			c->control = w->control;
		}
	}
	times = judge_times(w, c);
	if (times > c->verdict && c->verdict < VERDICT_UNCLEAR)
		c->verdict = times;
	if (c->verdict == VERDICT_OPEN && c->tests) /* its threads lacked their CPUs */
		c->verdict = VERDICT_UNCLEAR;
}

/* Whether the candidates A and B, who are low with references, are as good with each other as near
 * controls are. */
static bool are_good_together(const struct work *w, uint32_t a, uint32_t b, uint32_t *met)
{
	struct figures f = {w->j->room, 0};
	double control = w->control + w->distance[1], least = judge_least(w->j);

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
			uint32_t of = j->candidate[i], with = j->candidate[k], met;
			struct player *a = &j->player[of], *b = &j->player[with];
			bool together;

			if (a->host == b->host || a->verdict < VERDICT_PLACE)
				continue;
			together = are_good_together(w, of, with, &met);
			if (together && b->verdict >= VERDICT_PLACE)
				a->verdict = VERDICT_PLACE;
			a->met += met > 0;
			/* who is as good as a good one is not drained */
			a->unmet += met ? together : judge_may_share(j, of, with);
		}
}

int judge_verdicts(struct judgement *j)
{
	struct work w = {.j = j};

	if (!j->tests)
		return 0;
	w.sample = malloc((j->tests + 1) * sizeof(*w.sample));
	if (!w.sample)
		return -1;
	find_controls(&w);
	for (uint32_t i = 0; i < j->candidates; i++)
		judge_candidate(&w, j->candidate[i]);
	find_places(&w);
	free(w.sample);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "plan/prove.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/sweep.h"
#include "proto/fields.h"
#include "stat/interval.h"

#define TIMES       4 /* window, QPs, size, receives: large enough to be seen in any noise */
#define THREADS     2
#define LIST        32    /* as the advice of LIMIT_CORE has it */
#define TURNS_LEAST 3     /* with fewer an interval is too wide to tell anything */
#define CONFIDENCE  99.0  /* percent; of what is said to help, */
#define CERTAINTY   99.95 /* since there are ten changes, and a look after each turn */

/* The field of ROW, an experiment's, in E. */
static uint64_t *field_of(const struct experiment *e, const struct option_row *row)
{
	return (uint64_t *)((char *)(uintptr_t)e +
			    (row->field - offsetof(struct options, experiment)));
}

/* What of T differs from BASE, as typed. */
static void name_option(struct prove_try *t, const struct experiment *base)
{
	char name[64], word[32];

	for (const struct option_row *row = options_table(); row->name; row++) {
		uint64_t now;

		if (row->scope != SCOPE_EXPERIMENT ||
		    *field_of(base, row) == (now = *field_of(&t->experiment, row)))
			continue;
		snprintf(name, sizeof(name), row->letter ? "-%c" : "-", row->letter);
		if (!row->letter)
			text_add(name, sizeof(name), "-%s", row->name);
		text_add(t->option, sizeof(t->option), "%s%s%s", t->option[0] ? " " : "",
			 now && now != EXPERIMENT_AUTO ? "" : "without ", name);
		if (row->kind != OPTION_FLAG && now && now != EXPERIMENT_AUTO)
			text_add(t->option, sizeof(t->option), " %s",
				 sweep_word(row, now, word, sizeof(word)));
	}
}

/* E has TIMES of what goes on at a time, of which each has that much less of the window. */
static const char *divide_window(struct experiment *e)
{
	if (e->tx_depth < TIMES || e->post_list > e->tx_depth / TIMES)
		return "the window is too small to be divided";
	e->tx_depth /= TIMES;
	return NULL;
}

/* Change C in E. Returns why it cannot be, or NULL; *THERE: there is something to change. */
static const char *change(const struct prove_facts *f, enum prove_change c, struct experiment *e,
			  bool *there)
{
	const char *why;

	*there = true;
	switch (c) {
	case PROVE_WINDOW:
		e->tx_depth =
			e->tx_depth * TIMES < f->max_depth ? e->tx_depth * TIMES : f->max_depth;
		return e->tx_depth < 2 * f->base->tx_depth ? "the device has no deeper queues"
							   : NULL;
	case PROVE_OUTS:
		*there = f->fetches && e->outs != EXPERIMENT_AUTO;
		e->outs = EXPERIMENT_AUTO;
		return NULL;
	case PROVE_QPS:
		*there = !e->mcg;
		e->qps *= TIMES;
		return divide_window(e);
	case PROVE_SIZE:
		e->size_bytes *= TIMES;
		return e->size_bytes > f->max_bytes ? "no message is so large" : divide_window(e);
	case PROVE_RECEIVES:
		*there = f->receives;
		e->rx_depth = f->rx_depth * TIMES;
		return e->rx_depth > f->max_depth ? "the device has no deeper queues" : NULL;
	case PROVE_ORDER:
		*there = !f->software;
		e->strict_order = !e->strict_order;
		return NULL;
	case PROVE_FOOTPRINT:
		*there = e->footprint_bytes > 0;
		e->footprint_bytes = 0;
		return NULL;
	case PROVE_THREADS:
		why = e->qps % THREADS ? change(f, PROVE_QPS, e, there) : NULL;
		e->threads *= THREADS;
		e->qps /= THREADS;
		*there = !e->mcg;
		return e->threads > f->cpus ? "this process has no other CPU" : why;
	case PROVE_LIST:
		*there = e->post_list < LIST;
		e->post_list = LIST;
		return e->tx_depth < 2 * LIST ? "the window is too small for lists" : NULL;
	default:
		*there = false;
		return NULL;
	}
}

/* Plan C in T, from the experiment that T has. */
static void plan_try(struct prove *p, enum prove_change c, struct prove_try *t)
{
	bool there;
	const char *why = change(&p->facts, c, &t->experiment, &there);

	t->planned = there;
	t->not_tried = t->not_tried ? t->not_tried : why;
}

void prove_plan(struct prove *p)
{
	const struct experiment *base = p->facts.base;

	for (enum prove_change c = PROVE_BASE; c < PROVE_CHANGES; c++) {
		struct prove_try *t = &p->try[c];

		*t = (struct prove_try){.experiment = *base};
		plan_try(p, c, t);
		name_option(t, base);
	}
	if (base->qps % THREADS)
		p->try[PROVE_THREADS].against = PROVE_QPS;
}

/* T is still to be measured. */
static bool is_open(const struct prove_try *t)
{
	return t->planned && !t->not_tried && t->so == PROVE_OPEN && t->windows < PROVE_WINDOWS_MAX;
}

unsigned prove_turn(struct prove *p, enum prove_change order[3 * PROVE_CHANGES])
{
	static const enum prove_change compared[] = {PROVE_BASE, PROVE_QPS};
	unsigned count = 0;

	for (int k = 0; k < 2; k++) {
		unsigned changed = 0;

		for (enum prove_change c = PROVE_BASE + 1; c < PROVE_CHANGES; c++) {
			if (!is_open(&p->try[c]) || p->try[c].against != compared[k] ||
			    (p->try[PROVE_TOGETHER].planned && c != PROVE_TOGETHER))
				continue;
			if (changed++ % 2 == 0)
				order[count++] = compared[k];
			order[count++] = c;
		}
		if (changed)
			order[count++] = compared[k];
	}
	for (unsigned i = 0; p->turn % 2 && i < count / 2; i++) { /* back again */
		enum prove_change c = order[i];

		order[i] = order[count - 1 - i];
		order[count - 1 - i] = c;
	}
	p->turn++;
	return count;
}

/*
 * What the windows of T tell: Student's t of the logarithms of their ratios. BOUND: another one
 * that the interval must not contain; 0: none.
 */
static void judge(struct prove_try *t, double bound)
{
	double n = t->windows, sum = 0, squares = 0, mean, error, half;

	if (t->windows < TURNS_LEAST)
		return;
	for (unsigned i = 0; i < t->windows; i++)
		sum += log(t->window[i].gbps / t->window[i].against_gbps);
	mean = sum / n;
	for (unsigned i = 0; i < t->windows; i++)
		squares += pow(log(t->window[i].gbps / t->window[i].against_gbps) - mean, 2);
	error = sqrt(squares / (n - 1) / n);
	half = interval_t(CONFIDENCE, n - 1) * error;
	t->ratio = exp(mean);
	t->half = t->ratio * (exp(half) - 1);
	t->least = exp(mean - half);
	t->so = exp(mean - interval_t(CERTAINTY, n - 1) * error) > 1 + PROVE_MARGIN ? PROVE_BETTER
		: exp(mean + half) < 1 - PROVE_MARGIN                               ? PROVE_WORSE
		: exp(mean + half) < 1 + PROVE_MARGIN                               ? PROVE_SAME
										    : PROVE_OPEN;
	if (t->least < bound && exp(mean + half) > bound)
		t->so = PROVE_OPEN;
}

/* The mean of the windows of AGAINST next to AT; NaN: there are none with a figure. */
static double rate_beside(const enum prove_change *order, const double *gbps, unsigned count,
			  unsigned at, enum prove_change against)
{
	bool before = at > 0 && order[at - 1] == against && gbps[at - 1] > 0;
	bool after = at + 1 < count && order[at + 1] == against && gbps[at + 1] > 0;
	double sum = (before ? gbps[at - 1] : 0) + (after ? gbps[at + 1] : 0);

	return sum / (before + after);
}

void prove_add(struct prove *p, const enum prove_change *order, const double *gbps, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct prove_try *t = &p->try[order[i]];
		double against = rate_beside(order, gbps, count, i, t->against);

		if (!is_open(t) || !(gbps[i] > 0) || !(against > 0))
			continue;
		t->window[t->windows].gbps = gbps[i];
		t->window[t->windows++].against_gbps = against;
		judge(t, order[i] == PROVE_SIZE ? PROVE_BY_MESSAGES : 0);
	}
}

void prove_refuse(struct prove *p, enum prove_change c, const char *why)
{
	p->try[c].not_tried = why;
	if (c == PROVE_QPS && p->try[PROVE_THREADS].against == PROVE_QPS)
		p->try[PROVE_THREADS].not_tried = why;
}

double prove_most(const struct prove_try *t)
{
	if (!t->planned || t->not_tried)
		return 1;
	return t->windows < TURNS_LEAST ? INFINITY : t->ratio + t->half;
}

/*
 * Larger messages are no cause; nor are more QPs where more READs may help, which they also have;
 * and what helps no more than the change that it is compared with may help by itself is not the
 * first limit.
 */
const struct prove_try *prove_best(const struct prove *p, const struct prove_try *but)
{
	const struct prove_try *best = NULL, *outs = &p->try[PROVE_OUTS];

	for (enum prove_change c = PROVE_BASE + 1; c < PROVE_TOGETHER; c++) {
		const struct prove_try *t = &p->try[c];

		if (c == PROVE_SIZE || t == but || t->so != PROVE_BETTER ||
		    (c == PROVE_QPS && prove_most(outs) > 1 + PROVE_MARGIN) ||
		    (!but && prove_most(&p->try[t->against]) >= t->least))
			continue;
		if (!best || t->ratio > best->ratio)
			best = t;
	}
	return best;
}

bool prove_plan_together(struct prove *p)
{
	const struct prove_try *best = prove_best(p, NULL), *next = prove_best(p, best);
	struct prove_try *t = &p->try[PROVE_TOGETHER];

	if (!best || !next)
		return false;
	*t = (struct prove_try){.experiment = *p->facts.base};
	/* in the order of the changes: threads divide the QPs that there are */
	plan_try(p, (enum prove_change)((best < next ? best : next) - p->try), t);
	plan_try(p, (enum prove_change)((best < next ? next : best) - p->try), t);
	name_option(t, p->facts.base);
	return is_open(t);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "plan/prove.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/sweep.h"
#include "stat/interval.h"
#include "stat/quantile.h"
#include "stat/series.h"

#define TIMES         4 /* window, QPs, size, receives: large enough to be seen in any noise */
#define THREADS       2
#define LIST          32   /* as the advice of LIMIT_CORE has it */
#define WINDOWS_LEAST 3    /* fewer tell nothing */
#define WINDOWS_SURE  6    /* that all of so many say the same is chance in 1 of 64 cases */
#define BY_MESSAGES   1.6  /* four times the size carries that: most of the time goes by messages */
#define CONFIDENCE    99.0 /* percent */
#define CERTAINTY     99.9 /* since there are ten changes, and a look after each turn */

/* What limits a run that a change makes faster. */
static const enum finding_code limits[PROVE_CHANGES] = {
	[PROVE_WINDOW] = LIMIT_WINDOW, [PROVE_OUTS] = LIMIT_WINDOW,
	[PROVE_QPS] = LIMIT_NIC_QP,    [PROVE_RECEIVES] = LIMIT_RECEIVER,
	[PROVE_ORDER] = LIMIT_PCIE,    [PROVE_FOOTPRINT] = LIMIT_MEMORY,
	[PROVE_THREADS] = LIMIT_CORE,  [PROVE_LIST] = LIMIT_CORE,
};

/* What of T differs from BASE, as typed. */
static void name_option(struct prove_try *t, const struct experiment *base)
{
	char name[64], word[32];

	for (const struct option_row *row = options_table(); row->name; row++) {
		uint64_t now;

		if (row->scope != SCOPE_EXPERIMENT ||
		    experiment_value(base, row) == (now = experiment_value(&t->experiment, row)))
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

/* T is measured. */
static bool is_tried(const struct prove_try *t)
{
	return t->planned && !t->not_tried;
}

/*
 * What need not help less than a change, for it would not be another limit: more QPs have more
 * READs, too, and threads are compared with what these carry; threads and lists both are what a
 * message costs. Larger messages never are a limit's change.
 */
#define BIT(c) (1U << (c))
static const unsigned no_rivals[PROVE_CHANGES] = {
	[PROVE_OUTS] = BIT(PROVE_QPS) | BIT(PROVE_THREADS),
	[PROVE_QPS] = BIT(PROVE_THREADS),
	[PROVE_THREADS] = BIT(PROVE_LIST),
	[PROVE_LIST] = BIT(PROVE_THREADS),
};

static bool leads(const struct prove *p, enum prove_change c)
{
	const struct prove_try *t = &p->try[c];
	bool found = is_tried(t) && t->low > (c == PROVE_SIZE ? BY_MESSAGES : 1 + PROVE_MARGIN);

	for (enum prove_change d = PROVE_BASE + 1; d < PROVE_TOGETHER; d++)
		if (d != c && d != PROVE_SIZE && is_tried(&p->try[d]) && !(no_rivals[c] & BIT(d)))
			found &= p->try[d].high > 0 && t->low > p->try[d].high;
	return found;
}

/*
 * What leads, and is played alone until it has enough windows to be sure; where lists help, so are
 * threads, which tell whether it is a CPU. PROVE_BASE: nothing.
 */
static enum prove_change to_confirm(const struct prove *p)
{
	const struct prove_try *best = prove_best(p, NULL);
	enum prove_change c = best ? (enum prove_change)(best - p->try) : PROVE_SIZE;

	if (p->try[PROVE_TOGETHER].planned)
		return PROVE_TOGETHER;
	if (!leads(p, c))
		return PROVE_BASE;
	if (c == PROVE_LIST && p->try[c].windows >= WINDOWS_SURE &&
	    is_tried(&p->try[PROVE_THREADS]))
		c = PROVE_THREADS;
	return p->try[c].windows < WINDOWS_SURE ? c : PROVE_BASE;
}

unsigned prove_turn(struct prove *p, enum prove_change order[3 * PROVE_CHANGES])
{
	static const enum prove_change compared[] = {PROVE_BASE, PROVE_QPS};
	enum prove_change alone = to_confirm(p);
	enum finding_strength strength;
	unsigned count = 0;

	prove_limit(p, &strength);
	if (strength == FINDING_IS && alone != PROVE_TOGETHER)
		return 0;

	for (int k = 0; k < 2; k++) {
		unsigned changed = 0;

		for (enum prove_change c = PROVE_BASE + 1; c < PROVE_CHANGES; c++) {
			const struct prove_try *t = &p->try[c];

			if (t->against != compared[k] || !is_tried(t) ||
			    (alone ? c != alone || t->windows >= WINDOWS_SURE
				   : t->so != PROVE_OPEN || t->windows >= PROVE_WINDOWS_MAX))
				continue;
			if (changed++ % 2 == 0)
				order[count++] = compared[k];
			order[count++] = c;
		}
		if (changed && changed % 2 == 0)
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
 * What the windows of T tell: the interval of the median of their ratios, in which all are that are
 * too few for one; and Student's t of the logarithms.
 */
static void judge(struct prove_try *t)
{
	struct quantile_ranks ranks = quantile_ranks(50, t->windows, CERTAINTY);
	double ratio[PROVE_WINDOWS_MAX], n = t->windows, sum = 0, squares = 0, mean, half;

	if (t->windows < WINDOWS_LEAST)
		return;
	for (unsigned i = 0; i < t->windows; i++) {
		ratio[i] = t->window[i].gbps / t->window[i].against_gbps;
		sum += log(ratio[i]);
	}
	mean = sum / n;
	for (unsigned i = 0; i < t->windows; i++)
		squares += pow(log(ratio[i]) - mean, 2);
	series_sort(ratio, t->windows);
	t->low = ratio[ranks.low ? ranks.low - 1 : 0];
	t->high = ratio[ranks.low ? ranks.high - 1 : t->windows - 1];
	half = interval_t(CONFIDENCE, n - 1) * sqrt(squares / (n - 1) / n);
	t->ratio = exp(mean);
	t->half = t->ratio * (exp(half) - 1);
	t->so = exp(mean - half) > 1 + PROVE_MARGIN   ? PROVE_BETTER
		: exp(mean + half) < 1 - PROVE_MARGIN ? PROVE_WORSE
		: exp(mean + half) < 1 + PROVE_MARGIN ? PROVE_SAME
						      : PROVE_OPEN;
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

		if (!is_tried(t) || t->windows == PROVE_WINDOWS_MAX || !(gbps[i] > 0) ||
		    !(against > 0))
			continue;
		t->window[t->windows].gbps = gbps[i];
		t->window[t->windows++].against_gbps = against;
		judge(t);
	}
}

void prove_refuse(struct prove *p, enum prove_change c, const char *why)
{
	p->try[c].not_tried = why;
	if (c == PROVE_QPS && p->try[PROVE_THREADS].against == PROVE_QPS)
		p->try[PROVE_THREADS].not_tried = why;
}

/* How much faster T may be, at most. */
static double most_of(const struct prove_try *t)
{
	if (!is_tried(t))
		return 1;
	return t->windows < WINDOWS_LEAST ? INFINITY : t->ratio + t->half;
}

const struct prove_try *prove_best(const struct prove *p, const struct prove_try *but)
{
	const struct prove_try *best = NULL;

	for (enum prove_change c = PROVE_BASE + 1; c < PROVE_TOGETHER; c++) {
		const struct prove_try *t = &p->try[c];

		if (c == PROVE_SIZE || t == but ||
		    !(t->so == PROVE_BETTER || (!but && leads(p, c))) ||
		    (c == PROVE_QPS && p->try[PROVE_OUTS].low > 1 + PROVE_MARGIN))
			continue;
		if (!best || t->ratio > (1 + PROVE_MARGIN) * best->ratio)
			best = t;
	}
	return best;
}

/* T leads in enough windows, and Student's t agrees. */
static bool is_sure(const struct prove *p, const struct prove_try *t)
{
	return t->windows >= WINDOWS_SURE && t->so == PROVE_BETTER &&
	       leads(p, (enum prove_change)(t - p->try));
}

enum finding_code prove_limit(const struct prove *p, enum finding_strength *strength)
{
	const struct prove_try *best = prove_best(p, NULL), *larger = &p->try[PROVE_SIZE],
			       *threads = &p->try[PROVE_THREADS];
	bool messages = !best && leads(p, PROVE_SIZE);

	/* each of these may carry more messages, too */
	for (enum prove_change c = PROVE_WINDOW; c < PROVE_TOGETHER; c++)
		messages &= c == PROVE_SIZE || most_of(&p->try[c]) < PROVE_HELPS_LITTLE;
	*strength = FINDING_CANNOT_TELL; /* what could not be tried may be it */
	if (!messages && !best)
		return LIMIT_UNKNOWN;
	*strength = is_sure(p, messages ? larger : best) ? FINDING_IS : FINDING_MAY_BE;
	if (messages)
		return LIMIT_MESSAGE_RATE;
	if (best != &p->try[PROVE_LIST] || is_sure(p, threads))
		return limits[best - p->try];
	if (is_tried(threads) &&
	    (threads->windows < WINDOWS_SURE || most_of(threads) > PROVE_HELPS_LITTLE))
		*strength = FINDING_MAY_BE; /* it may be a CPU's */
	return LIMIT_MESSAGE_RATE;
}

bool prove_plan_together(struct prove *p)
{
	const struct prove_try *best = prove_best(p, NULL), *next = prove_best(p, best);
	struct prove_try *t = &p->try[PROVE_TOGETHER];
	enum finding_strength strength;

	prove_limit(p, &strength);
	if (!best || !next || strength != FINDING_IS)
		return false;
	*t = (struct prove_try){.experiment = *p->facts.base};
	/* in the order of the changes: threads divide the QPs that there are */
	plan_try(p, (enum prove_change)((best < next ? best : next) - p->try), t);
	plan_try(p, (enum prove_change)((best < next ? next : best) - p->try), t);
	name_option(t, p->facts.base);
	return is_tried(t);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "incast.h"

#include <math.h>
#include <stdlib.h>

#include "ranks.h"
#include "thresholds.h"

#define ROUNDS_LEAST 3 /* in which a sender must starve: in two it may by chance */

/* What one sender reached in a round. */
struct flow {
	uint32_t round, receiver, sender;
	double gbps;  /* above 0 */
	double share; /* of what the round's others reach */
};

struct work {
	const struct evidence *e;
	struct flow *flow; /* by round */
	uint32_t flows;
	bool *starves; /* of each player: in most of its rounds */
	double *alone; /* the best that it receives alone; 0: not known */
	double *room;  /* for numbers of all flows */
};

static int by_round(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	if (x->receiver != y->receiver)
		return x->receiver < y->receiver ? -1 : 1;
	return (x->sender > y->sender) - (x->sender < y->sender);
}

static int by_sender(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	return (x->sender > y->sender) - (x->sender < y->sender);
}

/* The end of the flows of one round, the first of which is FIRST. */
static uint32_t end_of(const struct work *w, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < w->flows && w->flow[end].round == w->flow[first].round &&
	       w->flow[end].receiver == w->flow[first].receiver)
		end++;
	return end;
}

/* Collect what clients sent among others, of rounds that have two, and the best that was sent
 * alone. */
static void collect(struct work *w)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < w->e->count; i++) {
		const struct observation *o = &w->e->of[i];

		if (!(o->value > 0))
			continue;
		if (o->part != PART_LOADED)
			w->alone[o->to] = fmax(w->alone[o->to], (double)o->value);
		else if (o->marks & MARK_FROM_CLIENT)
			w->flow[w->flows++] =
				(struct flow){.round = (uint32_t)o->run << 16 | o->slot,
					      .receiver = o->to,
					      .sender = o->from,
					      .gbps = (double)o->value};
	}
	qsort(w->flow, w->flows, sizeof(*w->flow), by_round);
	for (uint32_t first = 0, end; first < w->flows; first = end) {
		end = end_of(w, first);
		for (uint32_t i = first; i < end && end - first > 1; i++)
			w->flow[kept++] = w->flow[i];
	}
	w->flows = kept;
}

/* The median rate of the round's senders but SELF; of those that do not starve, if there are any.
 */
static double others(struct work *w, uint32_t first, uint32_t end, uint32_t self)
{
	for (int all = 0; all < 2; all++) {
		struct figures f = {.of = w->room};

		for (uint32_t i = first; i < end; i++)
			if (i != self && (all || !w->starves[w->flow[i].sender]))
				f.of[f.n++] = w->flow[i].gbps;
		if (f.n)
			return figures_median(&f);
	}
	return NAN;
}

static void find_shares(struct work *w)
{
	for (uint32_t first = 0, end; first < w->flows; first = end) {
		end = end_of(w, first);
		for (uint32_t i = first; i < end; i++)
			w->flow[i].share = w->flow[i].gbps / others(w, first, end, i);
	}
}

/* Fill in what the flows FIRST to END, of one sender, say. True if it may starve. */
static bool may_starve(struct work *w, const struct flow *first, const struct flow *end,
		       struct incast_starving *to)
{
	struct figures f = {.of = w->room};

	*to = (struct incast_starving){.sender = first->sender};
	for (; first < end; first++) {
		f.of[f.n++] = first->share;
		to->starved += first->share < STARVES;
	}
	to->rounds = (uint32_t)f.n;
	to->share = figures_median(&f);
	return to->starved >= ROUNDS_LEAST && 2 * to->starved > to->rounds;
}

/* Go through all senders of FLOW, which are sorted by them. NAMED: name those who starve more often
 * than with that chance, otherwise mark who may. Returns how many may. */
static uint32_t find_senders(struct work *w, struct flow *flow, struct incast *named, double chance)
{
	uint32_t may = 0, senders = 0;
	struct incast_starving one;

	for (uint32_t i = 0; i < w->flows; i++)
		senders += !i || flow[i].sender != flow[i - 1].sender;
	for (uint32_t first = 0, end; first < w->flows; first = end) {
		bool is;

		for (end = first; end < w->flows && flow[end].sender == flow[first].sender;)
			end++;
		is = may_starve(w, &flow[first], &flow[end], &one);
		may += is;
		if (!named)
			w->starves[one.sender] = is;
		else if (is && senders * chance_more(one.starved, one.rounds, chance) <= TEST_RISK)
			named->starving[named->starved++] = one;
	}
	return 2 * may > senders ? 0 : may;
}

/*
 * First all that may starve, whose flows are then not what others are compared with. A share is
 * that small by chance as often as among the others, and a bit more (Laplace).
 */
static int find_starving(struct work *w, struct incast *it, struct flow *sorted)
{
	double n = 0, small = 0;

	it->starving = malloc((w->flows + 1) * sizeof(*it->starving));
	if (!it->starving)
		return -1;
	for (int pass = 0; pass < 2; pass++) {
		find_shares(w);
		for (uint32_t i = 0; i < w->flows; i++)
			sorted[i] = w->flow[i];
		qsort(sorted, w->flows, sizeof(*sorted), by_sender);
		if (!pass && !find_senders(w, sorted, NULL, 0))
			return 0;
	}
	for (uint32_t i = 0; i < w->flows; i++)
		if (!w->starves[w->flow[i].sender]) {
			n++;
			small += w->flow[i].share < STARVES;
		}
	find_senders(w, sorted, it, (small + 1) / (n + 2));
	return 0;
}

/* The round of the flows FIRST to END, but for its limit. */
static struct incast_round round_from(const struct work *w, uint32_t first, uint32_t end)
{
	struct incast_round r = {.round = w->flow[first].round,
				 .receiver = w->flow[first].receiver,
				 .senders = end - first,
				 .least_share = INFINITY};
	double squares = 0;

	for (const struct flow *f = &w->flow[first]; f < &w->flow[end]; f++) {
		r.sum_gbps += f->gbps;
		squares += f->gbps * f->gbps;
		if (f->share < r.least_share) {
			r.least_share = f->share;
			r.least = f->sender;
		}
	}
	r.jain = r.sum_gbps * r.sum_gbps / (r.senders * squares);
	return r;
}

/* Set the limits of all rounds. Returns false if one is not known. BEST_GBPS: the best sum. */
static bool set_limits(const struct work *w, struct incast *it, double best_gbps)
{
	bool known = true;

	for (uint32_t i = 0; i < it->rounds; i++) {
		struct incast_round *r = &it->round[i];

		r->limit_gbps = it->of == INCAST_OF_PORT
					? (double)w->e->player[r->receiver].port_gbps
				: it->of == INCAST_OF_ALONE ? w->alone[r->receiver]
							    : best_gbps;
		known &= r->limit_gbps > 0;
	}
	return known;
}

static double reach(const struct incast_round *r)
{
	return r->sum_gbps / r->limit_gbps;
}

/* The rounds, and their medians. Returns -1 if there is no memory. */
static int measure_rounds(struct work *w, struct incast *it)
{
	struct figures reaches = {.of = w->room}, jain = {.of = w->room + w->flows};
	struct figures senders = {.of = w->room + 2 * (size_t)w->flows};
	double best_gbps = 0;

	it->round = malloc((w->flows / 2 + 1) * sizeof(*it->round));
	if (!it->round)
		return -1;
	for (uint32_t first = 0, end; first < w->flows; first = end) {
		end = end_of(w, first);
		it->round[it->rounds] = round_from(w, first, end);
		best_gbps = fmax(best_gbps, it->round[it->rounds++].sum_gbps);
	}
	while (!set_limits(w, it, best_gbps))
		it->of++;
	for (uint32_t i = 0; i < it->rounds; i++) {
		const struct incast_round *r = &it->round[i];

		if (reach(r) < reach(&it->round[it->worst]))
			it->worst = i;
		if (r->jain < it->round[it->uneven].jain)
			it->uneven = i;
		reaches.of[reaches.n++] = reach(r);
		jain.of[jain.n++] = r->jain;
		senders.of[senders.n++] = r->senders;
	}
	it->reach = figures_median(&reaches);
	it->jain = figures_median(&jain);
	it->senders = it->rounds ? (uint32_t)figures_median(&senders) : 0;
	return 0;
}

int incast_find(struct incast *it, const struct evidence *e)
{
	size_t players = (size_t)e->names.count + 1, flows = (size_t)e->count + 1;
	struct flow *sorted = NULL;
	struct work w = {.e = e};
	int failed = -1;

	*it = (struct incast){0};
	if (!e->incast || e->latency)
		return 0;
	w.flow = malloc(2 * flows * sizeof(*w.flow));
	w.starves = calloc(players, sizeof(*w.starves));
	w.alone = calloc(players, sizeof(*w.alone));
	w.room = malloc(3 * flows * sizeof(*w.room));
	if (w.flow && w.starves && w.alone && w.room) {
		collect(&w);
		sorted = w.flow + flows;
		failed = find_starving(&w, it, sorted) || measure_rounds(&w, it) ? -1 : 0;
	}
	free(w.flow);
	free(w.starves);
	free(w.alone);
	free(w.room);
	return failed;
}

void incast_release(struct incast *it)
{
	free(it->round);
	free(it->starving);
	*it = (struct incast){0};
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "incast.h"

#include <math.h>
#include <stdlib.h>

#include "stat/beta.h"
#include "stat/series.h"
#include "limits.h"

/* What one sender reached in a round. */
struct flow {
	uint32_t round, receiver, sender;
	uint32_t next; /* the sender's next flow of those that have a figure; NONE */
	double gbps;   /* NaN: it was tried, and has no figure */
	double share;  /* of what the round's others reach */
};

#define NONE UINT32_MAX

struct player {
	double sends, receives; /* the best with one partner alone; 0: not known */
	uint32_t first;         /* flow that it sends and that has a figure; NONE */
	bool starves;           /* in most of its rounds */
};

struct work {
	const struct body *body;
	struct flow *flow; /* by round; at first all, then those that have a figure */
	uint32_t flows;
	struct player *of; /* of each player */
	double *some;      /* room for numbers of all flows or players */
};

static uint32_t round_of(const struct body_try *t)
{
	return (uint32_t)t->run << 16 | t->round;
}

static int by_round(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	if (x->receiver != y->receiver)
		return x->receiver < y->receiver ? -1 : 1;
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

/* The median; NaN of none. VALUE is sorted. */
static double middle(double *value, size_t n)
{
	series_sort(value, n);
	return n ? (value[(n - 1) / 2] + value[n / 2]) / 2 : NAN;
}

/* Collect what clients sent among others, and the best that was sent alone. */
static void collect(struct work *w)
{
	for (uint32_t i = 0; i < w->body->count; i++) {
		const struct body_try *t = &w->body->tries[i];

		if (t->alone && t->value > 0) {
			w->of[t->to].receives = fmax(w->of[t->to].receives, t->value);
			w->of[t->from].sends = fmax(w->of[t->from].sends, t->value);
		} else if (!t->alone && t->client_is_from) {
			w->flow[w->flows++] = (struct flow){.round = round_of(t),
							    .receiver = t->to,
							    .sender = t->from,
							    .gbps = t->value};
		}
	}
	qsort(w->flow, w->flows, sizeof(*w->flow), by_round);
}

/* Keep the flows that have a figure, of rounds that have two at least. */
static void take_flows(struct work *w)
{
	uint32_t kept = 0;

	for (uint32_t first = 0, end; first < w->flows; first = end) {
		uint32_t figures = 0;

		end = end_of(w, first);
		for (uint32_t i = first; i < end; i++)
			figures += w->flow[i].gbps > 0;
		for (uint32_t i = first; i < end && figures > 1; i++)
			if (w->flow[i].gbps > 0)
				w->flow[kept++] = w->flow[i];
	}
	w->flows = kept;
	for (uint32_t i = 0; i < w->body->names.count; i++)
		w->of[i].first = NONE;
	for (uint32_t i = 0; i < kept; i++) {
		struct player *sender = &w->of[w->flow[i].sender];

		w->flow[i].next = sender->first;
		sender->first = i;
	}
}

/* The median rate of the round's senders but SELF; of those that do not starve, if there are any.
 */
static double others(struct work *w, uint32_t first, uint32_t end, uint32_t self)
{
	for (int all = 0; all < 2; all++) {
		size_t n = 0;

		for (uint32_t i = first; i < end; i++)
			if (i != self && (all || !w->of[w->flow[i].sender].starves))
				w->some[n++] = w->flow[i].gbps;
		if (n)
			return middle(w->some, n);
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

/* What the flows of SENDER say. True if it may starve: in most of its rounds. */
static bool may_starve(struct work *w, uint32_t sender, struct incast_starving *to)
{
	*to = (struct incast_starving){.sender = sender};
	for (uint32_t i = w->of[sender].first; i != NONE; i = w->flow[i].next) {
		w->some[to->rounds++] = log(w->flow[i].share);
		to->starved += w->flow[i].share < INCAST_STARVES;
	}
	to->share = exp(middle(w->some, to->rounds));
	return to->starved >= INCAST_ROUNDS_LEAST && 2 * to->starved > to->rounds;
}

/*
 * How often a share is that small by chance: as often as among those that do not starve, and a bit
 * more, by Laplace's rule.
 */
static double chance(const struct work *w)
{
	size_t n = 0, small = 0;

	for (uint32_t i = 0; i < w->flows; i++)
		if (!w->of[w->flow[i].sender].starves) {
			n++;
			small += w->flow[i].share < INCAST_STARVES;
		}
	return (small + 1.) / (n + 2.);
}

/* What SENDER sends alone, as a part of what the others do. */
static double alone_of(struct work *w, uint32_t sender)
{
	size_t n = 0;

	for (uint32_t i = 0; i < w->body->names.count; i++)
		if (i != sender && w->of[i].sends > 0)
			w->some[n++] = w->of[i].sends;
	return w->of[sender].sends > 0 ? w->of[sender].sends / middle(w->some, n) : NAN;
}

/*
 * Find all that may starve, whose flows are then not what others are compared with. Those of them
 * starve that do so more often than by chance: for any of all senders, which is the tail of the
 * binomial distribution times their number.
 */
static int find_starving(struct work *w, struct incast *it)
{
	uint32_t players = w->body->names.count, senders = 0, suspects = 0;
	struct incast_starving one;
	double p;

	find_shares(w);
	for (uint32_t i = 0; i < players; i++) {
		w->of[i].starves = may_starve(w, i, &one);
		senders += one.rounds > 0;
		suspects += w->of[i].starves;
	}
	find_shares(w);
	if (!suspects || 2 * suspects > senders)
		return 0;
	it->starving = malloc(senders * sizeof(*it->starving));
	if (!it->starving)
		return -1;
	p = chance(w);
	for (uint32_t i = 0; i < players; i++) {
		if (!may_starve(w, i, &one) ||
		    senders * beta_incomplete(one.starved, one.rounds - one.starved + 1, p) >
			    INCAST_RISK)
			continue;
		one.alone = alone_of(w, i);
		it->starving[it->starved++] = one;
	}
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

	for (uint32_t i = first; i < end; i++) {
		const struct flow *is = &w->flow[i];

		r.sum_gbps += is->gbps;
		squares += is->gbps * is->gbps;
		if (is->share < r.least_share) {
			r.least_share = is->share;
			r.least = is->sender;
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

		r->limit_gbps = it->of == INCAST_OF_PORT    ? w->body->player[r->receiver].port_gbps
				: it->of == INCAST_OF_ALONE ? w->of[r->receiver].receives
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
	double best_gbps = 0, *jain = w->some + w->flows, *senders = jain + w->flows;

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
		w->some[i] = reach(r);
		jain[i] = r->jain;
		senders[i] = r->senders;
	}
	if (!it->rounds)
		return 0;
	it->reach = middle(w->some, it->rounds);
	it->jain = middle(jain, it->rounds);
	it->senders = (uint32_t)middle(senders, it->rounds);
	return 0;
}

int incast_find(struct incast *it, const struct body *b)
{
	size_t players = b->names.count, numbers = 3 * (size_t)b->count + players;
	struct work w = {.body = b};
	int failed = -1;

	*it = (struct incast){0};
	if (!b->incast || b->latency)
		return 0;
	w.flow = malloc(((size_t)b->count + 1) * sizeof(*w.flow));
	w.of = calloc(players + 1, sizeof(*w.of));
	w.some = malloc((numbers + 1) * sizeof(*w.some));
	if (w.flow && w.of && w.some) {
		collect(&w);
		take_flows(&w);
		failed = find_starving(&w, it) || measure_rounds(&w, it) ? -1 : 0;
	}
	free(w.flow);
	free(w.of);
	free(w.some);
	return failed;
}

void incast_release(struct incast *it)
{
	free(it->round);
	free(it->starving);
	*it = (struct incast){0};
}

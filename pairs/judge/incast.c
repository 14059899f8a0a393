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
	double *alone; /* of each player: the best that it receives alone; 0: not known */
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

/* The shares of the round of the flows FIRST to END: each of the median of the others. */
static void find_shares(struct work *w, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		struct figures f = {.of = w->room};

		for (uint32_t k = first; k < end; k++)
			if (k != i)
				f.of[f.n++] = w->flow[k].gbps;
		w->flow[i].share = w->flow[i].gbps / figures_median(&f);
	}
}

/* Senders with less than their share in most rounds; none where that is so of most senders. */
static int find_starving(const struct work *w, struct incast *it)
{
	uint32_t players = w->e->names.count, senders = 0;
	struct incast_starving *of = calloc((size_t)players + 1, sizeof(*of));

	if (!of)
		return -1;
	it->starving = of;
	for (uint32_t i = 0; i < w->flows; i++) {
		struct incast_starving *one = &of[w->flow[i].sender];

		one->share += log(w->flow[i].share);
		one->starved += w->flow[i].share < STARVES;
		one->rounds++;
	}
	for (uint32_t i = 0; i < players; i++) {
		struct incast_starving one = of[i];

		senders += one.rounds > 0;
		one.sender = i;
		one.share = exp(one.share / one.rounds);
		if (one.starved >= ROUNDS_LEAST && 2 * one.starved > one.rounds)
			of[it->starved++] = one;
	}
	if (2 * it->starved > senders)
		it->starved = 0;
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
		find_shares(w, first, end);
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
	struct work w = {.e = e};
	int failed = -1;

	*it = (struct incast){0};
	if (!e->incast || e->latency)
		return 0;
	w.flow = malloc(flows * sizeof(*w.flow));
	w.alone = calloc(players, sizeof(*w.alone));
	w.room = malloc(3 * flows * sizeof(*w.room));
	if (w.flow && w.alone && w.room) {
		collect(&w);
		failed = measure_rounds(&w, it) || find_starving(&w, it) ? -1 : 0;
	}
	free(w.flow);
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

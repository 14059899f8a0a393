// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums, shares and victims. */
#include "incast.h"

#include <math.h>
#include <stdlib.h>

#include "stat/beta.h"
#include "stat/series.h"
#include "limits.h"

/* What one sender reached in a round. */
struct flow {
	uint32_t round, receiver, sender;
	double gbps;  /* NaN: it was tried, and has no figure */
	double share; /* of what the round's others reach */
};

struct work {
	const struct body *body;
	struct flow *flow; /* by round; at first all, then those that have a figure */
	size_t flows;
	double *sends,
		*receives; /* of each player: the best with one partner alone; 0: not known */
	double *some;      /* room for numbers of all flows, players or victims */
	bool *starves;     /* of each player: in most of its rounds */
};

static uint32_t round_of(uint16_t run, uint16_t round)
{
	return (uint32_t)run << 16 | round;
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_round(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	if (x->round != y->round)
		return compare(x->round, y->round);
	if (x->receiver != y->receiver)
		return compare(x->receiver, y->receiver);
	return compare(x->sender, y->sender);
}

static int by_sender(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	return x->sender != y->sender ? compare(x->sender, y->sender) : by_round(a, b);
}

/* The end of the flows of one round, or of one sender, the first of which is FIRST. */
static size_t end_of(const struct work *w, size_t first, bool of_sender)
{
	const struct flow *is = &w->flow[first];
	size_t end = first;

	do
		end++;
	while (end < w->flows && (of_sender ? is->sender == w->flow[end].sender
					    : is->round == w->flow[end].round &&
						      is->receiver == w->flow[end].receiver));
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
			w->receives[t->to] = fmax(w->receives[t->to], t->value);
			w->sends[t->from] = fmax(w->sends[t->from], t->value);
		} else if (!t->alone && t->client_is_from) {
			w->flow[w->flows++] = (struct flow){.round = round_of(t->run, t->round),
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
	size_t kept = 0;

	for (size_t first = 0, end; first < w->flows; first = end) {
		size_t figures = 0;

		end = end_of(w, first, false);
		for (size_t i = first; i < end; i++)
			figures += w->flow[i].gbps > 0;
		for (size_t i = first; i < end && figures > 1; i++)
			if (w->flow[i].gbps > 0)
				w->flow[kept++] = w->flow[i];
	}
	w->flows = kept;
}

/* The median rate of the round's senders but SELF; of those that do not starve, if there are any.
 */
static double others(struct work *w, size_t first, size_t end, size_t self)
{
	for (int all = 0; all < 2; all++) {
		size_t n = 0;

		for (size_t i = first; i < end; i++)
			if (i != self && (all || !w->starves[w->flow[i].sender]))
				w->some[n++] = w->flow[i].gbps;
		if (n)
			return middle(w->some, n);
	}
	return NAN;
}

static void find_shares(struct work *w)
{
	for (size_t first = 0, end; first < w->flows; first = end) {
		end = end_of(w, first, false);
		for (size_t i = first; i < end; i++)
			w->flow[i].share = w->flow[i].gbps / others(w, first, end, i);
	}
}

/* What the flows FIRST to END say of their sender. True if it may starve: in most of its rounds. */
static bool may_starve(struct work *w, size_t first, size_t end, struct incast_starving *to)
{
	size_t n = end - first;

	*to = (struct incast_starving){.sender = w->flow[first].sender, .rounds = (uint32_t)n};
	for (size_t i = first; i < end; i++) {
		w->some[i - first] = log(w->flow[i].share);
		to->starved += w->flow[i].share < INCAST_STARVES;
	}
	to->share = exp(middle(w->some, n));
	return to->starved >= INCAST_ROUNDS_LEAST && 2 * to->starved > n;
}

/*
 * How often a share is that small by chance: as often as among those that do not starve, and a bit
 * more, by Laplace's rule.
 */
static double chance(const struct work *w)
{
	size_t n = 0, small = 0;

	for (size_t i = 0; i < w->flows; i++)
		if (!w->starves[w->flow[i].sender]) {
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
		if (i != sender && w->sends[i] > 0)
			w->some[n++] = w->sends[i];
	return w->sends[sender] > 0 ? w->sends[sender] / middle(w->some, n) : NAN;
}

/* Find all that may starve, whose flows are then not what others are compared with. */
static void find_suspects(struct work *w, uint32_t *senders, uint32_t *suspects)
{
	struct incast_starving one;

	find_shares(w);
	qsort(w->flow, w->flows, sizeof(*w->flow), by_sender);
	for (size_t first = 0, end; first < w->flows; first = end, ++*senders) {
		end = end_of(w, first, true);
		w->starves[w->flow[first].sender] = may_starve(w, first, end, &one);
		*suspects += w->starves[w->flow[first].sender];
	}
	qsort(w->flow, w->flows, sizeof(*w->flow), by_round);
	find_shares(w);
}

/*
 * Those of them starve that do so more often than by chance: for any of all senders, which is the
 * tail of the binomial distribution times their number.
 */
static int find_starving(struct work *w, struct incast *it, uint32_t senders)
{
	struct incast_starving one;
	double p = chance(w);

	it->starving = malloc(senders * sizeof(*it->starving));
	if (!it->starving)
		return -1;
	qsort(w->flow, w->flows, sizeof(*w->flow), by_sender);
	for (size_t first = 0, end; first < w->flows; first = end) {
		end = end_of(w, first, true);
		if (!may_starve(w, first, end, &one) ||
		    senders * beta_incomplete(one.starved, one.rounds - one.starved + 1, p) >
			    INCAST_RISK)
			continue;
		one.alone = alone_of(w, one.sender);
		it->starving[it->starved++] = one;
	}
	return 0;
}

/* The round of the flows FIRST to END, but for its limit. */
static struct incast_round round_from(const struct work *w, size_t first, size_t end)
{
	struct incast_round r = {.round = w->flow[first].round,
				 .receiver = w->flow[first].receiver,
				 .senders = (uint32_t)(end - first),
				 .least_share = INFINITY};
	double squares = 0;

	for (size_t i = first; i < end; i++) {
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

/* Set the limits of all rounds. BEST_GBPS: the best sum. */
static void set_limits(const struct work *w, struct incast *it, double best_gbps)
{
	bool known = false;

	for (it->of = INCAST_OF_PORT; !known; it->of++) {
		known = true;
		for (uint32_t i = 0; i < it->rounds; i++) {
			struct incast_round *r = &it->round[i];

			r->limit_gbps = it->of == INCAST_OF_PORT
						? w->body->player[r->receiver].port_gbps
					: it->of == INCAST_OF_ALONE ? w->receives[r->receiver]
								    : best_gbps;
			known &= r->limit_gbps > 0;
		}
	}
	it->of--;
}

static double reach(const struct incast_round *r)
{
	return r->sum_gbps / r->limit_gbps;
}

/* The rounds, and their medians. Returns -1 if there is no memory. */
static int measure_rounds(struct work *w, struct incast *it)
{
	double best_gbps = 0;

	it->round = malloc((w->flows / 2 + 1) * sizeof(*it->round));
	if (!it->round)
		return -1;
	for (size_t first = 0, end; first < w->flows; first = end) {
		end = end_of(w, first, false);
		it->round[it->rounds] = round_from(w, first, end);
		best_gbps = fmax(best_gbps, it->round[it->rounds++].sum_gbps);
	}
	set_limits(w, it, best_gbps);
	for (uint32_t i = 0; i < it->rounds; i++) {
		if (reach(&it->round[i]) < reach(&it->round[it->worst]))
			it->worst = i;
		if (it->round[i].jain < it->round[it->uneven].jain)
			it->uneven = i;
		w->some[i] = reach(&it->round[i]);
	}
	it->reach = middle(w->some, it->rounds);
	for (uint32_t i = 0; i < it->rounds; i++)
		w->some[i] = it->round[i].jain;
	it->jain = middle(w->some, it->rounds);
	for (uint32_t i = 0; i < it->rounds; i++)
		w->some[i] = it->round[i].senders;
	it->senders = (uint32_t)middle(w->some, it->rounds);
	return 0;
}

/* Whether ROUND had an incast: 1; none: 0; -1: half of its flows failed. */
static int has_incast(const struct work *w, uint32_t round)
{
	size_t low = 0, high = w->flows, tried = 0, measured = 0;

	while (low < high) {
		size_t at = low + (high - low) / 2;

		if (w->flow[at].round < round)
			low = at + 1;
		else
			high = at;
	}
	for (; low < w->flows && w->flow[low].round == round; low++) {
		tried++;
		measured += w->flow[low].gbps > 0;
	}
	return !tried ? 0 : 2 * measured > tried ? 1 : -1;
}

/* A victim's medians DURING the incast, or without it. All flows are there yet, failed ones, too.
 */
static struct incast_victim measure_victim(const struct work *w, bool during)
{
	const struct body *b = w->body;
	double *tails = w->some + b->victims_n;
	struct incast_victim is = {0};
	size_t tailed = 0;

	for (uint32_t i = 0; i < b->victims_n; i++) {
		const struct body_try *v = &b->victims[i];

		if (!(v->value > 0) || body_is_other(b, v->run) ||
		    has_incast(w, round_of(v->run, v->round)) != during)
			continue;
		w->some[is.rounds++] = v->value;
		if (v->p99 > 0)
			tails[tailed++] = v->p99;
	}
	is.p50_us = middle(w->some, is.rounds);
	is.p99_us = middle(tails, tailed);
	return is;
}

static int judge(struct work *w, struct incast *it)
{
	uint32_t senders = 0, suspects = 0;

	collect(w);
	it->during = measure_victim(w, true);
	it->without = measure_victim(w, false);
	take_flows(w);
	find_suspects(w, &senders, &suspects);
	if (measure_rounds(w, it))
		return -1;
	return suspects && 2 * suspects <= senders ? find_starving(w, it, senders) : 0;
}

int incast_find(struct incast *it, const struct body *b)
{
	size_t players = b->names.count, flows = b->count;
	struct work w = {.body = b};
	int failed = -1;

	*it = (struct incast){0};
	if (!b->incast || b->latency)
		return 0;
	w.flow = malloc((flows + 1) * sizeof(*w.flow));
	w.sends = calloc(2 * players + 1, sizeof(*w.sends));
	w.receives = w.sends + players;
	w.some = malloc((flows + players + 2 * (size_t)b->victims_n + 1) * sizeof(*w.some));
	w.starves = calloc(players + 1, sizeof(*w.starves));
	if (w.flow && w.sends && w.some && w.starves)
		failed = judge(&w, it);
	free(w.flow);
	free(w.sends);
	free(w.some);
	free(w.starves);
	return failed;
}

void incast_release(struct incast *it)
{
	free(it->round);
	free(it->starving);
	*it = (struct incast){0};
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums, shares and victims, from arrays of numbers. */
#include "incast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/beta.h"
#include "stat/series.h"
#include "limits.h"

/* A share, of which there may be many of a sender. */
struct share {
	uint32_t sender;
	double log;
};

struct work {
	const struct incast_input *in;
	struct incast_flow *flow; /* by round; at first all, then those that have a figure */
	struct share *share;      /* of each */
	size_t flows;
	double *some;  /* room for as many numbers */
	bool *starves; /* of each player */
};

static int by_round(const void *a, const void *b)
{
	const struct incast_flow *x = a, *y = b;

	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	if (x->receiver != y->receiver)
		return x->receiver < y->receiver ? -1 : 1;
	return (x->sender > y->sender) - (x->sender < y->sender);
}

static int by_sender(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return (x->sender > y->sender) - (x->sender < y->sender);
}

static int by_share(const void *a, const void *b)
{
	const struct incast_starving *x = a, *y = b;

	return (x->share > y->share) - (x->share < y->share);
}

static bool same_round(const struct incast_flow *a, const struct incast_flow *b)
{
	return a->round == b->round && a->receiver == b->receiver;
}

/* The end of the round that begins with flow FIRST. */
static size_t round_end(const struct work *w, size_t first)
{
	size_t end = first + 1;

	while (end < w->flows && same_round(&w->flow[end], &w->flow[first]))
		end++;
	return end;
}

/* The median; NAN of none. VALUE is sorted. */
static double middle(double *value, size_t n)
{
	series_sort(value, n);
	return n ? (value[(n - 1) / 2] + value[n / 2]) / 2 : NAN;
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

/* Keep the flows that have a figure, of rounds that have two at least. */
static void take_flows(struct work *w)
{
	size_t kept = 0, n = 0;

	for (size_t i = 0; i < w->flows; i++)
		if (w->flow[i].gbps > 0)
			w->flow[n++] = w->flow[i];
	w->flows = n;
	for (size_t first = 0, end; first < n; first = end) {
		end = round_end(w, first);
		for (size_t i = first; end - first > 1 && i < end; i++)
			w->flow[kept++] = w->flow[i];
	}
	w->flows = kept;
}

/* The shares of all flows, by sender. */
static void find_shares(struct work *w)
{
	for (size_t first = 0, end; first < w->flows; first = end) {
		end = round_end(w, first);
		for (size_t i = first; i < end; i++)
			w->share[i] = (struct share){
				.sender = w->flow[i].sender,
				.log = log(w->flow[i].gbps / others(w, first, end, i))};
	}
	qsort(w->share, w->flows, sizeof(*w->share), by_sender);
}

/* The end of the shares of the sender of share FIRST. */
static size_t sender_end(const struct work *w, size_t first)
{
	size_t end = first + 1;

	while (end < w->flows && w->share[end].sender == w->share[first].sender)
		end++;
	return end;
}

/* What the shares FIRST to END say of their sender. True if it may starve: in most of its rounds.
 */
static bool may_starve(struct work *w, size_t first, size_t end, struct incast_starving *to)
{
	size_t n = end - first;

	*to = (struct incast_starving){.sender = w->share[first].sender, .rounds = (uint32_t)n};
	for (size_t i = first; i < end; i++) {
		w->some[i - first] = w->share[i].log;
		to->starved += w->share[i].log < log(INCAST_STARVES);
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
		if (!w->starves[w->share[i].sender]) {
			n++;
			small += w->share[i].log < log(INCAST_STARVES);
		}
	return (small + 1.) / (n + 2.);
}

/* What SENDER sends alone, as a part of what the others do. */
static double alone_of(struct work *w, uint32_t sender)
{
	const double *gbps = w->in->sends_gbps;
	size_t n = 0;

	for (uint32_t i = 0; gbps && i < w->in->players; i++)
		if (i != sender && gbps[i] > 0)
			w->some[n++] = gbps[i];
	return gbps && gbps[sender] > 0 ? gbps[sender] / middle(w->some, n) : NAN;
}

/*
 * Who starves. First all that may, whose flows are then not what others are compared with; then
 * those of them that do so more often than by chance: for any of all senders, which is the tail of
 * the binomial distribution times their number.
 */
static int find_starving(struct work *w, struct incast *it)
{
	uint32_t senders = 0, suspects = 0;
	struct incast_starving one;
	double p;

	find_shares(w);
	for (size_t first = 0, end; first < w->flows; first = end, senders++) {
		end = sender_end(w, first);
		w->starves[w->share[first].sender] = may_starve(w, first, end, &one);
		suspects += w->starves[w->share[first].sender];
	}
	if (!suspects || 2 * suspects > senders)
		return 0;
	find_shares(w);
	p = chance(w);
	it->starving = malloc(senders * sizeof(*it->starving));
	if (!it->starving)
		return -1;
	for (size_t first = 0, end; first < w->flows; first = end) {
		end = sender_end(w, first);
		if (!may_starve(w, first, end, &one) ||
		    senders * beta_incomplete(one.starved, one.rounds - one.starved + 1, p) >
			    INCAST_RISK)
			continue;
		one.alone = alone_of(w, one.sender);
		it->starving[it->starved++] = one;
	}
	qsort(it->starving, it->starved, sizeof(*it->starving), by_share);
	return 0;
}

/* Fill TO with the round of the flows FIRST to END, but for its limit. */
static void measure_round(struct work *w, size_t first, size_t end, struct incast_round *to)
{
	double squares = 0;

	*to = (struct incast_round){.round = w->flow[first].round,
				    .receiver = w->flow[first].receiver,
				    .senders = (uint32_t)(end - first),
				    .least_share = INFINITY};
	for (size_t i = first; i < end; i++) {
		double gbps = w->flow[i].gbps, share = gbps / others(w, first, end, i);

		to->sum_gbps += gbps;
		squares += gbps * gbps;
		if (share < to->least_share) {
			to->least_share = share;
			to->least = w->flow[i].sender;
		}
	}
	to->jain = to->sum_gbps * to->sum_gbps / (to->senders * squares);
}

/* Set the limits of all rounds. BEST_GBPS: the best sum. */
static enum incast_of set_limits(const struct incast_input *in, struct incast *it, double best_gbps)
{
	const double *const known[] = {in->port_gbps, in->receives_gbps};

	for (enum incast_of of = 0; of < INCAST_OF_BEST; of++) {
		uint32_t set = 0;

		while (known[of] && set < it->rounds && known[of][it->round[set].receiver] > 0) {
			it->round[set].limit_gbps = known[of][it->round[set].receiver];
			set++;
		}
		if (set == it->rounds)
			return of;
	}
	for (uint32_t i = 0; i < it->rounds; i++)
		it->round[i].limit_gbps = best_gbps;
	return INCAST_OF_BEST;
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
		struct incast_round *r = &it->round[it->rounds++];

		end = round_end(w, first);
		measure_round(w, first, end, r);
		best_gbps = fmax(best_gbps, r->sum_gbps);
	}
	it->of = set_limits(w->in, it, best_gbps);
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

/* The first flow of ROUND or a later one. */
static size_t find_round(const struct work *w, uint32_t round)
{
	size_t low = 0, high = w->flows;

	while (low < high) {
		size_t at = low + (high - low) / 2;

		if (w->flow[at].round < round)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

/* Whether PROBE was during an incast: 1, or without one: 0; -1: half of its flows failed. */
static int is_during(const struct work *w, const struct incast_probe *probe)
{
	size_t tried = 0, measured = 0;

	for (size_t i = find_round(w, probe->round);
	     i < w->flows && w->flow[i].round == probe->round; i++) {
		tried++;
		measured += w->flow[i].gbps > 0;
	}
	return !tried ? 0 : 2 * measured > tried ? 1 : -1;
}

/* The victim's medians DURING the incast, or without it, into P50_US and P99_US. Returns its
 * rounds. SOME has room for twice the probes. */
static uint32_t measure_victim(const struct work *w, int during, double *some, double *p50_us,
			       double *p99_us)
{
	double *tails = some + w->in->probes;
	size_t n = 0, tailed = 0;

	for (size_t i = 0; i < w->in->probes; i++) {
		const struct incast_probe *probe = &w->in->probe[i];

		if (!(probe->p50_us > 0) || is_during(w, probe) != during)
			continue;
		some[n++] = probe->p50_us;
		if (probe->p99_us > 0)
			tails[tailed++] = probe->p99_us;
	}
	*p50_us = middle(some, n);
	*p99_us = middle(tails, tailed);
	return (uint32_t)n;
}

/* All flows are there yet, failed ones, too. Returns -1 if there is no memory. */
static int find_victim(const struct work *w, struct incast_victim *v)
{
	double *some = malloc((2 * w->in->probes + 1) * sizeof(*some));

	if (!some)
		return -1;
	v->during = measure_victim(w, 1, some, &v->p50_during_us, &v->p99_during_us);
	v->without = measure_victim(w, 0, some, &v->p50_without_us, &v->p99_without_us);
	free(some);
	return 0;
}

int incast_judge(struct incast *it, const struct incast_input *in)
{
	struct work w = {.in = in, .flows = in->flows};
	int failed = -1;

	*it = (struct incast){0};
	w.flow = malloc((in->flows + 1) * sizeof(*w.flow));
	w.share = malloc((in->flows + 1) * sizeof(*w.share));
	w.some = malloc((in->flows + in->players + 1) * sizeof(*w.some));
	w.starves = calloc((size_t)in->players + 1, sizeof(*w.starves));
	if (!w.flow || !w.share || !w.some || !w.starves)
		goto out;
	memcpy(w.flow, in->flow, in->flows * sizeof(*w.flow));
	qsort(w.flow, w.flows, sizeof(*w.flow), by_round);
	if (find_victim(&w, &it->victim))
		goto out;
	take_flows(&w);
	if (find_starving(&w, it) || measure_rounds(&w, it))
		goto out;
	failed = 0;
out:
	free(w.flow);
	free(w.share);
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

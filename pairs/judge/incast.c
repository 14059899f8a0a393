// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "incast.h"

#include <math.h>
#include <stdlib.h>

#include "ranks.h"

/* The round of N flows, which have the numbers at FLOW. */
static struct incast_round round_of(const struct evidence *e, const uint32_t *flow, uint32_t n)
{
	const struct observation *first = &e->of[*flow];
	struct incast_round r = {.round = (uint32_t)first->run << 16 | first->slot,
				 .receiver = first->to,
				 .senders = n,
				 .limit_gbps = (double)e->player[first->to].port_gbps};
	double squares = 0, least = INFINITY;

	for (uint32_t i = 0; i < n; i++) {
		double gbps = (double)e->of[flow[i]].value;

		r.sum_gbps += gbps;
		squares += gbps * gbps;
		if (gbps < least) {
			least = gbps;
			r.least = e->of[flow[i]].from;
		}
	}
	r.jain = r.sum_gbps * r.sum_gbps / (n * squares);
	r.least_share = least * n / r.sum_gbps;
	return r;
}

/* Collect the rounds: of what clients sent to one player, if two did. */
static void collect(struct incast *it, const struct evidence *e, uint32_t *flow)
{
	uint32_t flows = 0;

	for (uint32_t i = 0; i < e->count; i++)
		if (e->of[i].part == PART_LOADED && e->of[i].marks & MARK_FROM_CLIENT &&
		    e->of[i].value > 0)
			flow[flows++] = i;
	for (uint32_t first = 0, end; first < flows; first = end) {
		const struct observation *of = &e->of[flow[first]]; /* they are in that order */

		for (end = first + 1; end < flows && e->of[flow[end]].run == of->run &&
				      e->of[flow[end]].slot == of->slot &&
				      e->of[flow[end]].to == of->to;)
			end++;
		if (end - first > 1)
			it->round[it->rounds++] = round_of(e, &flow[first], end - first);
	}
}

static double reach_of(const struct incast_round *r)
{
	return r->sum_gbps / r->limit_gbps;
}

/* Compare the sums with the ports, if all are known; ROOM: for three numbers of each round. */
static void compare(struct incast *it, double *room)
{
	struct figures reach = {room, 0}, jain = {room + it->rounds, 0};
	struct figures senders = {room + 2 * (size_t)it->rounds, 0};
	double best = 0;

	it->of_ports = true;
	for (uint32_t i = 0; i < it->rounds; i++) {
		it->of_ports &= it->round[i].limit_gbps > 0;
		best = fmax(best, it->round[i].sum_gbps);
	}
	for (uint32_t i = 0; i < it->rounds; i++) {
		struct incast_round *r = &it->round[i];

		r->limit_gbps = it->of_ports ? r->limit_gbps : best;
		if (reach_of(r) < reach_of(&it->round[it->worst]))
			it->worst = i;
		if (r->jain < it->round[it->uneven].jain)
			it->uneven = i;
		reach.of[reach.n++] = reach_of(r);
		jain.of[jain.n++] = r->jain;
		senders.of[senders.n++] = r->senders;
	}
	it->reach = figures_median(&reach);
	it->jain = figures_median(&jain);
	it->senders = it->rounds ? (uint32_t)figures_median(&senders) : 0;
}

int incast_find(struct incast *it, const struct evidence *e)
{
	size_t flows = (size_t)e->count + 1;
	uint32_t *flow;
	double *room;

	*it = (struct incast){0};
	if (!e->incast || e->latency)
		return 0;
	flow = malloc(flows * sizeof(*flow));
	room = malloc(3 * flows * sizeof(*room));
	it->round = malloc(flows * sizeof(*it->round));
	if (flow && room && it->round) {
		collect(it, e, flow);
		compare(it, room);
	}
	free(flow);
	free(room);
	return flow && room && it->round ? 0 : -1;
}

void incast_release(struct incast *it)
{
	free(it->round);
	*it = (struct incast){0};
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clusters_sweep: the runs of a sweep over a made cluster: the product's own schedule, then the plans
 * of the judge, and all that its hosts would write, as evidence that the judge takes.
 */
#ifndef RDMARK_TESTS_UNIT_CLUSTERS_SWEEP_H
#define RDMARK_TESTS_UNIT_CLUSTERS_SWEEP_H

#include <stdio.h>
#include <stdlib.h>

#include "../../pairs/judge/evidence.h"
#include "../../pairs/schedule.h"
#include "clusters.h"

#define SWEEP_RUNS 7

/* Who meets in a slot; the first is the client. */
struct sweep_pair {
	uint32_t client, server; /* players */
	enum part part;
};

struct sweep {
	struct cluster *c;
	struct observation *of; /* of all runs; FROM and TO are the cluster's players */
	uint32_t count, room;
	uint32_t run, rounds[SWEEP_RUNS];             /* which run it is, and the rounds of each */
	uint32_t missed[SWEEP_RUNS][CLUSTER_PLAYERS]; /* slots, of each host */
	struct schedule_turn turns[CLUSTER_PLAYERS];
	struct network_flow flow[CLUSTER_PLAYERS];
	struct sweep_pair pair[CLUSTER_PLAYERS]; /* of a slot */
	uint32_t misses_in; /* the round that the host with this trouble misses */
};

static inline void sweep_add(struct sweep *s, const struct observation *t)
{
	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 1024;
		s->of = realloc(s->of, s->room * sizeof(*s->of));
		assert_non_null(s->of);
	}
	s->of[s->count++] = *t;
}

/* True if the process of HOST did not run in ROUND. */
static inline bool sweep_late(const struct sweep *s, uint32_t host, uint32_t round)
{
	return !s->run && round < s->c->late_rounds && s->c->late[host];
}

/* Why the run of T has no figure, if it has none. Sets its cause and blame. */
static inline bool sweep_fails(struct sweep *s, struct observation *t)
{
	struct cluster *c = s->c;
	uint32_t from = t->from / c->rails, to = t->to / c->rails;
	bool by_from = t->marks & MARK_FROM_CLIENT;
	uint32_t client = by_from ? from : to, server = by_from ? to : from;
	double fails = c->noise.fails;

	if (c->trouble == TROUBLE_FAILS && (from == c->host || to == c->host))
		fails = .3;
	if (sweep_late(s, client, t->slot) || (c->trouble == TROUBLE_MISSES && !s->run &&
						client == c->host && t->slot == s->misses_in)) {
		t->cause = FAILED_MISSED;
		t->marks |= by_from ? MARK_FROM_BLAMED : MARK_TO_BLAMED;
		s->missed[s->run][client] += by_from && t->from % c->rails == 0;
	} else if (sweep_late(s, server, t->slot)) {
		t->cause = FAILED_CONNECT;
		t->marks |= by_from ? MARK_TO_BLAMED : MARK_FROM_BLAMED;
	} else if (fails > 0 && cluster_odds(c, fails))
		t->cause = FAILED_OTHER;
	if (t->cause)
		t->value = NAN;
	return t->cause;
}

/* Let the judge know whether threads HAD their CPUs, as their clock counts it. */
static inline void sweep_cpu(struct observation *t, const double had[2])
{
	if (getenv("RDMARK_CLUSTERS_NO_CPU"))
		return;
	t->marks |= round(had[0] * 1000) / 10 < 98 ? MARK_LACKED : 0;
	t->marks |= round(had[1] * 1000) / 10 < 98 ? MARK_LACKED : 0;
}

/* Fill in what the run of T reaches, which the network gave RATE. */
static inline void sweep_measure(struct sweep *s, struct observation *t, double rate)
{
	struct cluster *c = s->c;
	double noise = cluster_noise(c, t->from, t->to);
	double had[2] = {cluster_cpu(c, t->from / c->rails), 1};

	if (c->both_spin)
		had[1] = cluster_cpu(c, t->to / c->rails);

	if (c->latency) {
		t->value =
			(float)(cluster_latency(c, t->from / c->rails, t->to / c->rails) / noise);
		t->value /= (float)cluster_cpu_leaves(c, had[0] * had[1]);
		(void)cluster_between(c, 1.1, 1.6); /* so that each seed stays the cluster that it was */
		sweep_cpu(t, had);
		return;
	}
	if (!s->run)
		noise *= 1 - c->drift * t->slot / c->rounds;
	t->value = (float)(rate * noise * cluster_cpu_leaves(c, had[0] * had[1]));
	sweep_cpu(t, had);
}

/* The runs of the COUNT pairs of ROUND in one direction; BACK: the server sends. */
static inline void sweep_part(struct sweep *s, uint32_t round, uint32_t count, bool back)
{
	struct cluster *c = s->c;
	uint32_t first = s->count, flows = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct sweep_pair *p = &s->pair[i];
		struct observation t = {.from = back ? p->server : p->client,
					.to = back ? p->client : p->server,
					.text = NAMES_NONE,
					.value = NAN,
					.clock_s = NAN,
					.run = (uint16_t)s->run,
					.slot = (uint16_t)round,
					.part = (uint8_t)p->part,
					.marks = back ? 0 : MARK_FROM_CLIENT};

		if (!sweep_fails(s, &t)) {
			s->flow[flows].from = t.from;
			s->flow[flows].to = t.to;
			cluster_flow(c, &s->flow[flows++], round, s->run > 0);
		}
		sweep_add(s, &t);
	}
	network_share(&c->net, s->flow, flows);
	for (uint32_t i = first, at = 0; i < s->count; i++)
		if (!s->of[i].cause)
			sweep_measure(s, &s->of[i], s->flow[at++].rate);
}

static inline void sweep_slot(struct sweep *s, uint32_t round, uint32_t count)
{
	for (int back = 0; back < (s->c->latency ? 1 : 2); back++)
		sweep_part(s, round, count, back);
}

/* A round of the schedule, rail after rail. */
static inline void sweep_round(struct sweep *s, uint32_t round)
{
	uint32_t rails = s->c->rails;

	for (uint32_t rail = 0; rail < rails; rail++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < s->c->hosts; i++)
			if (s->turns[i].client)
				s->pair[n++] = (struct sweep_pair){
					i * rails + rail, s->turns[i].peer * rails + rail, PART_LOADED};
		sweep_slot(s, round, n);
	}
}

/*
 * The turns of a round. Who is the client says nothing of a pair: here the lower one is, so that each
 * seed is the same cluster whatever the schedule says of that.
 */
static inline void sweep_turns(struct sweep *s, const struct schedule *all, uint32_t round)
{
	schedule_round(all, round, s->turns);
	for (uint32_t i = 0; i < s->c->hosts; i++)
		s->turns[i].client = s->turns[i].peer != SCHEDULE_NOBODY && i < s->turns[i].peer;
}

/* A round in which the host with a fault is the client; otherwise another host has it. */
static inline void sweep_choose_miss(struct sweep *s, struct schedule *all)
{
	for (;;) {
		for (uint32_t k = 0, r = cluster_below(s->c, all->rounds); k < all->rounds; k++) {
			s->misses_in = (r + k) % all->rounds;
			sweep_turns(s, all, s->misses_in);
			if (s->turns[s->c->host].client)
				return;
		}
		s->c->host = cluster_below(s->c, s->c->hosts);
	}
}

/* What the runs have on average of what the adapters of both ends can. */
static inline double sweep_reach(const struct sweep *s)
{
	const struct cluster *c = s->c;
	double sum = 0, n = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct observation *t = &s->of[i];

		if (t->cause || t->run || isnan(t->value))
			continue;
		sum += (double)t->value / CLUSTER_RATE /
		       fmin(c->port[t->from / c->rails], c->port[t->to / c->rails]);
		n++;
	}
	return sum / n;
}

/* The first run: all pairs of a schedule, many at once. */
static inline void sweep_first(struct sweep *s)
{
	struct cluster *c = s->c;
	struct schedule all;
	struct fault f = {0};

	assert_int_equal(schedule_init(&all, c->quick ? SCHEDULE_QUICK : SCHEDULE_FULL, c->hosts, 0,
				       draw(&c->x) % 1000, &f),
			 0);
	c->rounds = s->rounds[0] = all.rounds;
	if (c->trouble == TROUBLE_MISSES)
		sweep_choose_miss(s, &all);
	for (uint32_t r = 0; r < all.rounds; r++) {
		sweep_turns(s, &all, r);
		sweep_round(s, r);
	}
	schedule_release(&all);
}

/* The player NAME, as sweep_name() makes it. */
static inline uint32_t sweep_player(const struct cluster *c, const char *name)
{
	unsigned host = 0, rail = 0;

	assert_true(sscanf(name, "n%u/mlx5_%u", &host, &rail) >= 1 && host);
	return (host - 1) * c->rails + rail;
}

/* Measure what PLAN says; returns how many slots it had. */
static inline uint32_t sweep_plan(struct sweep *s, char *plan)
{
	uint32_t slot = 0, n = 0, last = 0;
	char *rest = NULL, from[32], to[32], part[16];

	assert_true(++s->run < SWEEP_RUNS);
	for (char *line = strtok_r(plan, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		assert_int_equal(sscanf(line, "%u %31s %31s %15s", &slot, from, to, part), 4);
		if (slot != last) {
			assert_true(slot > last);
			sweep_slot(s, last, n);
			n = 0;
			last = slot;
		}
		s->pair[n++] = (struct sweep_pair){sweep_player(s->c, from), sweep_player(s->c, to),
						   *part == 's'   ? PART_SCREEN
						   : *part == 'b' ? PART_BLOCK
						   : *part == 't' ? PART_TEST
								  : PART_CONTROL};
	}
	sweep_slot(s, last, n);
	return s->rounds[s->run] = slot + 1;
}

/* The host's name, and a rail's; "" without rails. */
struct sweep_name {
	char host[16], rail[16];
};

static inline struct sweep_name sweep_name(const struct cluster *c, uint32_t player)
{
	struct sweep_name n = {0};

	snprintf(n.host, sizeof(n.host), "n%u", player / c->rails + 1);
	if (c->rails > 1)
		snprintf(n.rail, sizeof(n.rail), "mlx5_%u", player % c->rails);
	return n;
}

/* Make evidence of all that was measured so far; the judge completes it. */
static inline void sweep_evidence(const struct sweep *s, struct evidence *e)
{
	const struct cluster *c = s->c;
	uint32_t players = c->hosts * c->rails;

	evidence_init(e);
	e->latency = c->latency;
	e->expected = players;
	names_put(&e->whats, c->latency ? "us write_lat -n 5000" : "gbps write_bw -D 0.5");
	for (uint32_t i = 0; i < players; i++) {
		struct sweep_name n = sweep_name(c, i);

		assert_int_equal(evidence_player(e, n.host, n.rail), i);
	}
	for (uint32_t run = 0; run <= s->run; run++) {
		char name[8];

		snprintf(name, sizeof(name), "%u", run);
		assert_int_equal(evidence_run(e, name), run);
		e->run[run].planned = s->rounds[run];
		e->run[run].what = 0;
		e->slot_s = 2;
		e->run[run].is_plan = run > 0;
		for (uint32_t i = 0; i < players; i++) {
			if (c->with_ports)
				e->player[i].port_gbps = (float)c->port[i / c->rails];
			evidence_came(e, i, run);
			evidence_done(e, i, run, s->rounds[run], s->missed[run][i / c->rails]);
		}
	}
	for (uint32_t i = 0; i < s->count; i++)
		evidence_add(e, &s->of[i]);
}

static inline void sweep_release(struct sweep *s)
{
	free(s->of);
	s->of = NULL;
}

#endif

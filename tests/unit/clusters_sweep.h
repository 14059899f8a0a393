/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clusters_sweep: the runs of a sweep over a made cluster: the product's own schedules, and the
 * lines that its hosts would write, as a body that the judge takes.
 */
#ifndef RDMARK_TESTS_UNIT_CLUSTERS_SWEEP_H
#define RDMARK_TESTS_UNIT_CLUSTERS_SWEEP_H

#include <stdio.h>
#include <stdlib.h>

#include "../../pairs/judge/body.h"
#include "../../pairs/schedule.h"
#include "clusters.h"

struct sweep {
	struct cluster *c;
	struct body_try *tries; /* of all runs; FROM and TO are the cluster's players */
	uint32_t count, room;
	uint32_t run, rounds[2];             /* which run it is, and the rounds of each */
	uint32_t missed[2][CLUSTER_PLAYERS]; /* slots, of each host */
	struct schedule_turn turns[CLUSTER_PLAYERS];
	struct network_flow flow[CLUSTER_PLAYERS];
	uint32_t misses_in; /* the round that the host with this trouble misses */
};

static inline void sweep_add(struct sweep *s, const struct body_try *t)
{
	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 1024;
		s->tries = realloc(s->tries, s->room * sizeof(*s->tries));
		assert_non_null(s->tries);
	}
	s->tries[s->count++] = *t;
}

/* True if the process of HOST did not run in ROUND. */
static inline bool sweep_late(const struct sweep *s, uint32_t host, uint32_t round)
{
	return !s->run && round < s->c->late_rounds && s->c->late[host];
}

/* Why the run of T has no figure, if it has none. Sets its cause and blame. */
static inline bool sweep_fails(struct sweep *s, struct body_try *t)
{
	struct cluster *c = s->c;
	uint32_t from = t->from / c->rails, to = t->to / c->rails;
	uint32_t client = t->client_is_from ? from : to, server = t->client_is_from ? to : from;
	double fails = c->noise.fails;

	if (c->trouble == TROUBLE_FAILS && (from == c->host || to == c->host))
		fails = .3;
	if (sweep_late(s, client, t->round) || (c->trouble == TROUBLE_MISSES && !s->run &&
						client == c->host && t->round == s->misses_in)) {
		t->cause = BODY_MISSED;
		t->blame = t->client_is_from ? 1 : 2;
		s->missed[s->run][client] += t->client_is_from && t->from % c->rails == 0;
	} else if (sweep_late(s, server, t->round)) {
		t->cause = BODY_CONNECT;
		t->blame = t->client_is_from ? 2 : 1;
	} else if (fails > 0 && cluster_odds(c, fails))
		t->cause = BODY_LOST;
	return t->cause;
}

/* Let the judge know what threads HAD of their CPUs, as their clock counts it. */
static inline void sweep_cpu(struct body_try *t, const double had[2])
{
	const double percent[] = {round(had[0] * 1000) / 10, round(had[1] * 1000) / 10};

	if (!getenv("RDMARK_CLUSTERS_NO_CPU"))
		body_cpu(t, percent);
}

/* Fill in what the run of T reaches, which the network gave RATE. */
static inline void sweep_measure(struct sweep *s, struct body_try *t, double rate)
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
		t->p99 = t->value * (float)cluster_between(c, 1.1, 1.6);
		sweep_cpu(t, had);
		return;
	}
	if (!s->run)
		noise *= 1 - c->drift * t->round / c->rounds;
	t->value = (float)(rate * noise * cluster_cpu_leaves(c, had[0] * had[1]));
	sweep_cpu(t, had);
}

/* The runs of RAIL in one direction of ROUND; BACK: the server sends. */
static inline void sweep_part(struct sweep *s, uint32_t round, uint32_t rail, bool back)
{
	struct cluster *c = s->c;
	uint32_t first = s->count, flows = 0;

	for (uint32_t i = 0; i < c->hosts; i++) {
		uint32_t client = i * c->rails + rail;
		uint32_t server = s->turns[i].peer * c->rails + rail;
		struct body_try t = {.from = back ? server : client,
				     .to = back ? client : server,
				     .text = BODY_NONE,
				     .value = NAN,
				     .p99 = NAN,
				     .clock_s = NAN,
				     .run = (uint16_t)s->run,
				     .round = (uint16_t)round,
				     .alone = s->run > 0,
				     .client_is_from = !back};

		if (!s->turns[i].client)
			continue;
		if (!sweep_fails(s, &t)) {
			s->flow[flows].from = t.from;
			s->flow[flows].to = t.to;
			cluster_flow(c, &s->flow[flows++], round, s->run > 0);
		}
		sweep_add(s, &t);
	}
	network_share(&c->net, s->flow, flows);
	for (uint32_t i = first, at = 0; i < s->count; i++)
		if (!s->tries[i].cause)
			sweep_measure(s, &s->tries[i], s->flow[at++].rate);
}

static inline void sweep_round(struct sweep *s, uint32_t round)
{
	for (uint32_t rail = 0; rail < s->c->rails; rail++)
		for (int back = 0; back < (s->c->latency ? 1 : 2); back++)
			sweep_part(s, round, rail, back);
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
		const struct body_try *t = &s->tries[i];

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

/* The second run: the pair of hosts A and B, alone, in the next round of its own. */
static inline void sweep_alone(struct sweep *s, uint32_t a, uint32_t b)
{
	s->run = 1;
	memset(s->turns, 0, s->c->hosts * sizeof(*s->turns));
	s->turns[a < b ? a : b] = (struct schedule_turn){.peer = a < b ? b : a, .client = true};
	sweep_round(s, s->rounds[1]++);
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

/* What a player says of itself at the start and at the end of RUN. */
static inline void sweep_say(const struct sweep *s, FILE *to, uint32_t player, uint32_t run)
{
	const struct cluster *c = s->c;
	struct sweep_name n = sweep_name(c, player);
	char who[200];

	snprintf(who, sizeof(who), "\"run\":\"%u\",\"player\":%u,\"host\":\"%s\"%s%s%s", run,
		 player, n.host, *n.rail ? ",\"rail\":\"" : "", n.rail, *n.rail ? "\"" : "");
	fprintf(to,
		"{\"kind\":\"player\",%s,\"rdmark_pairs\":1,\"players\":%u,\"hosts\":%u,"
		"\"schedule\":\"%s\",\"seed\":1,\"rounds\":%u,\"slot_s\":2.0,\"alone\":%s,"
		"\"both_ways\":%s,\"program\":\"%s\",\"options\":[\"-D\",\"0.5\"],\"unit\":\"%s\"",
		who, c->hosts * c->rails, c->hosts, c->quick && !run ? "quick" : "full",
		s->rounds[run], run ? "true" : "false", c->latency ? "false" : "true",
		c->latency ? "write_lat" : "write_bw", c->latency ? "us" : "gbps");
	if (c->with_ports)
		fprintf(to, ",\"port_gbps\":%.9g", c->port[player / c->rails]);
	fprintf(to, "}\n{\"kind\":\"done\",%s,\"rounds\":%u,\"missed\":%u,\"server_restarts\":0}\n",
		who, s->rounds[run], s->missed[run][player / c->rails]);
}

/* Make a body of all that was measured so far; the judge settles it. */
static inline void sweep_body(const struct sweep *s, struct body *b)
{
	uint32_t players = s->c->hosts * s->c->rails;
	char *text = NULL;
	size_t bytes = 0;
	FILE *lines = open_memstream(&text, &bytes);

	assert_non_null(lines);
	body_init(b);
	for (uint32_t i = 0; i < players; i++) {
		struct sweep_name n = sweep_name(s->c, i);

		assert_int_equal(body_player(b, n.host, n.rail), i);
		for (uint32_t run = 0; run <= s->run; run++)
			sweep_say(s, lines, i, run);
	}
	fclose(lines);
	lines = fmemopen(text, bytes, "r");
	assert_non_null(lines);
	assert_int_equal(body_read(b, lines), 0);
	fclose(lines);
	free(text);
	for (uint32_t i = 0; i < s->count; i++)
		assert_int_equal(body_add(b, &s->tries[i]), 0);
}

static inline void sweep_release(struct sweep *s)
{
	free(s->tries);
	s->tries = NULL;
}

#endif

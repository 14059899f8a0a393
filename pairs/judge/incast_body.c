// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The incast of a body, and what is said of it. */
#include <math.h>
#include <stdlib.h>

#include "incast.h"
#include "wire/fields.h"
#include "limits.h"

static uint32_t round_of(uint16_t run, uint16_t round)
{
	return (uint32_t)run << 16 | round;
}

/* Copy the victims of B, but those of another experiment, to PROBE. Returns how many. */
static size_t find_probes(const struct body *b, struct incast_probe *probe)
{
	size_t n = 0;

	for (uint32_t i = 0; i < b->victims_n; i++) {
		const struct body_victim *v = &b->victims[i];
		uint8_t what = b->run[v->run].what;

		if (what == BODY_NO_WHAT || what == 0)
			probe[n++] = (struct incast_probe){.round = round_of(v->run, v->round),
							   .p50_us = v->p50_us,
							   .p99_us = v->p99_us};
	}
	return n;
}

/* Copy what clients of B sent among others to FLOW, and the best that was sent alone to SENDS and
 * RECEIVES, of each player. Returns the flows. */
static size_t find_flows(const struct body *b, struct incast_flow *flow, double *sends,
			 double *receives)
{
	size_t n = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		const struct body_try *t = &b->tries[i];

		if (t->alone && t->value > 0) {
			receives[t->to] = fmax(receives[t->to], t->value);
			sends[t->from] = fmax(sends[t->from], t->value);
		} else if (!t->alone && t->client_is_from) {
			flow[n++] = (struct incast_flow){.round = round_of(t->run, t->round),
							 .receiver = t->to,
							 .sender = t->from,
							 .gbps = t->value};
		}
	}
	return n;
}

static int judge_body(struct incast *it, const struct body *b)
{
	size_t players = b->names.count;
	struct incast_flow *flow = malloc(((size_t)b->count + 1) * sizeof(*flow));
	struct incast_probe *probe = malloc(((size_t)b->victims_n + 1) * sizeof(*probe));
	double *gbps = calloc(3 * players + 1, sizeof(*gbps));
	struct incast_input in = {.flow = flow, .probe = probe, .players = b->names.count};
	int failed = -1;

	if (flow && probe && gbps) {
		for (size_t i = 0; i < players; i++)
			gbps[i] = b->player[i].port_gbps;
		in.port_gbps = gbps;
		in.sends_gbps = gbps + players;
		in.receives_gbps = gbps + 2 * players;
		in.flows = find_flows(b, flow, gbps + players, gbps + 2 * players);
		in.probes = find_probes(b, probe);
		failed = incast_judge(it, &in);
	}
	free(flow);
	free(probe);
	free(gbps);
	return failed;
}

int incast_of_body(struct incast *it, const struct body *b)
{
	*it = (struct incast){0};
	return b->incast && !b->latency ? judge_body(it, b) : 0;
}

int incast_suspects(struct suspects *to, const struct incast *it)
{
	for (uint32_t i = 0; i < it->starved; i++) {
		const struct incast_starving *s = &it->starving[i];
		struct suspect one = {.kind = SUSPECT_STARVES,
				      .proof = isnan(s->alone)                ? SUSPECT_ONCE
					       : s->alone < INCAST_SLOW_ALONE ? SUSPECT_CONFIRMED
									      : SUSPECT_LOAD,
				      .sends = true,
				      .a = s->sender,
				      .b = SUSPECT_NONE,
				      .value = s->share,
				      .normal = 1,
				      .partners = s->rounds,
				      .bad = s->starved,
				      .text = SUSPECT_NONE};

		if (suspects_add(to, &one))
			return -1;
	}
	suspects_sort(to);
	return 0;
}

/* "victim: p99 31 us during the incast, 4.1 us without it": the median where p99 is not known. */
static void print_victim(FILE *to, const struct incast_victim *v)
{
	bool tails = !isnan(v->p99_during_us) && !isnan(v->p99_without_us);
	double during = tails ? v->p99_during_us : v->p50_during_us;
	double without = tails ? v->p99_without_us : v->p50_without_us;
	const char *what = tails ? "p99" : "median";

	if (!v->during && !v->without)
		return;
	fprintf(to, "victim: ");
	if (v->during)
		fprintf(to, "%s %.3g us during the incast", what, during);
	if (v->without)
		fprintf(to, "%s%s%.3g us without it", v->during ? ", " : what, v->during ? "" : " ",
			without);
	fprintf(to, "\n");
}

void incast_print(FILE *to, const struct incast *it, const struct body *b)
{
	static const char *const of[] = {"the receiver's port", "what it receives alone",
					 "the best sum"};
	const struct incast_round *worst, *uneven;

	if (!it->rounds)
		return;
	worst = &it->round[it->worst];
	uneven = &it->round[it->uneven];
	fprintf(to,
		"incast: %u senders to one reach %.0f %% of %s; least: %.3g of %.3g Gb/s at %s\n",
		it->senders, 100 * it->reach, of[it->of], worst->sum_gbps, worst->limit_gbps,
		b->names.text[worst->receiver]);
	fprintf(to, "  Jain's index %.2f; least: %.2f at %s, where %s sends %.2f of its share\n",
		it->jain, uneven->jain, b->names.text[uneven->receiver],
		b->names.text[uneven->least], uneven->least_share);
	print_victim(to, &it->victim);
}

static json_t *round_json(const struct incast_round *r, const struct body *b)
{
	return json_pack("{s:I, s:s, s:I, s:f, s:f, s:f, s:s, s:f}", "round",
			 (json_int_t)(r->round & 0xffff), "receiver", b->names.text[r->receiver],
			 "senders", (json_int_t)r->senders, "sum", r->sum_gbps, "limit",
			 r->limit_gbps, "jain", r->jain, "least", b->names.text[r->least],
			 "least_share", r->least_share);
}

static json_t *victim_json(const struct incast_victim *v)
{
	if (!v->during && !v->without)
		return json_null();
	return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o}", "rounds_during", (json_int_t)v->during,
			 "rounds_without", (json_int_t)v->without, "p50_during_us",
			 json_number_or_null(v->p50_during_us), "p50_without_us",
			 json_number_or_null(v->p50_without_us), "p99_during_us",
			 json_number_or_null(v->p99_during_us), "p99_without_us",
			 json_number_or_null(v->p99_without_us));
}

json_t *incast_json(const struct incast *it, const struct body *b)
{
	static const char *const of[] = {"port", "alone", "best"};
	json_t *rounds;

	if (!it->rounds)
		return json_null();
	rounds = json_array();
	for (uint32_t i = 0; i < it->rounds; i++)
		json_array_append_new(rounds, round_json(&it->round[i], b));
	return json_pack("{s:I, s:f, s:s, s:f, s:o, s:o}", "senders", (json_int_t)it->senders,
			 "reach", it->reach, "reach_of", of[it->of], "jain", it->jain, "victim",
			 victim_json(&it->victim), "rounds", rounds);
}

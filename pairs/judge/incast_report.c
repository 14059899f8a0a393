// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said of an incast. */
#include <math.h>

#include "incast.h"
#include "proto/fields.h"
#include "limits.h"

void incast_suspects(struct suspects *to, const struct incast *it)
{
	for (uint32_t i = 0; i < it->starved; i++) {
		const struct incast_starving *is = &it->starving[i];
		struct suspect s = suspect_of(SUSPECT_STARVES, is->sender);

		s.proof = isnan(is->alone)                ? SUSPECT_ONCE
			  : is->alone < INCAST_SLOW_ALONE ? SUSPECT_CONFIRMED
							  : SUSPECT_LOAD;
		s.sends = true;
		s.value = is->share;
		s.normal = 1;
		s.partners = is->rounds;
		s.bad = is->starved;
		suspects_add(to, &s);
	}
	suspects_sort(to);
}

/* "victim: p99 31 us during the incast, 4.1 us without it": the median where p99 is not known. */
static void print_victim(FILE *to, const struct incast *it)
{
	const struct incast_victim *during = &it->during, *without = &it->without;
	bool tails = !isnan(during->p99_us) && !isnan(without->p99_us);
	const char *what = tails ? "p99 " : "median ";

	if (!during->rounds && !without->rounds)
		return;
	fprintf(to, "victim: ");
	if (during->rounds)
		fprintf(to, "%s%.3g us during the incast", what,
			tails ? during->p99_us : during->p50_us);
	if (without->rounds)
		fprintf(to, "%s%.3g us without it", during->rounds ? ", " : what,
			tails ? without->p99_us : without->p50_us);
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
	print_victim(to, it);
}

static json_t *round_json(const struct incast_round *r, const struct body *b)
{
	return json_pack("{s:i, s:s, s:i, s:f, s:f, s:f, s:s, s:f}", "round", r->round & 0xffff,
			 "receiver", b->names.text[r->receiver], "senders", r->senders, "sum",
			 r->sum_gbps, "limit", r->limit_gbps, "jain", r->jain, "least",
			 b->names.text[r->least], "least_share", r->least_share);
}

static json_t *victim_json(const struct incast *it)
{
	if (!it->during.rounds && !it->without.rounds)
		return json_null();
	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o}", "rounds_during", it->during.rounds,
			 "rounds_without", it->without.rounds, "p50_during_us",
			 json_number_or_null(it->during.p50_us), "p50_without_us",
			 json_number_or_null(it->without.p50_us), "p99_during_us",
			 json_number_or_null(it->during.p99_us), "p99_without_us",
			 json_number_or_null(it->without.p99_us));
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
	return json_pack("{s:i, s:f, s:s, s:f, s:o, s:o}", "senders", it->senders, "reach",
			 it->reach, "reach_of", of[it->of], "jain", it->jain, "victim",
			 victim_json(it), "rounds", rounds);
}

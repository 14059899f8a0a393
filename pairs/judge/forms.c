// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a judgement as a JSON document; the hosts of suspects, what to measure again, and the
 * matrix.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "judge.h"
#include "proto/fields.h"

#define GOOD_PARTNERS 2 /* good hosts that measure a suspect again */

static json_t *suspect_json(const struct judgement *j, const struct suspect *s)
{
	static const char *const proof[] = {"once", "alone_too", "good_alone"};
	bool pair = s->b != SUSPECT_NONE;
	struct finding words;

	judge_words(&words, s, 1);
	return json_pack(
		"{s:s, s:s, s:s*, s:s*, s:s*, s:o, s:o, s:i, s:i, s:o*, s:o*, s:s*, s:s*, s:s}",
		"kind", finding_name(words.is.code), pair ? "from" : "name", judge_name(j, s, s->a),
		"to", pair ? judge_name(j, s, s->b) : NULL, "host",
		pair || s->kind == SUSPECT_GROUP ? NULL
						 : j->body->hosts.text[j->body->player[s->a].host],
		"direction", s->sends || s->receives ? judge_way(s) : NULL, "value",
		json_number_or_null(s->value), "normal", json_number_or_null(s->normal), "partners",
		s->partners, "bad", s->bad, "from_round",
		s->from_round ? json_integer(s->from_round) : NULL, "few_partners",
		s->few_partners ? json_true() : NULL, "proof",
		suspect_is_lost(s->kind) ? NULL : proof[s->proof], "said",
		s->text == SUSPECT_NONE ? NULL : j->body->texts.text[s->text], "next", words.next);
}

/* What a player reaches, as parts of normal. */
static json_t *player_json(const struct judgement *j, uint32_t i)
{
	const struct fit_player *p = &j->fit.of[i];

	return json_pack("{s:s, s:o, s:o, s:o, s:i, s:i}", "name", j->body->names.text[i], "normal",
			 json_number_or_null(judge_normal(j, i)), "sends",
			 json_number_or_null(judge_part(j, i, MATRIX_SEND)), "receives",
			 json_number_or_null(judge_part(j, i, MATRIX_RECEIVE)), "sends_to",
			 p->way[MATRIX_SEND].partners, "receives_from",
			 p->way[MATRIX_RECEIVE].partners);
}

static json_t *notes_json(const struct judgement *j)
{
	json_t *notes = json_array();

	for (size_t i = 0; i < j->notes.count; i++) {
		json_t *o = finding_to_json(&j->notes.list[i]);

		json_object_set(o, "kind", json_object_get(o, "code"));
		json_object_del(o, "code");
		json_array_append_new(notes, o);
	}
	return notes;
}

/* The hosts that --suspects writes. */
static json_t *drain_json(const struct judgement *j)
{
	json_t *hosts = json_array();

	for (uint32_t i = 0; i < j->body->hosts.count; i++)
		if (j->hosts[i] >= HOST_SUSPECT)
			json_array_append_new(hosts, json_string(j->body->hosts.text[i]));
	return hosts;
}

/* What is missing, or null. */
static json_t *incomplete_json(const struct judgement *j)
{
	const struct judge_rounds *r = &j->rounds;

	if (!r->planned && !r->unnamed && !r->unended)
		return json_null();
	return json_pack("{s:i, s:i, s:i, s:i}", "rounds", r->planned, "rounds_played", r->played,
			 "players_unnamed", r->unnamed, "players_unended", r->unended);
}

static json_t *input_json(const struct body_counts *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "lines", c->lines,
			 "other_text", c->other_text, "broken", c->broken, "impossible",
			 c->impossible, "other_hosts", c->others, "repeated", c->repeated,
			 "other_program", c->other_unit, "too_many", c->beyond);
}

static json_t *round_json(const struct incast_round *r, const struct body *b)
{
	return json_pack("{s:i, s:s, s:i, s:f, s:f, s:f, s:s, s:f}", "round", r->round & 0xffff,
			 "receiver", b->names.text[r->receiver], "senders", r->senders, "sum",
			 r->sum_gbps, "limit", r->limit_gbps, "jain", r->jain, "least",
			 b->names.text[r->least], "least_share", r->least_share);
}

static json_t *incast_json(const struct incast *it, const struct body *b)
{
	static const char *const of[] = {"port", "alone", "best"};
	json_t *rounds;

	if (!it->rounds)
		return json_null();
	rounds = json_array();
	for (uint32_t i = 0; i < it->rounds; i++)
		json_array_append_new(rounds, round_json(&it->round[i], b));
	return json_pack("{s:i, s:f, s:s, s:f, s:o}", "senders", it->senders, "reach", it->reach,
			 "reach_of", of[it->of], "jain", it->jain, "rounds", rounds);
}

char *judge_json(const struct judgement *j)
{
	json_t *suspects = json_array(), *players = json_array(), *all;
	const uint32_t *in = j->hosts_in;

	for (uint32_t i = 0; i < j->suspects.count; i++)
		json_array_append_new(suspects, suspect_json(j, &j->suspects.of[i]));
	for (uint32_t i = 0; i < j->m.players; i++)
		json_array_append_new(players, player_json(j, i));
	all = json_pack(
		"{s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:o, s:o, s:o, s:s*}",
		"rdmark_pairs", 1, "generator", "rdmark-pairs " RDMARK_VERSION, "unit",
		j->body->latency ? "us" : "gbps", "exit_status", judge_status(j), "nodes",
		j->body->hosts.count, "good", in[HOST_GOOD], "undecided", in[HOST_UNDECIDED],
		"lost", in[HOST_LOST], "pairs_tried", j->tried, "pairs_measured", j->measured,
		"pairs_part", json_number_or_null(judge_covered(j)), "normal",
		json_number_or_null(judge_normal(j, 0)), "smallest_fault",
		json_number_or_null(j->smallest), "incomplete", incomplete_json(j), "compared",
		j->has_baseline ? json_integer(j->compared) : json_null(), "suspects", suspects,
		"drain", drain_json(j), "notes", notes_json(j), "incast",
		incast_json(&j->incast, j->body), "players", players, "input",
		input_json(&j->body->counts), "title", *j->body->title ? j->body->title : NULL);
	return json_line(all, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
}

void judge_suspects(FILE *to, const struct judgement *j)
{
	for (uint32_t i = 0; i < j->body->hosts.count; i++)
		if (j->hosts[i] >= HOST_SUSPECT)
			fprintf(to, "%s\n", j->body->hosts.text[i]);
}

/* True if PLAYER was measured with a player of HOST. */
static bool was_measured(const struct judgement *j, uint32_t player, uint32_t host)
{
	for (uint32_t i = j->m.first[host]; i < j->m.first[host + 1]; i++) {
		const struct matrix_cell *to = matrix_find(&j->m, player, i);
		const struct matrix_cell *from = matrix_find(&j->m, i, player);

		if ((to && to->measured) || (from && from->measured))
			return true;
	}
	return false;
}

static void print_pair(FILE *to, const struct body *b, uint32_t one, uint32_t other)
{
	fprintf(to, "%s %s\n", b->hosts.text[b->player[one].host],
		b->hosts.text[b->player[other].host]);
}

/*
 * Print a line for the host of PLAYER with each of a few good hosts, which are not SUSPECTED, the
 * next ones after it; first those that it was measured with: the same pair alone tells most.
 */
static void print_with_good(FILE *to, const struct judgement *j, uint32_t player,
			    const bool *suspected)
{
	const struct body *b = j->body;
	uint32_t n = j->m.players, self = b->player[player].host, found = 0;

	for (int measured = 1; measured >= 0; measured--)
		for (uint32_t k = 1, last = self; k < n && found < GOOD_PARTNERS; k++) {
			uint32_t at = (player + k) % n, other = b->player[at].host;

			if (suspected[other] || other == last || other == self ||
			    was_measured(j, player, other) != measured)
				continue;
			print_pair(to, b, player, at);
			last = other;
			found++;
		}
}

void judge_retest(FILE *to, const struct judgement *j)
{
	const struct suspect *s = j->suspects.of, *end = s ? s + j->suspects.count : NULL;
	const struct body *b = j->body;
	bool *suspected = j->fit.mark[0];
	uint32_t last = BODY_NONE, pairs = 0;

	memset(suspected, false, b->hosts.count);
	for (const struct suspect *i = s; i < end; i++)
		if (i->b == SUSPECT_NONE && i->kind != SUSPECT_GROUP)
			suspected[b->player[i->a].host] = true;
	for (; s < end; s++) {
		if (s->kind == SUSPECT_GROUP || s->proof == SUSPECT_LOAD)
			continue;
		if (s->b != SUSPECT_NONE && pairs++ < JUDGE_RETEST_PAIRS)
			print_pair(to, b, s->a, s->b);
		else if (s->b == SUSPECT_NONE && s->kind != SUSPECT_NEVER_CAME &&
			 b->player[s->a].host != last)
			print_with_good(to, j, s->a, suspected);
		last = s->b == SUSPECT_NONE ? b->player[s->a].host : BODY_NONE;
	}
	for (uint32_t i = 0; i < j->m.cells && j->slow_pairs && pairs < JUDGE_RETEST_PAIRS; i++)
		if (judge_is_far_slower(j, i) && isnan(j->m.cell[i].alone) && ++pairs)
			print_pair(to, b, j->m.cell[i].from, j->m.cell[i].to);
}

void judge_matrix(FILE *to, const struct judgement *j)
{
	const struct matrix *m = &j->m;

	fprintf(to, "from\\to");
	for (uint32_t i = 0; i < m->players; i++)
		fprintf(to, ",%s", j->body->names.text[i]);
	fprintf(to, "\n");
	for (uint32_t i = 0; i < m->players; i++) {
		fprintf(to, "%s", j->body->names.text[i]);
		for (uint32_t k = 0; k < m->players; k++) {
			const struct matrix_cell *c = matrix_find(m, i, k);
			float v = !c ? NAN : isnan(c->loaded) ? c->alone : c->loaded;

			fprintf(to, isnan(v) ? "," : ",%.4g", (double)v);
		}
		fprintf(to, "\n");
	}
}

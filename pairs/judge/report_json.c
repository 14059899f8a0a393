// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a judgement as a JSON document. */
#include <jansson.h>
#include <math.h>

#include "judge.h"
#include "proto/fields.h"

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

/* The hosts that --suspects writes: judge_count() has marked them. */
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
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "lines", c->lines, "other_text",
			 c->other_text, "broken", c->broken, "impossible", c->impossible,
			 "repeated", c->repeated, "other_program", c->other_unit, "too_many",
			 c->beyond);
}

char *judge_json(const struct judgement *j)
{
	json_t *suspects = json_array(), *players = json_array(), *all;
	struct judge_count c = judge_count(j);

	for (uint32_t i = 0; i < j->suspects.count; i++)
		json_array_append_new(suspects, suspect_json(j, &j->suspects.of[i]));
	for (uint32_t i = 0; i < j->m.players; i++)
		json_array_append_new(players, player_json(j, i));
	all = json_pack(
		"{s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:o, s:o, s:o}",
		"rdmark_pairs", 1, "generator", "rdmark-pairs " RDMARK_VERSION, "unit",
		j->body->latency ? "us" : "gbps", "exit_status", judge_status(j), "nodes",
		j->body->hosts.count, "good", c.good, "undecided", c.undecided, "lost", c.lost,
		"pairs_tried", j->tried, "pairs_measured", j->measured, "pairs_part",
		json_number_or_null(judge_covered(j)), "normal",
		json_number_or_null(judge_unit(j, j->fit.kind[0])), "smallest_fault",
		json_number_or_null(j->smallest), "incomplete", incomplete_json(j), "compared",
		j->has_baseline ? json_integer(j->compared) : json_null(), "suspects", suspects,
		"drain", drain_json(j), "notes", notes_json(j), "incast",
		incast_json(&j->incast, j->body), "players", players, "input",
		input_json(&j->body->counts));
	return json_line(all, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
}

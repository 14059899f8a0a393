// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a judgement as a JSON document. */
#include <jansson.h>
#include <math.h>

#include "judge.h"
#include "wire/fields.h"

static json_t *suspect_json(const struct judgement *j, const struct suspect *s)
{
	static const char *const proof[] = {"once", "alone_too", "good_alone"};
	const struct judge_kind *kind = judge_kind(s);
	bool pair = s->b != SUSPECT_NONE;
	json_t *o = json_pack("{s:s, s:s}", "kind", kind->id, pair ? "from" : "name",
			      judge_name(j, s, s->a));

	if (pair)
		json_object_set_new(o, "to", json_string(judge_name(j, s, s->b)));
	else
		json_object_set_new(o, "host",
				    json_string(j->body->hosts.text[j->body->player[s->a].host]));
	if (s->sends || s->receives)
		json_object_set_new(o, "direction", json_string(judge_way(s)));
	json_object_set_new(o, "value", json_number_or_null(s->value));
	json_object_set_new(o, "normal", json_number_or_null(s->normal));
	json_object_set_new(o, "partners", json_integer(s->partners));
	json_object_set_new(o, "bad", json_integer(s->bad));
	if (s->few_partners)
		json_object_set_new(o, "few_partners", json_true());
	if (!suspect_is_lost(s->kind))
		json_object_set_new(o, "proof", json_string(proof[s->proof]));
	if (s->text != SUSPECT_NONE)
		json_object_set_new(o, "said", json_string(j->body->texts.text[s->text]));
	json_object_set_new(o, "next", json_string(judge_next(s, 1)));
	return o;
}

/* The levels of a player, as parts of normal. */
static json_t *player_json(const struct judgement *j, uint32_t i)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:I}", "name", j->body->names.text[i], "normal",
			 j->body->latency
				 ? json_null()
				 : json_number_or_null(j->level.normal * judge_speed(j, i)),
			 "sends", json_number_or_null(j->level.of[MATRIX_SEND][i].median),
			 "receives", json_number_or_null(j->level.of[MATRIX_RECEIVE][i].median),
			 "sends_to", (json_int_t)j->level.of[MATRIX_SEND][i].partners,
			 "receives_from", (json_int_t)j->level.of[MATRIX_RECEIVE][i].partners);
}

/* What is missing, or null. */
static json_t *incomplete_json(const struct judgement *j)
{
	const struct judge_rounds *r = &j->rounds;

	if (!r->planned && !r->unnamed && !r->unended)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I}", "rounds", (json_int_t)r->planned, "rounds_played",
			 (json_int_t)r->played, "players_unnamed", (json_int_t)r->unnamed,
			 "players_unended", (json_int_t)r->unended);
}

static json_t *input_json(const struct body_counts *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "lines", (json_int_t)c->lines,
			 "other_text", (json_int_t)c->other_text, "broken", (json_int_t)c->broken,
			 "impossible", (json_int_t)c->impossible, "repeated",
			 (json_int_t)c->repeated, "other_program", (json_int_t)c->other_unit,
			 "too_many", (json_int_t)c->beyond);
}

char *judge_json(const struct judgement *j)
{
	json_t *suspects = json_array(), *players = json_array(), *all;
	struct judge_count c = judge_count(j);

	for (uint32_t i = 0; i < j->suspects.count; i++)
		json_array_append_new(suspects, suspect_json(j, &j->suspects.of[i]));
	for (uint32_t i = 0; i < j->m.players; i++)
		json_array_append_new(players, player_json(j, i));
	all = json_pack("{s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, "
			"s:o, s:o, s:o, s:o}",
			"rdmark_pairs", 1, "generator", "rdmark-pairs " RDMARK_VERSION, "unit",
			j->body->latency ? "us" : "gbps", "nodes", (json_int_t)j->body->hosts.count,
			"good", (json_int_t)c.good, "undecided", (json_int_t)c.undecided, "lost",
			(json_int_t)c.lost, "pairs_tried", (json_int_t)j->tried, "pairs_measured",
			(json_int_t)j->measured, "pairs_part",
			json_number_or_null(judge_covered(j)), "normal",
			j->body->latency ? json_null() : json_number_or_null(j->level.normal),
			"noise", j->measured ? json_number_or_null(j->level.noise) : json_null(),
			"incomplete", incomplete_json(j), "compared",
			j->has_baseline ? json_integer(j->compared) : json_null(), "suspects",
			suspects, "incast", incast_json(&j->incast, j->body), "players", players,
			"input", input_json(&j->body->counts));
	return json_line(all, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a judgement as a JSON document; the hosts to drain; and the matrix. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "proto/fields.h"
#include "proto/json_memory.h"

static json_t *suspect_json(const struct judgement *j, const struct statement *s,
			    const struct finding *words)
{
	bool pair = s->about == ABOUT_PAIR, group = s->about == ABOUT_GROUP;

	return json_pack("{s:s, s:s, s:s*, s:s*, s:s*, s:o, s:o, s:i, s:i, s:s*, s:s*, s:s}",
			 "kind", finding_name(s->code), pair ? "from" : "name",
			 judge_name(j, s, s->a), "to", pair ? judge_name(j, s, s->b) : NULL, "host",
			 pair || group ? NULL : evidence_host(j->e, s->a), "direction",
			 s->sends || s->receives ? judge_way(s) : NULL, "value",
			 json_known_or_null(s->value), "normal", json_known_or_null(s->normal),
			 "partners", s->of, "bad", s->count, "proof",
			 statement_is_lost(s->code) ? NULL
			 : s->tested              ? "tested"
						  : "once",
			 "said", s->text, "next", words->next);
}

static json_t *note_json(const struct finding *words)
{
	json_t *o = finding_to_json(words);

	json_object_set(o, "kind", json_object_get(o, "code"));
	json_object_del(o, "code");
	return o;
}

/*
 * What the player reaches in the middle, as a part of what is normal; a latency is one both ways.
 */
static json_t *player_json(const struct judgement *j, uint32_t i)
{
	const struct player *p = &j->player[i];

	return json_pack("{s:s, s:o, s:o, s:o}", "name", evidence_name(j->e, i), "normal",
			 json_number_or_null(judge_unit(j, p, 0)), "sends",
			 json_number_or_null(exp((double)p->median[SENDS])), "receives",
			 json_number_or_null(exp((double)p->median[j->e->latency ? SENDS : RECEIVES])));
}

/* What became of each player that was tested, or should be. */
static json_t *candidate_json(const struct judgement *j, uint32_t player)
{
	const struct player *c = &j->player[player];
	static const char *const verdict[] = {
		[VERDICT_OPEN] = "open",   [VERDICT_GOOD] = "good",   [VERDICT_UNCLEAR] = "unclear",
		[VERDICT_TIMES] = "times", [VERDICT_PLACE] = "place", [VERDICT_SLOW] = "slow"};
	bool has = c->verdict != VERDICT_OPEN && !isnan(c->y);

	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:o, s:o}", "name",
			 evidence_name(j->e, player), "verdict", verdict[c->verdict], "tests",
			 c->tests, "runs", c->figures, "low", c->low, "value",
			 json_number_or_null(has ? judge_unit(j, c, c->y) : NAN), "control",
			 json_number_or_null(has ? judge_unit(j, c, c->control) : NAN));
}

/* The hosts that --suspects writes. */
static json_t *drain_json(const struct judgement *j)
{
	json_t *hosts = json_array();

	for (uint32_t i = 0; i < j->e->hosts.count; i++)
		if (j->host[i] >= HOST_SLOW)
			json_array_append_new(hosts, json_string(j->e->hosts.text[i]));
	return hosts;
}

char *judge_json(const struct judgement *j)
{
	json_t *suspects = json_array(), *notes = json_array();
	json_t *players = json_array(), *tested = json_array(), *all;
	const uint32_t *in = j->hosts_in;

	for (uint32_t i = 0; i < j->statements; i++) {
		const struct statement *s = &j->statement[i];
		struct finding words;

		statement_words(&words, j, s);
		if (s->about)
			json_array_append_new(suspects, suspect_json(j, s, &words));
		else
			json_array_append_new(notes, note_json(&words));
	}
	for (uint32_t i = 0; i < j->players; i++)
		json_array_append_new(players, player_json(j, i));
	for (uint32_t i = 0; i < j->candidates; i++)
		json_array_append_new(tested, candidate_json(j, j->candidate[i]));
	all = json_pack(
		"{s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:s*}",
		"rdmark_pairs", 1, "generator", "rdmark-pairs " RDMARK_VERSION, "unit",
		j->e->latency ? "us" : "gbps", "exit_status", judge_status(j), "nodes",
		j->e->hosts.count, "good", in[HOST_GOOD], "undecided", in[HOST_UNDECIDED], "lost",
		in[HOST_LOST], "pairs_tried", j->tried, "pairs_measured", j->measured, "normal",
		json_number_or_null(j->players ? judge_unit(j, j->player, 0) : NAN), "smallest_fault",
		json_known_or_null(j->smallest), "suspects", suspects,
		"candidates", tested, "drain", drain_json(j), "notes", notes, "players", players,
		"title", *j->e->title ? j->e->title : NULL);
	return json_line(all, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
}

void judge_suspects(FILE *to, const struct judgement *j)
{
	for (uint32_t i = 0; i < j->e->hosts.count; i++)
		if (j->host[i] >= HOST_SLOW)
			fprintf(to, "%s\n", j->e->hosts.text[i]);
}

void judge_matrix(FILE *to, const struct judgement *j)
{
	double *value = j->room;

	fprintf(to, "from\\to");
	for (uint32_t i = 0; i < j->players; i++)
		fprintf(to, ",%s", evidence_name(j->e, i));
	fprintf(to, "\n");
	for (uint32_t i = 0; i < j->players; i++) {
		for (uint32_t k = 0; k < j->players; k++)
			value[k] = NAN;
		/* of several figures the first, which is with all pairs at once where it was so */
		for (struct walk w = walk_way(j->e, i, SENDS, ~0U); walk_next(&w);)
			if (isnan(value[w.with]) && !(w.is->marks & MARK_LACKED))
				value[w.with] = (double)w.is->value;
		fprintf(to, "%s", evidence_name(j->e, i));
		for (uint32_t k = 0; k < j->players; k++)
			fprintf(to, isnan(value[k]) ? "," : ",%.4g", value[k]);
		fprintf(to, "\n");
	}
}

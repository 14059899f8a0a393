// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the runs of a player said most often. */
#include <string.h>

#include "judgement.h"

#define KINDS_MAX 32

struct said {
	uint32_t text[KINDS_MAX], times[KINDS_MAX];
};

static void hear(struct said *s, uint32_t text)
{
	uint32_t i = 0;

	while (i < KINDS_MAX && s->times[i] && s->text[i] != text)
		i++;
	if (i == KINDS_MAX)
		return;
	s->text[i] = text;
	s->times[i]++;
}

static uint32_t heard_most(const struct said *s)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < KINDS_MAX; i++)
		if (s->times[i] > s->times[best])
			best = i;
	return s->times[best] ? s->text[best] : SUSPECT_NONE;
}

uint32_t judge_said_most(const struct judgement *j)
{
	struct said s = {0};

	for (uint32_t i = 0; i < j->body->count; i++)
		if (j->body->tries[i].text != BODY_NONE && !j->body->tries[i].found)
			hear(&s, j->body->tries[i].text);
	for (uint32_t i = 0; i < j->m.players && !s.times[0]; i++)
		if (j->body->player[i].server_said)
			hear(&s, j->body->player[i].server_said - 1);
	return heard_most(&s);
}

/* True if the try T, in which PLAYER is in WAY, says something of another host: by its blame, or by
 * its text, which starts with the host that it is about, if that is known. */
static bool is_of_another(const struct judgement *j, uint32_t player, enum matrix_way way,
			  const struct body_try *t)
{
	const char *what = j->body->texts.text[t->text];
	char name[400];
	uint32_t host;

	if (t->blame == (way == MATRIX_SEND ? 2 : 1))
		return true;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(what, ":"), what);
	host = names_find(&j->body->hosts, name);
	return host != NAMES_NONE && host != j->body->player[player].host;
}

uint32_t judge_said(const struct judgement *j, uint32_t player, bool failed)
{
	struct said s = {0};

	for (enum matrix_way way = 0; way < MATRIX_WAYS && j->body->texts.count; way++)
		for (uint32_t k = 0; k < matrix_count(&j->m, way, player); k++) {
			const struct matrix_cell *c = &j->m.cell[matrix_at(&j->m, way, player, k)];

			for (uint32_t i = c->first; i < c->first + c->tries; i++) {
				const struct body_try *t = &j->body->tries[i];

				if (t->text != BODY_NONE && t->found != failed &&
				    !is_of_another(j, player, way, t))
					hear(&s, t->text);
			}
		}
	return heard_most(&s);
}

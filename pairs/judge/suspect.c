// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A list of suspects and its order; and what it says of hosts, which may have several rails;
 * and what the runs of a player said most often.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judgement.h"
#include "pairs/grow.h"
#include "proto/json_memory.h"

#define SAID_MAX 32 /* texts that are told apart */

struct suspect suspect_of(enum finding_code kind, uint32_t a)
{
	return (struct suspect){.kind = kind,
				.a = a,
				.b = SUSPECT_NONE,
				.value = NAN,
				.normal = NAN,
				.text = SUSPECT_NONE};
}

void suspects_add(struct suspects *l, const struct suspect *s)
{
	struct suspect *more = grow(l->of, l->count, sizeof(*more));

	if (!more) {
		json_memory_lacked();
		return;
	}
	l->of = more;
	l->of[l->count++] = *s;
}

bool suspect_is_lost(enum finding_code kind)
{
	return kind <= SUSPECT_BROKE && kind != SUSPECT_CLOCK;
}

double suspect_part(const struct suspect *s)
{
	double part = s->value / s->normal;

	if (isnan(part))
		return 0;
	return part > 1 ? 1 / part : part;
}

static int by_rank(const void *x, const void *y)
{
	const struct suspect *a = x, *b = y;
	const double key[][2] = {
		{a->kind, b->kind},
		{a->proof == SUSPECT_LOAD, b->proof == SUSPECT_LOAD},
		{a->few_partners, b->few_partners},
		{suspect_part(a), suspect_part(b)},
		{a->a, b->a},
		{a->b, b->b},
	};

	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
		if (key[i][0] != key[i][1])
			return key[i][0] < key[i][1] ? -1 : 1;
	return 0;
}

void suspects_sort(struct suspects *l)
{
	if (l->count)
		qsort(l->of, l->count, sizeof(*l->of), by_rank);
}

/* Add what S says to the suspect of its host. */
static void merge(struct suspect *host, const struct suspect *s)
{
	if (suspect_part(s) < suspect_part(host)) {
		host->value = s->value;
		host->normal = s->normal;
		host->partners = s->partners;
	}
	host->sends &= s->sends;
	host->receives &= s->receives;
	host->bad += s->bad;
	if (s->proof != host->proof)
		host->proof = SUSPECT_ONCE;
	if (host->text == SUSPECT_NONE)
		host->text = s->text;
}

void judge_hosts(struct judgement *j, uint32_t first)
{
	struct suspects *l = &j->suspects;
	uint32_t kept = first, count;

	for (uint32_t i = first; i < l->count; i += count) {
		struct suspect host = l->of[i];
		const uint32_t *players = &j->m.first[j->m.host[host.a]];
		bool directed = host.sends || host.receives;

		for (count = 1; i + count < l->count && host.kind == l->of[i + count].kind &&
				j->m.host[host.a] == j->m.host[l->of[i + count].a];
		     count++) {
			directed |= l->of[i + count].sends || l->of[i + count].receives;
			merge(&host, &l->of[i + count]);
		}
		host.is_host = count >= players[1] - players[0] &&
			       (host.sends || host.receives || !directed);
		for (uint32_t k = 0; k < (host.is_host ? 0 : count); k++) {
			l->of[kept] = l->of[i + k];
			if (l->of[kept].kind == SUSPECT_NODE)
				l->of[kept].kind = SUSPECT_RAIL;
			kept++;
		}
		if (host.is_host)
			l->of[kept++] = host;
	}
	l->count = kept;
}

static void set_host(const struct judgement *j, uint32_t player, enum host_state state)
{
	uint8_t *to = &j->hosts[j->body->player[player].host];

	*to = *to > state ? *to : state;
}

/* An end of a bad or undecided pair that has too few other partners may be the cause, or not. */
static void set_end(const struct judgement *j, uint32_t player)
{
	set_host(j, player, judge_is_known(j, player) ? HOST_UNKNOWN : HOST_UNDECIDED);
}

void judge_states(struct judgement *j)
{
	uint32_t *in = j->hosts_in;

	memset(j->hosts, HOST_UNKNOWN, j->body->hosts.count);
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];
		bool undecided = judge_is_undecided(j, i);

		for (int k = 0; k < 2 && c->measured; k++)
			if (undecided)
				set_end(j, k ? c->to : c->from);
			else
				set_host(j, k ? c->to : c->from, HOST_GOOD);
	}
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		if (s->kind == SUSPECT_GROUP || s->proof == SUSPECT_LOAD)
			continue;
		if (s->b != SUSPECT_NONE) {
			set_end(j, s->a);
			set_end(j, s->b);
		} else if (suspect_is_lost(s->kind)) {
			set_host(j, s->a, HOST_LOST);
		} else if (j->retested && s->proof != SUSPECT_CONFIRMED) {
			set_host(j, s->a, HOST_UNDECIDED); /* not measured alone often enough */
		} else {
			set_host(j, s->a, HOST_SUSPECT);
		}
	}
	for (uint32_t i = 0; i < j->m.players; i++)
		if (j->fit.of[i].doubtful || j->lost[i])
			set_host(j, i, HOST_UNDECIDED);
	memset(in, 0, sizeof(j->hosts_in));
	for (uint32_t i = 0; i < j->body->hosts.count; i++)
		in[j->blind && j->hosts[i] == HOST_GOOD ? HOST_UNDECIDED : j->hosts[i]]++;
	in[HOST_UNDECIDED] += in[HOST_UNKNOWN];
}

/* The texts that were heard, and how often. */
struct said {
	uint32_t text[SAID_MAX], times[SAID_MAX];
};

static void hear(struct said *s, uint32_t text)
{
	uint32_t i = 0;

	while (i < SAID_MAX && s->times[i] && s->text[i] != text)
		i++;
	if (i == SAID_MAX)
		return;
	s->text[i] = text;
	s->times[i]++;
}

static uint32_t heard_most(const struct said *s)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < SAID_MAX; i++)
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

	for (struct matrix_walk w = {.m = &j->m, .player = player}; matrix_next(&w);)
		for (uint32_t i = w.cell->first; i < w.cell->first + w.cell->tries; i++) {
			const struct body_try *t = &j->body->tries[i];

			if (t->text != BODY_NONE && t->found != failed &&
			    !is_of_another(j, player, w.way, t))
				hear(&s, t->text);
		}
	return heard_most(&s);
}

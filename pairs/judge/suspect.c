// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of suspects, what runs said of them, and what all of it says of hosts. */
#include <stdlib.h>
#include <string.h>

#include "judgement.h"
#include "pairs/grow.h"
#include "proto/json_memory.h"

struct suspect suspect_of(enum finding_code kind, uint32_t a)
{
	return (struct suspect){
		.kind = kind, .a = a, .b = NONE, .value = NAN, .normal = NAN, .text = NONE};
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

/* How much of the normal is left: 0 to 1, smaller is worse. */
static double part_of(const struct suspect *s)
{
	double part = s->value / s->normal;

	return isnan(part) ? 0 : part > 1 ? 1 / part : part;
}

static int by_rank(const void *x, const void *y)
{
	const struct suspect *a = x, *b = y;
	const double key[][2] = {
		{a->kind, b->kind},
		{!a->tested, !b->tested},
		{part_of(a), part_of(b)},
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

static int by_player(const void *x, const void *y)
{
	const struct suspect *a = x, *b = y;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->a > b->a) - (a->a < b->a);
}

void suspects_merge(struct judgement *j, uint32_t first)
{
	struct suspects *l = &j->suspects;
	uint32_t kept = first, count;

	if (l->count > first)
		qsort(l->of + first, l->count - first, sizeof(*l->of), by_player);
	for (uint32_t i = first; i < l->count; i += count) {
		struct suspect worst = l->of[i];
		uint32_t host = j->e->player[worst.a].host;

		for (count = 1; i + count < l->count && l->of[i + count].kind == worst.kind &&
				j->e->player[l->of[i + count].a].host == host;
		     count++)
			if (part_of(&l->of[i + count]) < part_of(&worst))
				worst = l->of[i + count];
		worst.is_host = count == j->e->first[host + 1] - j->e->first[host];
		for (uint32_t k = 0; k < count && !worst.is_host; k++) {
			if (l->of[i + k].kind == SUSPECT_NODE)
				l->of[i + k].kind = SUSPECT_RAIL;
			l->of[kept++] = l->of[i + k];
		}
		if (worst.is_host)
			l->of[kept++] = worst;
	}
	l->count = kept;
}

static void set_host(const struct judgement *j, uint32_t player, enum host_state state)
{
	uint8_t *to = &j->host[j->e->player[player].host];

	*to = (uint8_t)(*to > state ? *to : state);
}

/* The state of the host of a suspect: only who is lost, or slow by the test, is drained. */
static enum host_state state_of(const struct suspect *s)
{
	if (suspect_is_lost(s->kind))
		return HOST_LOST;
	return s->drained ? HOST_SLOW : HOST_NAMED;
}

void judge_states(struct judgement *j)
{
	memset(j->host, HOST_UNDECIDED, j->e->hosts.count);
	memset(j->hosts_in, 0, sizeof(j->hosts_in));
	for (uint32_t i = 0; i < j->players; i++)
		if (!isnan(j->standing[SENDS][i].best) || !isnan(j->standing[RECEIVES][i].best))
			set_host(j, i, HOST_GOOD);
	for (uint32_t i = 0; i < j->candidates; i++)
		if (j->candidate[i].verdict == VERDICT_UNCLEAR)
			j->host[j->e->player[j->candidate[i].player].host] = HOST_UNDECIDED;
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		if (s->kind != SUSPECT_GROUP && s->b == NONE)
			set_host(j, s->a, state_of(s));
	}
	for (uint32_t i = 0; i < j->e->hosts.count; i++)
		j->hosts_in[j->host[i]]++;
}

uint32_t judge_said(const struct judgement *j, uint32_t player, bool failed)
{
	uint32_t *times = calloc((size_t)j->e->texts.count + 1, sizeof(*times)), most = 0;
	uint32_t first = player == NONE ? 0 : player, best = NONE;

	if (!times) {
		json_memory_lacked();
		return NONE;
	}
	for (uint32_t i = first; i < (player == NONE ? j->players : player + 1); i++)
		for (struct walk w = walk_all(j->e, i, ~0U); walk_next(&w);)
			if (w.is->text != EVIDENCE_NONE && !(w.is->marks & MARK_FOUND) == failed &&
			    !(w.is->marks & (w.is->from == i ? MARK_TO_BLAMED : MARK_FROM_BLAMED)) &&
			    ++times[w.is->text] > most) {
				most = times[w.is->text];
				best = w.is->text;
			}
	free(times);
	return best;
}

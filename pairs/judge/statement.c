// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of statements, their words, and what all of them say of hosts and of the exit status. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/text.h"
#include "judgement.h"
#include "pairs/grow.h"
#include "proto/json_memory.h"

void statements_add(struct judgement *j, const struct statement *s)
{
	struct statement *more = grow(j->statement, j->statements, sizeof(*more));

	if (!more) {
		json_memory_lacked();
		return;
	}
	j->statement = more;
	j->statement[j->statements++] = *s;
}

/* How much of the normal is left: 0 to 1, smaller is worse. */
static double part_of(const struct statement *s)
{
	double part = s->normal > 0 ? s->value / s->normal : 0;

	return isnan(part) ? 0 : part > 1 ? 1 / part : part;
}

static int by_rank(const void *x, const void *y)
{
	const struct statement *a = x, *b = y;
	const double key[][2] = {
		{a->code, b->code},
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

static int by_player(const void *x, const void *y)
{
	const struct statement *a = x, *b = y;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return (a->a > b->a) - (a->a < b->a);
}

/* True if A and B say the same of players of one host. */
static bool are_alike(const struct judgement *j, const struct statement *a, const struct statement *b)
{
	return a->code == b->code && a->about == ABOUT_PLAYER && b->about == ABOUT_PLAYER &&
	       j->player[a->a].host == j->player[b->a].host;
}

/* Make one statement of a host of those of all its players: the worst. */
static void merge(struct judgement *j)
{
	struct statement *of = j->statement;
	uint32_t kept = 0, count;

	if (j->statements)
		qsort(of, j->statements, sizeof(*of), by_player);
	for (uint32_t i = 0; i < j->statements; i += count) {
		struct statement worst = of[i];
		uint32_t host = of[i].about == ABOUT_PLAYER ? j->player[of[i].a].host : NONE;

		for (count = 1; i + count < j->statements && are_alike(j, &of[i], &of[i + count]); count++)
			if (part_of(&of[i + count]) < part_of(&worst))
				worst = of[i + count];
		if (host != NONE && count == j->e->first[host + 1] - j->e->first[host]) {
			worst.about = ABOUT_HOST;
			of[kept++] = worst;
			continue;
		}
		for (uint32_t k = i; k < i + count; k++) {
			of[kept] = of[k];
			if (of[kept].code == SUSPECT_NODE && of[kept].about == ABOUT_PLAYER)
				of[kept].code = SUSPECT_RAIL;
			kept++;
		}
	}
	j->statements = kept;
}

/* The figure of a statement; "": there is none. */
static void add_figure(const struct judgement *j, const struct statement *s, char *text, size_t size)
{
	double times = s->value / s->normal;

	if (s->code == SUSPECT_CLOCK)
		text_add(text, size, "%.3g s %s", fabs(s->value),
			 s->about == ABOUT_PAIR ? "apart"
			 : s->value < 0		? "behind"
						: "ahead");
	else if (isnan(s->value) || !(s->normal > 0))
		return;
	else if (s->code == SUSPECT_GROUP)
		text_add(text, size, "%.0f %%", 100 * times);
	else if (j->e->latency)
		text_add(text, size, "%.4g us, %.1f times the normal %.4g us", s->value, times,
			 s->normal);
	else
		text_add(text, size, "%.4g of %.4g Gb/s (%.0f %%)", s->value, s->normal,
			 100 * times);
}

void statement_words(struct finding *to, const struct judgement *j, const struct statement *s)
{
	double part = s->normal > 0 ? s->value / s->normal : s->value;
	char figure[160] = "";

	add_figure(j, s, figure, sizeof(figure));
	finding_make(
		to,
		&(struct finding_facts){
			.code = s->code,
			.level = s->level,
			.strength = s->strength,
			.value = {
				FINDING_NUMBER("count", s->count || s->of ? s->count : NAN, ""),
				FINDING_NUMBER("of", s->of ? s->of : NAN, ""),
				FINDING_NUMBER("part", part > 0 ? part : NAN, "share"),
				FINDING_NUMBER("expected", s->normal > 0 ? s->normal : NAN, "Gb/s"),
				FINDING_WORD("s", s->count > 1 ? "s" : ""),
				FINDING_WORD("hosts", s->text),
				FINDING_WORD("tested", s->tested ? "" : NULL),
				/* the rest is of suspects */
				FINDING_WORD(s->about ? "figure" : NULL, *figure ? figure : NULL),
				FINDING_WORD("untested", s->tested ? NULL : ""),
				FINDING_WORD("good", s->tested && !s->drained ? "" : NULL),
			}});
}

static void set_host(const struct judgement *j, uint32_t player, enum host_state state)
{
	enum host_state *to = &j->host[j->player[player].host];

	*to = *to > state ? *to : state;
}

void judge_states(struct judgement *j)
{
	merge(j);
	if (j->statements)
		qsort(j->statement, j->statements, sizeof(*j->statement), by_rank);
	memset(j->host, 0, j->e->hosts.count * sizeof(*j->host)); /* HOST_UNDECIDED */
	memset(j->hosts_in, 0, sizeof(j->hosts_in));
	for (uint32_t i = 0; i < j->players; i++)
		if (!isnan(j->player[i].best[SENDS]) || !isnan(j->player[i].best[RECEIVES]))
			set_host(j, i, HOST_GOOD);
	for (uint32_t i = 0; i < j->players; i++)
		if (j->player[i].verdict == VERDICT_UNCLEAR)
			j->host[j->player[i].host] = HOST_UNDECIDED;
	for (uint32_t i = 0; i < j->statements; i++) {
		const struct statement *s = &j->statement[i];

		if (s->about == ABOUT_PLAYER || s->about == ABOUT_HOST)
			set_host(j, s->a, statement_is_lost(s->code) ? HOST_LOST
					  : s->drained		     ? HOST_SLOW
								     : HOST_NAMED);
	}
	for (uint32_t i = 0; i < j->e->hosts.count; i++)
		j->hosts_in[j->host[i]]++;
}

int judge_status(const struct judgement *j)
{
	bool fault = false, unclear = false;

	if (!j->measured || j->hosts_in[HOST_LOST])
		return FAULT_PEER;
	for (uint32_t i = 0; i < j->statements; i++) {
		if (j->statement[i].code == PAIRS_UNNAMED)
			return FAULT_PEER;
		fault |= j->statement[i].level == FINDING_FAULT;
		unclear |= j->statement[i].strength != FINDING_IS;
	}
	return fault ? FAULT_THRESHOLD : unclear ? FAULT_UNAVAILABLE : 0;
}

const char *judge_said(const struct judgement *j, uint32_t player, bool failed)
{
	uint32_t first = player == NONE ? 0 : player;
	double *times = j->room, most = 0; /* of each text */
	const char *best = NULL;

	memset(times, 0, j->e->texts.count * sizeof(*times));
	for (uint32_t i = first; i < (player == NONE ? j->players : player + 1); i++)
		for (struct walk w = walk_all(j->e, i, ~0U); walk_next(&w);)
			if (w.is->text != NAMES_NONE && !(w.is->marks & MARK_FOUND) == failed &&
			    !(w.is->marks & (w.is->from == i ? MARK_TO_BLAMED : MARK_FROM_BLAMED)) &&
			    ++times[w.is->text] > most) {
				most = times[w.is->text];
				best = j->e->texts.text[w.is->text];
			}
	return best;
}

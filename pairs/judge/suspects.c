// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Suspects: by the verdicts, and by one comparison each of ports and incasts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judgement.h"

/* What the candidate C is suspected of. */
static enum finding_code kind_of(const struct judgement *j, const struct player *c)
{
	if (c->falls)
		return SUSPECT_FALLS;
	if (c->verdict == VERDICT_TIMES)
		return 2 * c->failed > c->low ? SUSPECT_FAILS : SUSPECT_UNSTEADY;
	if (c->verdict == VERDICT_SLOW && c->y < FAILED / 2)
		return SUSPECT_FAILS;
	return j->e->latency ? SUSPECT_LATENCY : SUSPECT_NODE;
}

/* What the screen saw of C: its worst way. */
static void see(const struct judgement *j, const struct player *c, struct statement *s)
{
	enum way worst = SENDS;

	for (enum way way = SENDS; way < evidence_ways(j->e); way++)
		if (c->best[way] < c->best[worst])
			worst = way;
	s->sends = worst == SENDS || j->e->latency;
	s->receives = worst == RECEIVES || j->e->latency;
	s->value = judge_unit(j, c, (double)c->best[worst]);
	s->normal = judge_unit(j, c, j->level_best[worst]);
}

static void add_candidate(struct judgement *j, uint32_t player)
{
	const struct player *c = &j->player[player];
	struct statement s = suspect_of(kind_of(j, c), player);
	bool open = c->verdict == VERDICT_OPEN, incast = j->e->incast;

	/* what is seen once must be deeper than what a test proves; a good one starves as well */
	if (!incast &&
	    !(open && !j->tests && j->candidates <= judge_most(j) &&
	      (c->depth < -LOW_LEAST / 2 || c->depth == AT_TIMES)) &&
	    !c->falls && c->verdict != VERDICT_TIMES && c->verdict != VERDICT_SLOW)
		return;
	s.tested = !open;
	/* not who may be of the lower level; and of several that are slow nobody knows before they
	 * have met whether it is their place */
	s.drained = c->verdict == VERDICT_SLOW &&
		    !(j->level > 0 && fabs(c->y - c->control - log(j->level)) < LOW_LEAST) &&
		    (!c->unmet || c->met >= (j->e->latency ? 2 * TEST_AGAIN : TEST_FIRST));
	s.of = c->verdict == VERDICT_TIMES ? c->figures : c->tests;
	s.count = c->low;
	s.text = judge_said(j, player, c->failed > 0);
	if (c->falls) {
		s.value = judge_unit(j, c, c->after);
		s.normal = judge_unit(j, c, c->before);
	} else if (open || incast) {
		see(j, c, &s);
		if (incast)
			s.code = s.sends ? SUSPECT_STARVES : SUSPECT_DROWNS;
	} else if (s.code != SUSPECT_FAILS) {
		s.value = judge_unit(j, c, c->y);
		s.normal = judge_unit(j, c, c->control);
		s.sends = c->sends;
		s.receives = c->receives;
	}
	statements_add(j, &s);
}

static bool is_candidate(const struct judgement *j, uint32_t player)
{
	return j->player[player].candidate && j->player[player].verdict != VERDICT_GOOD;
}

/* True if O is the first run of a pair of good players, in its direction, of which none has a figure.
 * TESTED: the last one is a test. */
static bool is_dead(const struct judgement *j, const struct observation *o, bool *tested)
{
	bool first = true;

	if (!(judge_y(j, o) <= FAILED) || is_candidate(j, o->from) || is_candidate(j, o->to))
		return false;
	for (struct walk w = walk_way(j->e, o->from, SENDS, ~0U); walk_next(&w);) {
		if (w.with != o->to)
			continue;
		if ((first && w.is != o) || !w.is->cause)
			return false;
		first = false;
		*tested = w.is->part == PART_TEST;
	}
	return true;
}

/* Pairs of good players that have no figure: of many it is the network, of two nobody can say. */
static void find_pairs(struct judgement *j)
{
	uint32_t first = j->statements;

	for (uint32_t i = 0; i < j->e->count && j->players > 2 && !j->e->incast; i++) {
		struct statement s = suspect_of(SUSPECT_PAIR_BROKE, j->e->of[i].from);

		s.about = ABOUT_PAIR;
		s.b = j->e->of[i].to;
		s.sends = true;
		s.receives = j->e->latency;
		if (!is_dead(j, &j->e->of[i], &s.tested))
			continue;
		if (j->statements == first + judge_most(j)) {
			j->statements = first;
			return;
		}
		statements_add(j, &s);
	}
}

/* A port that is slower than the same one of most hosts, where few have that: half its lanes, or a
 * cable that cannot do more. No measurement is needed. */
static void find_ports(struct judgement *j)
{
	for (uint32_t i = 0; i < j->players; i++) {
		const struct kind *own = &j->kind[j->player[i].kind];
		struct statement s = suspect_of(SUSPECT_PORT, i);
		uint32_t all = 0, like = 0, most = 0;

		for (const struct kind *k = j->kind; k < j->kind + j->kinds; k++) {
			if (strcmp(k->rail, own->rail) != 0 || !(k->gbps > 0))
				continue;
			all += k->players;
			like += k->gbps == own->gbps ? k->players : 0;
			s.normal = k->players > most ? k->gbps : s.normal;
			most = k->players > most ? k->players : most;
		}
		s.value = own->gbps;
		s.tested = true;
		if (s.value > 0 && s.value < s.normal && like < fmax(2, LEVEL_SHARE * all))
			statements_add(j, &s);
	}
}

void judge_name_suspects(struct judgement *j)
{
	for (uint32_t i = 0; i < j->candidates; i++)
		add_candidate(j, j->candidate[i]);
	find_ports(j);
	find_pairs(j);
}

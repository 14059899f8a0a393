// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What follows from the verdicts, and what one comparison each says of ports, the network, levels,
 * rails and tails. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "judgement.h"
#include "proto/json_memory.h"

#define NOTE(j, code, level, strength_, ...) \
	FINDING_ADD(&(j)->notes, code, level, .strength = strength_, .value = {__VA_ARGS__})
#define HOSTS_TEXT 300
#define FULL_BYTES 65536 /* messages that fill a good link: the tests' default */

/* Add the name of PLAYER to the list at TO. */
static void add_name(const struct judgement *j, char to[HOSTS_TEXT], uint32_t player)
{
	const char *name = evidence_name(j->e, player);

	if (strlen(to) + strlen(name) + sizeof(" ...") < HOSTS_TEXT)
		text_add(to, HOSTS_TEXT, "%s%s", *to ? " " : "", name);
	else if (!strstr(to, " ..."))
		text_add(to, HOSTS_TEXT, " ...");
}

/* What the candidate C is suspected of. */
static enum finding_code kind_of(const struct judgement *j, const struct candidate *c)
{
	if (c->falls_from)
		return SUSPECT_FALLS;
	if (c->verdict == VERDICT_TIMES)
		return 2 * c->failed > c->low ? SUSPECT_FAILS : SUSPECT_UNSTEADY;
	return j->e->latency ? SUSPECT_LATENCY : SUSPECT_NODE;
}

/* What the screen saw of PLAYER: its worst way, and how many of its runs failed. */
static void see(const struct judgement *j, const struct candidate *c, struct suspect *s)
{
	enum way worst = SENDS;

	for (enum way way = SENDS; way < evidence_ways(j->e); way++)
		if (j->standing[way][c->player].best < j->standing[worst][c->player].best)
			worst = way;
	s->sends = worst == SENDS || j->e->latency;
	s->receives = worst == RECEIVES || j->e->latency;
	s->value = judge_unit(j, c->player, (double)j->standing[worst][c->player].best);
	s->normal = judge_unit(j, c->player, j->level_best[worst]);
}

static void add_candidate(struct judgement *j, const struct candidate *c)
{
	struct suspect s = suspect_of(kind_of(j, c), c->player);
	bool open = c->verdict == VERDICT_OPEN;

	/* what is seen once must be deeper than what a test proves */
	if (!(open && !j->tests && (c->depth < -LOW_LEAST / 2 || c->depth == AT_TIMES)) && !c->falls_from &&
	    c->verdict != VERDICT_TIMES && c->verdict != VERDICT_SLOW)
		return;
	s.tested = !open;
	/* of several that are slow nobody knows before they have met whether it is their place */
	s.drained = c->verdict == VERDICT_SLOW && (c->met || j->bad == 1);
	s.partners = c->verdict == VERDICT_TIMES ? c->figures : c->tests;
	s.bad = c->low;
	s.text = judge_said(j, c->player, c->failed > 0);
	s.from_round = c->falls_from;
	if (c->falls_from) {
		s.value = judge_unit(j, c->player, c->after);
		s.normal = judge_unit(j, c->player, c->before);
	} else if (open) {
		see(j, c, &s);
	} else if (s.kind != SUSPECT_FAILS) {
		s.value = judge_unit(j, c->player, c->y);
		s.normal = judge_unit(j, c->player, c->control);
		s.sends = c->sends;
		s.receives = c->receives;
	}
	suspects_add(&j->suspects, &s);
}

static void add_pair(struct judgement *j, const struct pair *p)
{
	enum finding_code kind = p->y < -8 ? SUSPECT_PAIR_BROKE : SUSPECT_PAIR;
	struct suspect s = suspect_of(kind, p->from);

	if (p->verdict == VERDICT_GOOD)
		return;
	s.b = p->to;
	s.sends = true;
	s.receives = j->e->latency;
	s.tested = p->verdict == VERDICT_SLOW;
	s.partners = p->tests;
	s.normal = judge_unit(j, p->from, 0);
	if (kind == SUSPECT_PAIR)
		s.value = judge_unit(j, p->from, p->y);
	suspects_add(&j->suspects, &s);
}

/* The test could not tell, or had too many before it. */
static bool is_undecided(const struct judgement *j, const struct candidate *c)
{
	return !c->falls_from && (c->verdict == VERDICT_UNCLEAR ||
				  (j->tests && c->verdict == VERDICT_OPEN && c->depth < 0));
}

/* Those of whom the test could not tell. */
static void note_undecided(struct judgement *j)
{
	char names[HOSTS_TEXT] = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->candidates; i++)
		if (is_undecided(j, &j->candidate[i])) {
			add_name(j, names, j->candidate[i].player);
			n++;
		}
	if (!n)
		return;
	j->cannot_tell = true;
	NOTE(j, PAIRS_DOUBTFUL, FINDING_WARN, FINDING_CANNOT_TELL, FINDING_NUMBER("count", n, ""),
	     FINDING_WORD("s", n > 1 ? "s" : ""), FINDING_WORD("hosts", names));
}

/* Who is low with far ones only, where no groups say with whom they share a place. */
static void note_places(struct judgement *j)
{
	char names[HOSTS_TEXT] = "";
	double part = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->candidates; i++) {
		const struct candidate *c = &j->candidate[i];

		if (c->verdict != VERDICT_PLACE || (j->group[c->player] != NONE && judge_tells_groups(j)))
			continue;
		add_name(j, names, c->player);
		part += exp(c->y - c->control);
		n++;
	}
	if (!n)
		return;
	j->cannot_tell |= !j->e->latency;
	NOTE(j, PAIRS_RACK, FINDING_WARN, FINDING_MAY_BE, FINDING_NUMBER("count", n, ""),
	     FINDING_NUMBER("part", part / n, "share"), FINDING_WORD("hosts", names));
}

/* ---- ports ---- */

/* How many hosts have a port of RAIL at GBPS; ANY: how many have a rate there. */
static uint32_t hosts_with(const struct judgement *j, const char *rail, double gbps, bool any)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < j->kinds; k++)
		if (strcmp(j->kind[k].rail, rail) == 0 && j->kind[k].gbps > 0 &&
		    (any || j->kind[k].gbps == gbps))
			n += j->kind[k].players;
	return n;
}

/* The rate that most hosts have on RAIL. */
static double usual_rate(const struct judgement *j, const char *rail)
{
	uint32_t most = 0;
	double usual = 0;

	for (uint32_t k = 0; k < j->kinds; k++) {
		uint32_t n = hosts_with(j, rail, j->kind[k].gbps, false);

		if (strcmp(j->kind[k].rail, rail) == 0 && n > most) {
			most = n;
			usual = j->kind[k].gbps;
		}
	}
	return usual;
}

/* A port that is slower than the same one of most hosts, where few have that: half its lanes, or a
 * cable that cannot do more. No measurement is needed. */
static void find_ports(struct judgement *j)
{
	for (uint32_t i = 0; i < j->players; i++) {
		const struct kind *k = &j->kind[j->e->player[i].kind];
		uint32_t all = hosts_with(j, k->rail, 0, true);
		uint32_t like = hosts_with(j, k->rail, k->gbps, false);
		struct suspect s = suspect_of(SUSPECT_PORT, i);

		s.value = (double)j->e->player[i].port_gbps;
		s.normal = usual_rate(j, k->rail);
		s.tested = true;
		if (s.value > 0 && s.value < s.normal && like < fmax(2, LEVEL_SHARE * all))
			suspects_add(&j->suspects, &s);
	}
}

/* ---- notes ---- */

/* True of rails that are slower than another one of the same rate, on all hosts. */
static void note_rails(struct judgement *j)
{
	for (uint32_t k = 0; k < j->kinds; k++) {
		const struct kind *kind = &j->kind[k];
		double best = -INFINITY, part;

		for (uint32_t i = 0; i < j->kinds; i++)
			if (j->kind[i].gbps == kind->gbps && j->kind[i].lower == kind->lower &&
			    j->kind[i].players > 1)
				best = fmax(best, j->kind[i].reach);
		part = exp(kind->reach - best);
		if (kind->players > 1 && *kind->rail && part < 1 - SCREEN_PART * DEEP / 2)
			NOTE(j, PAIRS_RAIL_EVERYWHERE, FINDING_WARN, FINDING_IS,
			     FINDING_WORD("rail", kind->rail),
			     FINDING_NUMBER("part", part, "share"));
	}
}

static void note_levels(struct judgement *j)
{
	char names[HOSTS_TEXT] = "";

	if (!j->lower)
		return;
	for (uint32_t i = 0; i < j->players; i++)
		if (j->e->player[i].lower)
			add_name(j, names, i);
	NOTE(j, PAIRS_LEVELS, j->level < 1 - DEEP ? FINDING_FAULT : FINDING_WARN, FINDING_IS,
	     FINDING_NUMBER("count", j->lower, ""), FINDING_NUMBER("part", j->level, "share"),
	     FINDING_WORD("hosts", names));
}

static void note_network(struct judgement *j)
{
	if (j->loaded < NETWORK_TAKES && !j->e->latency)
		NOTE(j, PAIRS_NETWORK, FINDING_NOTE, FINDING_IS,
		     FINDING_NUMBER("part", j->loaded, "share"));
}

/*
 * True if runs fill good links: a program of bandwidth whose only options are those that change
 * nothing about that, and messages of 64 KiB, the default, or more. With others nobody knows.
 */
static bool fills_links(const struct evidence *e)
{
	char what[400], *rest = NULL, *word;
	uint64_t bytes;

	text_copy(what, sizeof(what), e->whats.count ? strchrnul(e->whats.text[0], ' ') : "");
	word = strtok_r(what, " ", &rest);
	if (!word || strlen(word) < 3 || strcmp(word + strlen(word) - 3, "_bw") != 0 ||
	    strncmp(word, "atomic", 6) == 0)
		return false;
	while ((word = strtok_r(NULL, " ", &rest))) {
		if (*word == '-' && (!word[1] || !strchr("sDned", word[1])))
			return false;
		if (strncmp(word, "-s", 2) != 0)
			continue;
		word = word[2] ? word + 2 : strtok_r(NULL, " ", &rest);
		if (word && (units_parse_size(word, &bytes) || bytes < FULL_BYTES))
			return false;
	}
	return true;
}

/* Pairs that reach less than is expected of each; or the best ones, than their ports can. */
static void note_expected(struct judgement *j)
{
	double slowest = INFINITY, part = 1, gbps = 0, best;
	struct figures f = {.of = j->room};

	if (j->e->latency || !j->measured || j->e->incast)
		return;
	for (uint32_t i = 0; i < j->e->count; i++)
		if (judge_counts(j, &j->e->of[i]))
			f.of[f.n++] = (double)j->e->of[i].y;
	best = figures_quantile(&f, .95);
	for (uint32_t k = 0; k < j->kinds; k++)
		if (j->kind[k].players) {
			slowest = fmin(slowest, exp(j->kind[k].reach));
			if (j->kind[k].gbps > 0 &&
			    exp(j->kind[k].reach + best) / j->kind[k].gbps < part) {
				gbps = j->kind[k].gbps;
				part = exp(j->kind[k].reach + best) / gbps;
			}
		}
	if (j->expected > 0 && slowest / j->expected < EXPECTED_PART)
		NOTE(j, PAIRS_BELOW_EXPECTED, FINDING_FAULT, FINDING_IS,
		     FINDING_NUMBER("part", slowest / j->expected, "share"),
		     FINDING_NUMBER("expected", j->expected, "Gb/s"));
	if (!(j->expected > 0) && part < PORTS_PART && fills_links(j->e))
		NOTE(j, PAIRS_CLUSTER_SLOW, FINDING_FAULT, FINDING_IS,
		     FINDING_NUMBER("part", part, "share"), FINDING_NUMBER("expected", gbps, "Gb/s"));
}

static void note_slots(struct judgement *j)
{
	uint32_t missed = 0, players = 0, first = NONE;

	for (uint32_t i = 0; i < j->players; i++)
		if (j->e->player[i].missed) {
			first = first == NONE ? i : first;
			missed += j->e->player[i].missed;
			players++;
		}
	if (missed)
		NOTE(j, PAIRS_MISSED_SLOTS, FINDING_WARN, FINDING_IS,
		     FINDING_NUMBER("players", players, ""), FINDING_NUMBER("missed", missed, ""),
		     FINDING_WORD("s", players == 1 ? "" : "s"),
		     FINDING_WORD("host", evidence_name(j->e, first)));
}

/* Players with too few figures, since threads lacked their CPUs. */
static void note_cpu(struct judgement *j)
{
	char names[HOSTS_TEXT] = "";
	uint32_t n = 0, lacked = 0;

	for (uint32_t i = 0; i < j->e->count; i++)
		lacked += (j->e->of[i].marks & MARK_LACKED) > 0;
	for (uint32_t i = 0; i < j->players && lacked; i++) {
		uint32_t figures = 0, tried = 0;

		for (struct walk w = walk_all(j->e, i, PARTS_SCREEN); walk_next(&w);) {
				figures += judge_counts(j, w.is);
				tried += !w.is->cause;
			}
		if (4 * figures > tried || j->lost[i])
			continue;
		add_name(j, names, i);
		n++;
	}
	if (!lacked)
		return;
	j->cannot_tell |= n > 0;
	NOTE(j, PAIRS_NO_CPU, n ? FINDING_WARN : FINDING_NOTE, n ? FINDING_CANNOT_TELL : FINDING_IS,
	     FINDING_NUMBER("count", lacked, ""), FINDING_NUMBER("of", j->e->count, ""),
	     FINDING_WORD("hosts", n ? names : NULL));
}

/* Whether a slow player would have been a candidate. */
static void note_power(struct judgement *j)
{
	double most = j->e->latency ? .5 : UNSEEN;

	if (!(j->smallest > most) || j->players < 3 || j->e->incast)
		return;
	j->cannot_tell = true;
	NOTE(j, PAIRS_CANNOT_TELL, FINDING_WARN, FINDING_CANNOT_TELL,
	     FINDING_NUMBER("smallest", j->smallest, "share"));
}

/* Whose p99 is far above the median with most partners. */
static void find_tails(struct judgement *j)
{
	for (uint32_t i = 0; i < j->players; i++) {
		struct suspect s = suspect_of(SUSPECT_TAIL, i);
		struct figures f = {.of = j->room};
		uint32_t own = 0;

		for (struct walk w = {.e = j->e, .player = i, .parts = PARTS_SCREEN}; walk_next(&w);) {
			double tail = (double)w.is->p99 / (double)w.is->value;

			own++;
			if (!isnan(tail) && judge_counts(j, w.is))
				f.of[f.n++] = tail;
		}
		s.value = figures_median(&f);
		s.normal = TAIL_LONG;
		s.tested = s.sends = s.receives = true;
		s.partners = (uint32_t)f.n;
		s.text = judge_said(j, i, false);
		if (s.value > TAIL_LONG && !j->lost[i] && 2 * f.n > own)
			suspects_add(&j->suspects, &s);
	}
}

/* What the test says of PLAYER, which an incast made a candidate. */
static enum verdict verdict_of(const struct judgement *j, uint32_t player)
{
	uint32_t at = j->candidate_of[player];

	return at == NONE ? VERDICT_OPEN : j->candidate[at].verdict;
}

/* That many send less each than one does is no suspicion: of an incast only who starves, and a
 * receiver that gets little from all together. */
static void add_incast(struct judgement *j)
{
	const struct incast *it = &j->incast;

	for (uint32_t i = 0; i < it->starved; i++) {
		const struct incast_starving *is = &it->starving[i];
		struct suspect s = suspect_of(SUSPECT_STARVES, is->sender);

		s.tested = verdict_of(j, is->sender) != VERDICT_OPEN;
		s.drained = verdict_of(j, is->sender) == VERDICT_SLOW;
		s.sends = true;
		s.value = is->share;
		s.normal = 1;
		s.partners = is->rounds;
		s.bad = is->starved;
		suspects_add(&j->suspects, &s);
	}
	for (uint32_t i = 0; i < it->rounds; i++) {
		const struct incast_round *r = &it->round[i];
		struct suspect s = suspect_of(SUSPECT_DROWNS, r->receiver);

		if (j->candidate_of[r->receiver] == NONE || r->sum_gbps > STARVES * r->limit_gbps * it->reach)
			continue;
		s.tested = verdict_of(j, r->receiver) != VERDICT_OPEN;
		s.drained = verdict_of(j, r->receiver) == VERDICT_SLOW;
		s.receives = true;
		s.value = r->sum_gbps;
		s.normal = r->limit_gbps * it->reach;
		s.partners = r->senders;
		suspects_add(&j->suspects, &s);
	}
}

void judge_statements(struct judgement *j)
{
	uint32_t first = j->suspects.count;

	if (j->incast.rounds)
		add_incast(j);
	for (uint32_t i = 0; i < j->candidates && !j->incast.rounds; i++)
		add_candidate(j, &j->candidate[i]);
	find_ports(j);
	if (j->e->latency)
		find_tails(j);
	suspects_merge(j, first);
	for (uint32_t i = 0; i < j->pairs; i++)
		add_pair(j, &j->pair[i]);
	judge_groups(j);
	note_undecided(j);
	note_places(j);
	note_levels(j);
	if (!j->incast.rounds)
		note_rails(j);
	note_network(j);
	note_expected(j);
	note_cpu(j);
	note_power(j);
	note_slots(j);
}

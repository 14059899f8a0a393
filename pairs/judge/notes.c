// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is nobody's fault: the network, racks, rails, the launcher; and whether a slow node is seen.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "judgement.h"
#include "limits.h"

#define RACK_TEXT 200

static void note(struct judgement *j, enum finding_code code, enum finding_strength strength,
		 const struct finding_value *value, size_t count)
{
	struct finding_facts facts = {.code = code, .strength = strength};

	memcpy(facts.value, value, count * sizeof(*value));
	finding_add(&j->notes, &facts);
}

#define NOTE(j, code, strength, ...)                                         \
	note(j, code, strength, (const struct finding_value[]){__VA_ARGS__}, \
	     sizeof((const struct finding_value[]){__VA_ARGS__}) / sizeof(struct finding_value))

/* The best figure: what five in a hundred pairs exceed. */
static double best_of(const struct judgement *j)
{
	return j->fit.kind[0] + chances_at(fit_main_pool(&j->fit), POWER_BEST);
}

static void note_network(struct judgement *j)
{
	double far = exp(j->fit.distance[FIT_GROUPS]);

	if (j->group && far < FIT_NETWORK)
		NOTE(j, PAIRS_NETWORK, FINDING_IS, FINDING_NUMBER("part", far, "share"),
		     FINDING_WORD("within", ""));
	else if (!isnan(j->network))
		NOTE(j, PAIRS_NETWORK, FINDING_MAY_BE, FINDING_NUMBER("part", j->network, "share"),
		     FINDING_WORD("best", ""), FINDING_NUMBER("seen", 1 - j->smallest, "share"));
}

static void note_racks(struct judgement *j)
{
	const struct fit *f = &j->fit;

	for (uint32_t number = 1; number <= f->racks; number++) {
		char hosts[RACK_TEXT] = "";
		uint32_t count = 0;

		for (uint32_t i = 0; i < j->m.players; i++) {
			const char *name = j->body->names.text[i];

			if (f->rack[i] == number && ++count && strlen(hosts) < RACK_TEXT - 80)
				text_add(hosts, sizeof(hosts), "%s%.64s", *hosts ? " " : "", name);
		}
		NOTE(j, PAIRS_RACK, FINDING_MAY_BE, FINDING_NUMBER("count", count, ""),
		     FINDING_WORD("hosts", hosts),
		     FINDING_NUMBER("part", exp(f->distance[FIT_RACKS]), "share"));
	}
}

/* Rails that reach less on all hosts than others whose ports are as fast. */
static void note_rails(struct judgement *j)
{
	const struct kinds *k = &j->fit.kinds;

	for (uint32_t i = 0; i < k->count && !j->body->latency; i++) {
		double best = j->fit.kind[i];
		char name[64];

		for (uint32_t other = 0; other < k->count; other++)
			if (k->rate[other] == k->rate[i] && k->hosts[other] >= FIT_PARTNERS)
				best = fmax(best, j->fit.kind[other]);
		if (!(exp(j->fit.kind[i] - best) <= NOTES_RAIL) || k->hosts[i] < FIT_PARTNERS)
			continue;
		text_copy(name, sizeof(name), k->names.text[i]);
		if (k->rates_known && strrchr(name, ' '))
			*strrchr(name, ' ') = '\0';
		NOTE(j, PAIRS_RAIL_EVERYWHERE, k->rates_known ? FINDING_IS : FINDING_MAY_BE,
		     FINDING_WORD("rail", name),
		     FINDING_NUMBER("part", exp(j->fit.kind[i] - best), "share"));
	}
}

/*
 * True if runs fill good links: a program of bandwidth whose only options are those that change
 * nothing about that, and messages of 64 KiB, the default, or more. With others nobody knows.
 */
static bool fills_links(const struct body *b)
{
	char what[400], *rest = NULL, *word;
	uint64_t bytes;

	text_copy(what, sizeof(what), b->whats.count ? strchrnul(b->whats.text[0], ' ') : "");
	word = strtok_r(what, " ", &rest);
	if (!word || strlen(word) < 3 || strcmp(word + strlen(word) - 3, "_bw") != 0)
		return false;
	while ((word = strtok_r(NULL, " ", &rest))) {
		if (*word == '-' && (!word[1] || !strchr("sDned", word[1])))
			return false;
		if (strncmp(word, "-s", 2) != 0)
			continue;
		word = word[2] ? word + 2 : strtok_r(NULL, " ", &rest);
		if (word && (units_parse_size(word, &bytes) || bytes < NOTES_FULL_BYTES))
			return false;
	}
	return true;
}

/* What the slowest kind reaches: each pair is expected to reach as much. */
static double slowest_kind(const struct judgement *j)
{
	double slowest = INFINITY;

	for (uint32_t i = 0; i < j->fit.kinds.count; i++)
		slowest = fmin(slowest, exp(j->fit.kind[i]));
	return slowest;
}

static void note_cluster(struct judgement *j)
{
	const struct kinds *k = &j->fit.kinds;
	double best = exp(best_of(j)), expected = j->expected, part;

	if (j->body->latency || !j->measured)
		return;
	if (expected > 0) {
		part = slowest_kind(j) / expected;
		if (part < NOTES_EXPECTED)
			NOTE(j, PAIRS_BELOW_EXPECTED, FINDING_IS,
			     FINDING_NUMBER("part", part, "share"),
			     FINDING_NUMBER("expected", expected, "Gb/s"));
		return;
	}
	part = k->rates_known && k->count == 1 ? best / exp(k->rate[0]) : 1;
	if (part < NOTES_CLUSTER && fills_links(j->body))
		NOTE(j, PAIRS_CLUSTER_SLOW, FINDING_IS, FINDING_NUMBER("part", part, "share"),
		     FINDING_NUMBER("expected", exp(k->rate[0]), "Gb/s"));
}

/* Slots that players missed: the launcher's or the scheduler's doing. */
static void note_slots(struct judgement *j)
{
	uint32_t missed = 0, first = BODY_NONE;

	for (uint32_t i = 0; i < j->m.players; i++)
		if (j->body->player[i].missed) {
			first = first == BODY_NONE ? i : first;
			missed += j->body->player[i].missed;
		}
	if (!missed)
		return;
	if (judge_launcher_late(j))
		NOTE(j, PAIRS_LAUNCHER_LATE, FINDING_MAY_BE, FINDING_NUMBER("players", j->late, ""),
		     FINDING_NUMBER("missed", missed, ""));
	else
		NOTE(j, PAIRS_MISSED_SLOTS, FINDING_IS, FINDING_NUMBER("players", j->late, ""),
		     FINDING_NUMBER("missed", missed, ""),
		     FINDING_WORD("s", j->late == 1 ? "" : "s"),
		     FINDING_WORD("host", j->body->names.text[first]));
}

/* Whether a slow node would have been named. */
static void note_power(struct judgement *j)
{
	double network, smallest = fit_smallest(&j->fit, NOTES_SURE, &network);
	double most = !isnan(j->network) || j->body->latency ? NOTES_UNSEEN_NETWORK : NOTES_UNSEEN;

	if (isnan(smallest) || smallest <= most || !j->measured)
		return;
	j->cannot_tell = j->blind = true;
	NOTE(j, PAIRS_CANNOT_TELL, FINDING_CANNOT_TELL,
	     FINDING_NUMBER("smallest", j->smallest, "share"));
}

/*
 * Some pairs are far slower than all others: routes, or runs that were held up. Of so many chance
 * names none, and nobody knows which it is.
 */
static void note_some_slow(struct judgement *j)
{
	double pairs = 0;

	for (uint32_t i = 0; i < j->m.cells && !j->body->latency; i++)
		if (!isnan(j->fit.part[i])) {
			pairs++;
			j->slow_pairs += judge_is_far_slower(j, i);
		}
	if (j->suspects.count || !isnan(j->network) || j->slow_pairs < NOTES_SOME_LEAST ||
	    j->slow_pairs > NOTES_SOME_MOST * pairs)
		j->slow_pairs = 0;
	if (!j->slow_pairs)
		return;
	j->cannot_tell = true;
	NOTE(j, PAIRS_SOME_SLOW, FINDING_CANNOT_TELL, FINDING_NUMBER("count", j->slow_pairs, ""),
	     FINDING_NUMBER("part", j->slow_pairs / pairs, "share"));
}

void judge_notes(struct judgement *j)
{
	uint32_t doubtful = 0;

	j->smallest = fit_smallest(&j->fit, NOTES_REPORTED, &j->network);
	for (uint32_t i = 0; i < j->m.players; i++) {
		doubtful += j->fit.of[i].doubtful;
		/* it missed so many slots that it is not judged */
		j->cannot_tell |= j->lost[i] && j->body->player[i].missed;
	}
	if (doubtful) {
		j->cannot_tell = true;
		NOTE(j, PAIRS_DOUBTFUL, FINDING_CANNOT_TELL, FINDING_NUMBER("count", doubtful, ""),
		     FINDING_WORD("s", doubtful == 1 ? "" : "s"));
	}
	if (j->uplinks_doubtful) {
		j->cannot_tell = true;
		NOTE(j, PAIRS_UPLINKS, FINDING_CANNOT_TELL, FINDING_WORD("", ""));
	}
	note_power(j);
	note_some_slow(j);
	note_network(j);
	note_racks(j);
	note_rails(j);
	note_cluster(j);
	note_slots(j);
}

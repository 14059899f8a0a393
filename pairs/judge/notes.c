// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is nobody's fault: the network, racks, rails, the launcher; and how slow a node must be to
 * be named.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "judgement.h"
#include "proto/json_memory.h"
#include "stat/beta.h"

#define HOSTS_TEXT  200
#define ROUNDS_MOST 65536
#define STEP        .01 /* of parts that are tried */

#define NOTE(j, code_, strength_, ...)                                          \
	finding_add(&(j)->notes, &(struct finding_facts){.code = code_,         \
							 .strength = strength_, \
							 .value = {__VA_ARGS__}})

/* Words of advice that stand only IF it was not done yet. */
#define WORD_IF(name, if_) FINDING_WORD(name, (if_) ? "" : NULL)

/* The chance that at least K of N are so, each of which is with chance P. */
static double at_least(uint32_t k, uint32_t n, double p)
{
	return p >= 1 ? 1 : p <= 0 ? 0 : beta_incomplete(k, n - k + 1., p);
}

/* The largest share of which K of N figures are proof. */
static double proof_share(const struct fit *f, uint32_t k, uint32_t n)
{
	double low = 0, high = 1;

	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		if (at_least(k, n, middle) <= f->chance)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * The smallest part that K of N figures prove. What is slow by a part D has all figures lower by
 * it, or where the network already takes POWER_TOP from the best ones, none above 1 - D of these.
 */
static double smallest_of(const struct fit *f, const struct chances *p, uint32_t k, uint32_t n,
			  double top, double named)
{
	double limit = chances_at(p, POWER_SAFE * proof_share(f, k, n)), d = STEP;

	while (d < 1 && at_least(k, n, chances_share(p, limit - log(1 - d), 0, 0)) < named)
		d += STEP;
	return top > 0 ? fmax(d, 1 - exp(limit - top)) : d;
}

/* The figures that half of the players have at least in one way; 0: too few to judge them by. */
static uint32_t usual_figures(const struct fit *f)
{
	size_t n = 0;

	for (uint32_t i = 0; i < f->m->players; i++)
		if (f->of[i].way[FIT_SENDS].partners >= FIT_PARTNERS)
			f->some[n++] = (float)f->of[i].way[FIT_SENDS].figures;
	return 2 * n > f->m->players ? (uint32_t)matrix_median(f->some, n) : 0;
}

/* The sum of what pairs reach in a round, as parts of normal, and how many there are. */
struct sum {
	double parts, squares;
	uint32_t count;
};

/* True if in some round all pairs reach less than in another one, and chance does not explain it.
 */
static bool differ(const struct sum *of, uint32_t rounds)
{
	const struct sum *best = NULL;

	for (uint32_t i = 0; i < rounds; i++)
		if (of[i].count >= POWER_ROUND_PAIRS &&
		    (!best || of[i].parts / of[i].count > best->parts / best->count))
			best = &of[i];
	for (uint32_t i = 0; i < rounds && best; i++) {
		double n = of[i].count, mean = of[i].parts / n, most = best->parts / best->count;
		double variance = (of[i].squares / n - mean * mean) / n +
				  (best->squares / best->count - most * most) / best->count;

		if (n >= POWER_ROUND_PAIRS && mean < POWER_ROUND_LOW * most &&
		    most - mean > POWER_ROUND_SURE * sqrt(fmax(0, variance)))
			return true;
	}
	return false;
}

/* What pairs reach on average, as a part of the best ones: POWER_TOP, a logarithm. NaN: it is even.
 */
static double network_of(const struct fit *f, double top)
{
	struct sum all = {0}, *of = calloc(ROUNDS_MOST, sizeof(*of));
	double average;
	bool uneven;

	if (!of)
		json_memory_lacked();
	for (const struct meeting *t = f->slots.of; of && t < f->slots.end; t++) {
		uint32_t a = t->player, b = t->with;
		struct sum *to = &of[t->at % ROUNDS_MOST];
		double y = ((double)fmaxf(t->sends, t->receives) +
			    (double)fminf(t->sends, t->receives)) /
			   2;
		double part = exp(y - fmin(f->kind[f->kinds.of[a]], f->kind[f->kinds.of[b]]));

		if (isnan(y) || a > b || f->lost[a] || f->lost[b] || fit_is_aside(f, a) ||
		    fit_is_aside(f, b))
			continue;
		to->parts += part;
		to->squares += part * part;
		to->count++;
		all.parts += part;
		all.count++;
	}
	uneven = of && differ(of, ROUNDS_MOST);
	free(of);
	average = all.count ? all.parts / all.count / exp(top) : NAN;
	return uneven || average < FIT_NETWORK ? average : NAN;
}

/*
 * The smallest part by which a node may send too slowly and is named with the chance NAMED; NaN: no
 * player has enough partners. NETWORK: what pairs reach on average of the best ones, if it is the
 * network that takes the rest; NaN: it is not.
 */
static double find_smallest(const struct fit *f, double named, double *network)
{
	const struct chances *p = fit_main_pool(f);
	uint32_t n = usual_figures(f);
	double top, best = NAN;

	*network = NAN;
	if (!n || !p->count)
		return NAN;
	if (!f->body->latency) /* the longest way takes no part of the shortest one */
		*network = network_of(f, chances_at(p, POWER_BEST));
	top = isnan(*network) ? 0 : chances_at(p, POWER_TOP);
	for (double part = .8; part < 1.05; part += .1)
		best = fmin(best, smallest_of(f, p, (uint32_t)fmin(n, ceil(part * n - 1e-9)), n,
					      top, named));
	/* Half of those that are slow by the least effect seem to be less slow. */
	return fmax(best,
		    1 - exp(-fit_least(f) - top - POWER_MEDIAN_SURE * fit_noise(f) / sqrt(n)));
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
		char hosts[HOSTS_TEXT] = "";
		uint32_t count = 0;

		for (uint32_t i = 0; i < j->m.players; i++) {
			const char *name = j->body->names.text[i];

			if (f->rack[i] == number && ++count && strlen(hosts) < HOSTS_TEXT - 80)
				text_add(hosts, sizeof(hosts), "%s%.64s", *hosts ? " " : "", name);
		}
		NOTE(j, PAIRS_RACK, FINDING_MAY_BE, FINDING_NUMBER("count", count, ""),
		     WORD_IF("racks", !j->group), FINDING_WORD("hosts", hosts),
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
	if (!word || strlen(word) < 3 || strcmp(word + strlen(word) - 3, "_bw") != 0 ||
	    strncmp(word, "atomic", 6) == 0)
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

/*
 * True if the thread of PLAYER lacked its CPU in most of its runs of a direction: of the passive
 * end of a WRITE nobody knows it.
 */
static bool lacks_cpu(const struct judgement *j, uint32_t player)
{
	uint32_t lacked[MATRIX_WAYS] = {0}, measured[MATRIX_WAYS] = {0};

	for (struct matrix_walk w = {.m = &j->m, .player = player}; matrix_next(&w);) {
		const struct body_try *t = &j->body->tries[w.cell->first];

		for (uint32_t i = 0; i < w.cell->tries; i++) {
			lacked[w.way] += t[i].lacked[w.way];
			measured[w.way] += t[i].cause == BODY_MEASURED;
		}
	}
	return 2 * lacked[MATRIX_SEND] > measured[MATRIX_SEND] ||
	       2 * lacked[MATRIX_RECEIVE] > measured[MATRIX_RECEIVE];
}

void judge_no_cpu(struct judgement *j)
{
	char hosts[HOSTS_TEXT] = "";
	uint32_t count = 0;

	for (uint32_t i = 0; i < j->m.cells; i++)
		count += judge_is_undecided(j, i) &&
			 !(j->body->latency && j->m.cell[i].from > j->m.cell[i].to);
	if (!count)
		return;
	for (uint32_t i = 0; i < j->m.players && strlen(hosts) < HOSTS_TEXT - 80; i++)
		if (lacks_cpu(j, i))
			text_add(hosts, sizeof(hosts), "%s%.64s", *hosts ? " " : "",
				 j->body->names.text[i]);
	j->cannot_tell = true;
	NOTE(j, PAIRS_NO_CPU, FINDING_CANNOT_TELL, FINDING_NUMBER("count", count, ""),
	     FINDING_NUMBER("of", j->tried, ""), FINDING_WORD("hosts", *hosts ? hosts : NULL));
}

/* Pairs that reach less than is expected of each, or the best ones less than their ports can. */
static void note_cluster(struct judgement *j)
{
	const struct kinds *k = &j->fit.kinds;
	double best = exp(j->fit.kind[0] + chances_at(fit_main_pool(&j->fit), POWER_BEST));
	double part = k->rates_known && k->count == 1 ? best / exp(k->rate[0]) : 1;
	double slowest = INFINITY;

	if (j->body->latency || !j->measured)
		return;
	for (uint32_t i = 0; i < k->count; i++)
		slowest = fmin(slowest, exp(j->fit.kind[i]));
	if (j->expected > 0 && slowest / j->expected < NOTES_EXPECTED)
		NOTE(j, PAIRS_BELOW_EXPECTED, FINDING_IS,
		     FINDING_NUMBER("part", slowest / j->expected, "share"),
		     FINDING_NUMBER("expected", j->expected, "Gb/s"));
	if (!(j->expected > 0) && part < NOTES_CLUSTER && fills_links(j->body))
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
	double network, smallest = find_smallest(&j->fit, NOTES_SURE, &network);
	double most = !isnan(j->network) || j->body->latency ? NOTES_UNSEEN_NETWORK : NOTES_UNSEEN;

	if (isnan(smallest) || smallest <= most || !j->measured)
		return;
	j->cannot_tell = j->blind = true;
	NOTE(j, PAIRS_CANNOT_TELL, FINDING_CANNOT_TELL,
	     FINDING_NUMBER("smallest", j->smallest, "share"),
	     WORD_IF("together", j->body->at_once != 1),
	     WORD_IF("apart", strncmp(j->body->schedule, "group", 5) != 0),
	     WORD_IF("some", judge_misses_pairs(j)));
}

/*
 * Some pairs are far slower than all others: routes, or runs that were delayed. Of so many chance
 * names none, and nobody knows which it is.
 */
static void note_some_slow(struct judgement *j)
{
	double pairs = 0;
	bool again = false;

	for (uint32_t i = 0; i < j->m.cells && !j->body->latency; i++)
		if (!isnan(j->fit.part[i])) {
			bool slow = judge_is_far_slower(j, i);

			pairs++;
			j->slow_pairs += slow;
			again |= slow && isnan(j->m.cell[i].alone);
		}
	if (j->suspects.count || !isnan(j->network) || j->slow_pairs < NOTES_SOME_LEAST ||
	    j->slow_pairs > NOTES_SOME_MOST * pairs)
		j->slow_pairs = 0;
	if (!j->slow_pairs)
		return;
	j->cannot_tell = true;
	NOTE(j, PAIRS_SOME_SLOW, FINDING_CANNOT_TELL, FINDING_NUMBER("count", j->slow_pairs, ""),
	     FINDING_NUMBER("part", j->slow_pairs / pairs, "share"), WORD_IF("again", again),
	     WORD_IF("done", !again), WORD_IF("racks", !j->group));
}

void judge_notes(struct judgement *j)
{
	uint32_t doubtful = 0;

	j->smallest = find_smallest(&j->fit, NOTES_REPORTED, &j->network);
	for (uint32_t i = 0; i < j->m.players; i++) {
		doubtful += j->fit.of[i].doubtful;
		/* it missed so many slots that it is not judged */
		j->cannot_tell |= j->lost[i] && j->body->player[i].missed;
	}
	if (doubtful) {
		j->cannot_tell = true;
		NOTE(j, PAIRS_DOUBTFUL, FINDING_CANNOT_TELL, FINDING_NUMBER("count", doubtful, ""),
		     FINDING_WORD("s", doubtful == 1 ? "" : "s"), WORD_IF("racks", !j->group),
		     WORD_IF("some", judge_misses_pairs(j)));
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

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is no single node's fault: the network, levels, rails, what was expected, and what nobody
 * can tell. */
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "judgement.h"

#define HOSTS_TEXT 300

/* A copy of TEXT, or NULL. */
static const char *keep(struct judgement *j, const char *text)
{
	uint32_t at = names_put(&j->e->texts, text);

	return at == NAMES_NONE ? NULL : j->e->texts.text[at];
}

/* Add S, which is about those players who ARE so, if there are such. */
static void say_of(struct judgement *j, struct statement s,
		   bool (*are)(const struct judgement *j, uint32_t player))
{
	char text[HOSTS_TEXT] = "";

	for (uint32_t i = 0; i < j->players; i++) {
		if (!are(j, i))
			continue;
		if (strlen(text) + strlen(evidence_name(j->e, i)) + sizeof(" ...") < HOSTS_TEXT)
			text_add(text, HOSTS_TEXT, "%s%s", s.count ? " " : "", evidence_name(j->e, i));
		else if (!strstr(text, " ..."))
			text_add(text, HOSTS_TEXT, " ...");
		s.count++;
	}
	if (!s.count)
		return;
	s.text = keep(j, text);
	statements_add(j, &s);
}

/* True if three quarters of PLAYER's figures or more do not count; UNLIKE: as none is like them, the
 * rate of its port being unknown. */
static bool has_few(const struct judgement *j, uint32_t player, bool unlike)
{
	uint32_t none = 0, tried = 0;

	for (struct walk w = walk_all(j->e, player, PARTS_SCREEN); walk_next(&w);) {
		bool lacked = w.is->marks & MARK_LACKED;

		none += !w.is->cause &&
			(unlike ? !lacked && isnan(w.is->y) : !judge_counts(j, w.is));
		tried += !w.is->cause;
	}
	return tried && 4 * none >= 3 * tried && !j->player[player].lost;
}

/* Nothing is like it: two have only each other, and maybe the rate of their ports. */
static bool is_alone(const struct judgement *j, uint32_t player)
{
	if (j->players > 2)
		return has_few(j, player, true);
	return j->measured && !(j->expected > 0) &&
	       (j->e->latency || !(j->player[player].port_gbps > 0));
}

/* The test could not tell, or had too many before it; or before the test there are too many; or it has
 * few figures. */
static bool is_undecided(const struct judgement *j, uint32_t player)
{
	const struct player *p = &j->player[player];
	bool many = j->tests || j->candidates > judge_most(j);

	if (p->verdict == VERDICT_UNCLEAR ||
	    (p->verdict == VERDICT_OPEN && many && p->depth < (p->candidate ? 0 : -LOW_LEAST)))
		return !p->falls;
	return !p->candidate && !is_alone(j, player) && has_few(j, player, false);
}

static bool is_placed(const struct judgement *j, uint32_t player)
{
	return j->player[player].verdict == VERDICT_PLACE;
}

static bool is_lower(const struct judgement *j, uint32_t player)
{
	return j->player[player].lower;
}

static bool is_late(const struct judgement *j, uint32_t player)
{
	return j->player[player].missed > 0;
}

/* Players who share a place are low with far references only. */
static void note_places(struct judgement *j)
{
	double part = 0, n = 0;

	for (uint32_t i = 0; i < j->players; i++)
		if (is_placed(j, i)) {
			part += exp(j->player[i].y - j->player[i].control);
			n++;
		}
	say_of(j, (struct statement){PAIRS_RACK, FINDING_WARN,
				     j->e->latency ? FINDING_IS : FINDING_MAY_BE, .value = part / n},
	       is_placed);
}

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
			statements_add(j, &(struct statement){PAIRS_RAIL_EVERYWHERE, FINDING_WARN,
							      .value = part, .text = kind->rail});
	}
}

/* No pair has a figure: why, as most runs say, is more than a list of all. */
static void note_nothing(struct judgement *j)
{
	const char *said = judge_said(j, NONE, true);

	for (uint32_t i = 0; i < j->players && !said; i++)
		if (j->player[i].server_said != NAMES_NONE)
			said = j->e->texts.text[j->player[i].server_said];
	if (!j->measured)
		statements_add(j, &(struct statement){PAIRS_NOTHING, FINDING_FAULT, .text = said});
}

/* Add S if it IS so. */
static void note(struct judgement *j, bool is, struct statement s)
{
	if (is)
		statements_add(j, &s);
}

/* Runs that failed, though neither end is lost: many, and no node explains them. And those whose
 * threads lacked their CPUs: a node without another run is undecided. */
static void note_runs(struct judgement *j)
{
	uint32_t failed = 0, lacked = 0;

	for (uint32_t i = 0; i < j->e->count; i++) {
		const struct observation *o = &j->e->of[i];

		failed += PARTS_SCREEN >> o->part & 1 && judge_y(j, o) <= FAILED;
		lacked += (o->marks & MARK_LACKED) > 0;
	}
	note(j, failed > FAILED_MANY * j->tried && j->measured,
	     (struct statement){PAIRS_FAILED, FINDING_WARN, FINDING_CANNOT_TELL, .count = failed,
				.of = j->tried});
	note(j, lacked, (struct statement){PAIRS_NO_CPU, .count = lacked, .of = j->e->count});
}

/* What all pairs at once reach on average of what few do in the middle, without those that are known to
 * be slow. */
static void note_network(struct judgement *j)
{
	struct figures f = judge_figures(j, 1U << PART_LOADED);
	double sum = 0, n = 0, alone = figures_quantile(&f, .99);

	for (uint32_t i = 0; i < j->e->count; i++) {
		const struct observation *o = &j->e->of[i];

		if (o->part != PART_LOADED || !judge_counts(j, o) || judge_is_bad(j, o->from) ||
		    judge_is_bad(j, o->to))
			continue;
		sum += exp((double)o->y);
		n++;
	}
	f = judge_figures(j, 1U << PART_SCREEN);
	if (f.n)
		alone = figures_median(&f);
	j->loaded = sum / n / exp(alone);
	note(j, j->loaded < NETWORK_TAKES && !j->e->latency && j->e->plans,
	     (struct statement){PAIRS_NETWORK, .value = j->loaded});
}

/*
 * True if runs fill good links: a program of bandwidth whose only options are those that change
 * nothing about that, and messages of 64 KiB, the default, or more. With others nobody knows.
 */
static bool fills_links(const struct evidence *e)
{
	static const char what[] =
		"^gbps (send|write|read)_bw( -[Dned] ?[^- ]*| -s ?(6[5-9]|[7-9][0-9]|[1-9][0-9]{2,})"
		"([0-9]{3}|[kK])| -s ?(64[kK]|[1-9][0-9]*[mMgG]))*$";
	regex_t r;
	bool fills;

	if (!e->whats.count || regcomp(&r, what, REG_EXTENDED | REG_NOSUB))
		return false;
	fills = !regexec(&r, e->whats.text[0], 0, NULL, 0);
	regfree(&r);
	return fills;
}

/* Pairs that reach less than is expected of each; or the best ones, than their ports can. */
static void note_expected(struct judgement *j)
{
	double slowest = INFINITY, part = 0, gbps = 0, best;
	struct figures f;

	if (j->e->latency || !j->measured || j->e->incast)
		return;
	f = judge_figures(j, ~0U);
	/* of two nodes, who have nobody else, the slower direction */
	best = figures_quantile(&f, j->players > 2 ? .95 : .05);
	for (uint32_t k = 0; k < j->kinds; k++)
		if (j->kind[k].players) {
			double reach = exp(j->kind[k].reach + best) / j->kind[k].gbps;

			slowest = fmin(slowest, exp(j->kind[k].reach));
			if (j->kind[k].gbps > 0 && !(reach < part)) {
				gbps = j->kind[k].gbps;
				part = reach;
			}
		}
	note(j, j->expected > 0 && slowest / j->expected < 1 - LEAST_RATE,
	     (struct statement){PAIRS_BELOW_EXPECTED, FINDING_FAULT, .value = slowest,
				.normal = j->expected});
	note(j, !(j->expected > 0) && gbps > 0 && part < PORTS_PART && fills_links(j->e),
	     (struct statement){PAIRS_CLUSTER_SLOW, FINDING_FAULT, .value = part * gbps,
				.normal = gbps});
}

/* What the senders of a round reach together, as a part of their receiver's port. */
static void note_incast(struct judgement *j)
{
	const struct observation *of = j->e->of, *end = of ? of + j->e->count : of, *next;
	struct figures reach = {.of = j->room};
	double least = INFINITY, senders = 0;
	uint32_t at = 0;

	for (; of < end && j->e->incast; of = next) { /* those of one receiver are together */
		double gbps = (double)j->player[of->to].port_gbps, sum = 0, n = 0;

		for (next = of; next < end && next->run == of->run && next->slot == of->slot &&
				next->to == of->to;
		     next++)
			if (next->part == PART_LOADED && next->value > 0) {
				sum += (double)next->value;
				n++;
			}
		if (n < 2 || !(gbps > 0))
			continue;
		if (sum / gbps < least) {
			least = sum / gbps;
			at = of->to;
		}
		senders += n;
		reach.of[reach.n++] = sum / gbps;
	}
	if (!reach.n)
		return;
	statements_add(j, &(struct statement){PAIRS_INCAST,
					      .count = (uint32_t)lround(senders / (double)reach.n),
					      .value = figures_median(&reach),
					      .text = evidence_name(j->e, at)});
}

/*
 * What is missing: slots, the rest of a run, players, the ends of some; and what slots runs need.
 */
static void note_incomplete(struct judgement *j)
{
	const struct evidence *e = j->e;
	uint32_t unended = 0, missed = 0;
	char slot[32];

	for (uint32_t i = 0; i < j->players; i++) {
		missed += j->player[i].missed;
		unended += j->player[i].unended;
	}
	say_of(j, (struct statement){PAIRS_MISSED_SLOTS, FINDING_WARN, .of = missed}, is_late);
	for (const struct run *run = e->run; run < e->run + e->runs.count; run++) {
		uint32_t played = run->done ? run->played : run->seen;

		if (!run->planned || (run->done && played >= run->planned))
			continue;
		note(j, true, (struct statement){PAIRS_CUT, FINDING_WARN, FINDING_MAY_BE,
						 .count = played < run->planned ? played : run->planned,
						 .of = run->planned});
		break;
	}
	note(j, unended, (struct statement){PAIRS_UNENDED, FINDING_WARN, FINDING_MAY_BE, .count = unended});
	note(j, e->expected > e->names.count,
	     (struct statement){PAIRS_UNNAMED, FINDING_WARN, .count = e->expected - e->names.count,
				.of = e->expected});
	snprintf(slot, sizeof(slot), "%.1f", e->slot_needed_s);
	note(j, e->slot_needed_s > 0,
	     (struct statement){PAIRS_SHORT_SLOTS, FINDING_WARN, .text = keep(j, slot)});
}

void judge_notes(struct judgement *j)
{
	say_of(j, (struct statement){PAIRS_DOUBTFUL, FINDING_WARN, FINDING_CANNOT_TELL,
				     .tested = j->tests},
	       is_undecided);
	say_of(j, (struct statement){PAIRS_NO_LIKE, FINDING_WARN, FINDING_CANNOT_TELL}, is_alone);
	note_places(j);
	note_nothing(j);
	say_of(j, (struct statement){PAIRS_LEVELS, j->level < 1 - DEEP ? FINDING_FAULT : FINDING_WARN,
				     .value = j->level},
	       is_lower);
	note_incast(j);
	if (!j->e->incast)
		note_rails(j);
	note_network(j);
	note_expected(j);
	note_runs(j);
	/* a slow player would not have been a candidate */
	note(j, judge_is_blind(j),
	     (struct statement){PAIRS_CANNOT_TELL, FINDING_WARN, FINDING_CANNOT_TELL,
				.value = j->smallest});
	note_incomplete(j);
}

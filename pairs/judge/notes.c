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

/* Players of whom something is said. */
struct named {
	char text[HOSTS_TEXT];
	uint32_t count;
};

static void add_name(const struct judgement *j, struct named *to, uint32_t player)
{
	const char *name = evidence_name(j->e, player);

	if (strlen(to->text) + strlen(name) + sizeof(" ...") < HOSTS_TEXT)
		text_add(to->text, HOSTS_TEXT, "%s%s", to->count ? " " : "", name);
	else if (!strstr(to->text, " ..."))
		text_add(to->text, HOSTS_TEXT, " ...");
	to->count++;
}

/* Add S about the players NAMED, if there are such. */
static void say_of(struct judgement *j, const struct named *named, struct statement s)
{
	uint32_t at = named->count ? names_put(&j->e->texts, named->text) : NAMES_NONE;

	s.text = at == NAMES_NONE ? NULL : j->e->texts.text[at];
	statements_add(j, &s);
}

/* The test could not tell, or had too many before it; or before the test there are too many. */
static bool is_undecided(const struct judgement *j, const struct candidate *c)
{
	bool left_out = c >= j->candidate + j->candidates;
	bool open = c->verdict == VERDICT_OPEN && c->depth < (left_out ? -LOW_LEAST : 0) &&
		    (j->tests || j->candidates > judge_most(j));

	return !c->falls && (c->verdict == VERDICT_UNCLEAR || open);
}

/* True if at most a quarter of PLAYER's figures count: its threads lacked their CPUs, or it has no like. */
static bool has_few(const struct judgement *j, uint32_t player)
{
	uint32_t figures = 0, tried = 0;

	for (struct walk w = walk_all(j->e, player, PARTS_SCREEN); walk_next(&w);) {
		figures += judge_counts(j, w.is);
		tried += !w.is->cause;
	}
	return tried && 4 * figures <= tried && !j->player[player].lost;
}

/* Undecided candidates; and those that are low with far references only: they share a place. */
static void note_candidates(struct judgement *j)
{
	struct named undecided = {0}, place = {0};
	double part = 0;
	uint32_t places = 0;

	for (uint32_t i = 0; i < j->candidates; i++)
		places += j->candidate[i].verdict == VERDICT_PLACE;
	for (uint32_t i = 0; i < j->candidates + j->left_out; i++) {
		const struct candidate *c = &j->candidate[i];

		if (is_undecided(j, c) || (c->verdict == VERDICT_PLACE && places == 1))
			add_name(j, &undecided, c->player);
		else if (c->verdict == VERDICT_PLACE) {
			add_name(j, &place, c->player);
			part += exp(c->y - c->control);
		}
	}
	/* two have only each other, and maybe the rate of their ports; others have few figures that count */
	for (uint32_t i = 0; i < j->players && j->measured; i++)
		if ((j->players == 2 && !(j->expected > 0) &&
		     (j->e->latency || !(j->player[i].port_gbps > 0))) ||
		    (j->player[i].candidate == NONE && has_few(j, i)))
			add_name(j, &undecided, i);
	if (undecided.count)
		say_of(j, &undecided, (struct statement){PAIRS_DOUBTFUL, FINDING_WARN, FINDING_CANNOT_TELL,
							 .count = undecided.count, .tested = j->tests});
	if (place.count)
		say_of(j, &place, (struct statement){PAIRS_RACK, FINDING_WARN,
						     j->e->latency ? FINDING_IS : FINDING_MAY_BE,
						     .count = place.count, .value = part / place.count});
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
		if (j->player[i].server_said != EVIDENCE_NONE)
			said = j->e->texts.text[j->player[i].server_said];
	if (!j->measured)
		statements_add(j, &(struct statement){PAIRS_NOTHING, FINDING_FAULT, .text = said});
}

/* Runs that failed, though neither end is lost: many, and no node explains them. */
static void note_failed(struct judgement *j)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < j->e->count; i++)
		failed +=
			PARTS_SCREEN >> j->e->of[i].part & 1 && judge_y(j, &j->e->of[i]) <= FAILED;
	if (failed > FAILED_MANY * j->tried && j->measured)
		statements_add(j, &(struct statement){PAIRS_FAILED, FINDING_WARN, FINDING_CANNOT_TELL,
						      .count = failed, .of = j->tried});
}

static void note_levels(struct judgement *j)
{
	struct named lower = {0};

	for (uint32_t i = 0; i < j->players; i++)
		if (j->player[i].lower)
			add_name(j, &lower, i);
	if (lower.count)
		say_of(j, &lower, (struct statement){PAIRS_LEVELS,
						     j->level < 1 - DEEP ? FINDING_FAULT : FINDING_WARN,
						     .count = lower.count, .value = j->level});
}

static void note_network(struct judgement *j)
{
	j->loaded = judge_loaded(j); /* without those that are known to be slow now */
	if (j->loaded < NETWORK_TAKES && !j->e->latency && j->e->plans)
		statements_add(j, &(struct statement){PAIRS_NETWORK, .value = j->loaded});
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
	if (j->expected > 0 && slowest / j->expected < EXPECTED_PART)
		statements_add(j, &(struct statement){PAIRS_BELOW_EXPECTED, FINDING_FAULT,
						      .value = slowest, .normal = j->expected});
	if (!(j->expected > 0) && gbps > 0 && part < PORTS_PART && fills_links(j->e))
		statements_add(j, &(struct statement){PAIRS_CLUSTER_SLOW, FINDING_FAULT,
						      .value = part * gbps, .normal = gbps});
}

static void note_slots(struct judgement *j)
{
	struct named late = {0};
	uint32_t missed = 0;

	for (uint32_t i = 0; i < j->players; i++)
		if (j->player[i].missed) {
			add_name(j, &late, i);
			missed += j->player[i].missed;
		}
	if (missed)
		say_of(j, &late, (struct statement){PAIRS_MISSED_SLOTS, FINDING_WARN,
						    .count = late.count, .of = missed});
}

/* Runs whose threads lacked their CPUs. A node without another run is undecided. */
static void note_cpu(struct judgement *j)
{
	uint32_t lacked = 0;

	for (uint32_t i = 0; i < j->e->count; i++)
		lacked += (j->e->of[i].marks & MARK_LACKED) > 0;
	if (lacked)
		statements_add(j, &(struct statement){PAIRS_NO_CPU, FINDING_NOTE, .count = lacked,
						      .of = j->e->count});
}

/* What the senders of a round reach together, as a part of their receiver's port. */
static void note_incast(struct judgement *j)
{
	const struct observation *of = j->e->of, *end = of ? of + j->e->count : of, *next;
	struct figures reach = {.of = j->room};
	double least = INFINITY, senders = 0;
	struct named worst = {0};
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
	add_name(j, &worst, at);
	say_of(j, &worst, (struct statement){PAIRS_INCAST,
					     .count = (uint32_t)lround(senders / (double)reach.n),
					     .value = figures_median(&reach)});
}

/* What is missing: the rest of a run, players, the ends of some; and of which slots runs need. */
static void note_incomplete(struct judgement *j)
{
	const struct evidence *e = j->e;
	struct named needed = {.count = e->slot_needed_s > 0};
	uint32_t unended = 0;

	for (uint32_t i = 0; i < e->runs.count; i++) {
		const struct run *run = &e->run[i];
		uint32_t played = run->done ? run->played : run->seen;

		if (!run->planned || !run->came || (run->done && played >= run->planned))
			continue;
		statements_add(j, &(struct statement){PAIRS_CUT, FINDING_WARN, FINDING_MAY_BE,
						      .count = played < run->planned ? played : run->planned,
						      .of = run->planned});
		break;
	}
	for (uint32_t i = 0; i < j->players; i++)
		unended += j->player[i].unended;
	if (unended)
		statements_add(j, &(struct statement){PAIRS_UNENDED, FINDING_WARN, FINDING_MAY_BE,
						      .count = unended});
	if (e->expected > e->names.count)
		statements_add(j, &(struct statement){PAIRS_UNNAMED, FINDING_WARN,
						      .count = e->expected - e->names.count,
						      .of = e->expected});
	text_add(needed.text, sizeof(needed.text), "%.1f", e->slot_needed_s);
	if (needed.count)
		say_of(j, &needed, (struct statement){PAIRS_SHORT_SLOTS, FINDING_WARN});
}

void judge_notes(struct judgement *j)
{
	note_candidates(j);
	note_nothing(j);
	note_failed(j);
	note_levels(j);
	note_incast(j);
	if (!j->e->incast)
		note_rails(j);
	note_network(j);
	note_expected(j);
	note_cpu(j);
	if (judge_is_blind(j)) /* a slow player would not have been a candidate */
		statements_add(j, &(struct statement){PAIRS_CANNOT_TELL, FINDING_WARN,
						      FINDING_CANNOT_TELL, .value = j->smallest});
	note_slots(j);
	note_incomplete(j);
}

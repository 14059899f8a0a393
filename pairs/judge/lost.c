// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Players that never came, ended early, have a wrong clock or cannot be used. */
#include <math.h>
#include <stdlib.h>

#include "clocks.h"
#include "judgement.h"
#include "stat/beta.h"
#include "limits.h"

#define SWEEPS_MAX 200

/* What was tried with a player. */
struct tally {
	uint32_t measured, failed;
	uint32_t cause[BODY_CAUSES], blamed[BODY_CAUSES];
};

static struct tally tally_of(const struct judgement *j, uint32_t player)
{
	struct tally all = {0};

	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t k = 0; k < matrix_count(&j->m, way, player); k++) {
			const struct matrix_cell *c = &j->m.cell[matrix_at(&j->m, way, player, k)];
			const struct body_try *t = &j->body->tries[c->first], *end = t + c->tries;

			for (; t < end; t++) {
				bool measured = t->cause == BODY_MEASURED;

				if (t->mirrored)
					continue;
				all.measured += measured;
				all.failed += !measured;
				all.cause[t->cause]++;
				all.blamed[measured ? BODY_CLOCK : t->cause] +=
					t->blame == (way == MATRIX_SEND ? 1 : 2);
			}
		}
	return all;
}

/* No line says that P ended, and such lines say it of others. */
static bool is_unended(const struct judgement *j, const struct body_player *p)
{
	return j->body->counts.done > 0 && p->came > p->done;
}

/* All of its runs have a figure, and a line was cut that may have said that it ended. */
static bool may_be_cut(const struct judgement *j, const struct tally *t)
{
	return j->body->counts.broken && !t->failed;
}

static bool is_failure(const struct body_try *t)
{
	return t->cause != BODY_MEASURED && t->cause != BODY_MISSED && t->cause != BODY_ABSENT &&
	       t->cause != BODY_CLOCK && !t->mirrored;
}

/* Count the slots of PLAYER, and those in which a run failed in either direction. */
static uint32_t failed_slots(const struct judgement *j, uint32_t player, uint32_t *slots)
{
	const struct matrix *m = &j->m;
	uint32_t failed = 0;

	*slots = 0;
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
			const struct matrix_cell *c = &m->cell[matrix_at(m, way, player, k)];
			const struct matrix_cell *back = matrix_find(m, c->to, c->from);

			for (uint32_t i = c->first; i < c->first + c->tries; i++) {
				const struct body_try *t = &j->body->tries[i], *other;

				other = meetings_same_slot(back, j->body->tries, t);
				if (other && way == MATRIX_RECEIVE) /* counted with what it sent */
					continue;
				*slots += !t->mirrored || !other;
				failed += is_failure(t) || (other && is_failure(other));
			}
		}
	return failed;
}

/* True if more runs of PLAYER failed than chance makes of the others' failures. */
static bool fails_at_times(const struct judgement *j, uint32_t player)
{
	uint32_t slots, failed = failed_slots(j, player, &slots);
	double others = j->failures.slots - (double)slots, share;

	if (failed < 2 || !(others > 0))
		return false;
	share = (fmax(0, j->failures.failed - (double)failed) + 1) / (others + 2);
	return beta_incomplete(failed, slots - failed + 1., fmin(share, .999)) <
	       FIT_CHANCE / j->m.players;
}

static enum finding_code kind_of(const struct judgement *j, uint32_t player, const struct tally *t,
				 bool unusable, bool clock_wrong)
{
	const struct body_player *p = &j->body->player[player];
	bool anybody_came = j->body->counts.players > 0;
	bool late = p->missed > 0;

	if (anybody_came && !p->came && !p->done && !t->measured)
		return SUSPECT_NEVER_CAME;
	if (p->no_device && t->failed >= t->measured)
		return SUSPECT_DEVICE;
	if ((is_unended(j, p) && !may_be_cut(j, t)) || p->stopped)
		return SUSPECT_ENDED;
	if (t->blamed[BODY_DEVICE] && (t->blamed[BODY_DEVICE] > 1 || !t->measured))
		return SUSPECT_DEVICE;
	if (clock_wrong || t->blamed[BODY_CLOCK] > 1)
		return SUSPECT_CLOCK;
	if (unusable && !(late && t->blamed[BODY_MISSED])) {
		if (t->cause[BODY_DATA] * 2 > t->failed)
			return SUSPECT_DATA;
		return t->cause[BODY_CONNECT] * 2 > t->failed ? SUSPECT_UNREACHABLE : SUSPECT_BROKE;
	}
	return fails_at_times(j, player) ? SUSPECT_FAILS : FINDING_CODES;
}

static int add_lost(struct judgement *j, uint32_t i, const struct clock_of *clock, bool unusable)
{
	struct suspect s = {.a = i,
			    .b = SUSPECT_NONE,
			    .value = NAN,
			    .normal = NAN,
			    .text = SUSPECT_NONE,
			    .proof = SUSPECT_CONFIRMED};
	const struct tally t = tally_of(j, i);

	s.kind = kind_of(j, i, &t, unusable, clocks_wrong(clock, i));
	s.bad = t.failed;
	s.partners = t.measured + t.failed;
	j->rounds.unended += s.kind == FINDING_CODES && is_unended(j, &j->body->player[i]);
	if (s.kind == FINDING_CODES)
		return 0;
	if (s.kind != SUSPECT_CLOCK && j->body->player[i].server_said)
		s.text = j->body->player[i].server_said - 1;
	else if (s.kind != SUSPECT_CLOCK)
		s.text = judge_said(j, i, true);
	if (s.kind == SUSPECT_CLOCK)
		s.value = clock[i].off_s;
	if (s.kind == SUSPECT_FAILS)
		s.bad = failed_slots(j, i, &s.partners);
	return suspects_add(&j->suspects, &s);
}

/* Its own lines say that a player was not there, or not to the end. */
static bool is_gone(const struct judgement *j, uint32_t player)
{
	const struct body_player *p = &j->body->player[player];

	return (j->body->counts.players > 0 && !p->came) || is_unended(j, p) || p->stopped;
}

/* A pair with a player that is gone says nothing of the other one. */
static bool says_nothing(const struct judgement *j, const struct matrix_cell *c)
{
	return is_gone(j, c->from) || is_gone(j, c->to);
}

static bool works(const struct matrix_cell *c)
{
	return c->measured && c->measured >= c->failed;
}

/*
 * The part of PLAYER's pairs in WAY, with partners that are not ASIDE (NULL: nobody is), that
 * hardly has a figure. 0: these are of fewer than LEAST hosts.
 */
static double part_failed(const struct judgement *j, uint32_t player, enum matrix_way way,
			  bool *const aside[MATRIX_WAYS], uint32_t least)
{
	uint32_t hosts = 0, cells = 0, failed = 0, last = UINT32_MAX;

	for (uint32_t k = 0; k < matrix_count(&j->m, way, player); k++) {
		uint32_t cell = matrix_at(&j->m, way, player, k);
		uint32_t to = matrix_partner(&j->m, way, cell);

		if (says_nothing(j, &j->m.cell[cell]) || (aside && aside[!way][to]))
			continue;
		cells++;
		failed += !works(&j->m.cell[cell]);
		hosts += j->m.host[to] != last;
		last = j->m.host[to];
	}
	return cells && hosts >= least ? (double)failed / cells : 0;
}

/* True if hardly a run of PLAYER in WAY with players that are there had a figure. */
static bool hardly_works(const struct judgement *j, uint32_t player, enum matrix_way way)
{
	uint32_t failed = 0, all = 0;

	for (uint32_t k = 0; k < matrix_count(&j->m, way, player); k++) {
		const struct matrix_cell *c = &j->m.cell[matrix_at(&j->m, way, player, k)];

		if (is_gone(j, way == MATRIX_SEND ? c->to : c->from))
			continue;
		failed += c->failed;
		all += c->failed + c->measured;
	}
	return failed >= LOST_HARDLY * all;
}

/* True if hardly a pair works. Then who fails most is chance. */
static bool is_general(const struct judgement *j)
{
	uint32_t cells = 0, good = 0;

	for (uint32_t i = 0; i < j->m.cells; i++) {
		cells += !says_nothing(j, &j->m.cell[i]);
		good += !says_nothing(j, &j->m.cell[i]) && works(&j->m.cell[i]);
	}
	return good < LOST_FEW_GOOD * cells;
}

/*
 * Put ASIDE those players, in each direction, who explain the pairs without a figure: the one that
 * fails with the largest part of its partners, then the next among the others, as long as one fails
 * with more than half of them. If hardly a pair works: all who fail with more than half.
 */
static void find_unusable(const struct judgement *j, bool *const aside[MATRIX_WAYS])
{
	uint32_t both = j->m.players * MATRIX_WAYS;
	bool general = is_general(j), found = !general;

	for (uint32_t i = 0; i < both && general; i++)
		aside[i % 2][i / 2] = part_failed(j, i / 2, i % 2, NULL, 1) > .5;
	for (int sweep = 0; found && sweep < SWEEPS_MAX; sweep++) {
		double worst = .5;

		found = false;
		for (uint32_t i = 0; i < both; i++)
			if (!aside[i % 2][i / 2])
				worst = fmax(worst,
					     part_failed(j, i / 2, i % 2, aside, FIT_PARTNERS));
		for (uint32_t i = 0; i < both; i++) {
			double part = part_failed(j, i / 2, i % 2, aside, FIT_PARTNERS);

			if (aside[i % 2][i / 2] || part <= .5 || part < worst * LOST_NEAR)
				continue;
			found = aside[i % 2][i / 2] = true;
		}
	}
	for (uint32_t i = 0; i < both && !general; i++)
		aside[i % 2][i / 2] &= hardly_works(j, i / 2, i % 2);
}

/* Of two that only the other one was compared with, nobody can say whose clock is wrong. */
static int add_apart(struct judgement *j, uint32_t i, const struct clock_of *clock)
{
	if (!clocks_apart(clock, i) || clock[i].last < i)
		return 0;
	return suspects_add(&j->suspects, &(struct suspect){.kind = SUSPECT_CLOCK,
							    .a = i,
							    .b = clock[i].last,
							    .sends = true,
							    .receives = true,
							    .value = clock[i].off_s,
							    .normal = NAN,
							    .text = SUSPECT_NONE});
}

static void note_lost(struct judgement *j)
{
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		/* What a host reaches that did not run for long says nothing of its links. */
		j->lost[s->a] |= suspect_is_lost(s->kind);
		j->excused[s->a] = true;
	}
	for (uint32_t i = 0; i < j->m.players; i++) {
		const struct body_player *p = &j->body->player[i];

		j->late += p->missed > 0;
		j->excused[i] |= p->missed > 0;
	}
	/* One that is busy says little of its links; of a launcher that was late they say as much
	 * as ever. */
	for (uint32_t i = 0; i < j->m.players && !judge_launcher_late(j); i++)
		j->lost[i] |=
			j->body->player[i].missed > j->body->player[i].rounds * LOST_MISSED_MANY;
}

int judge_lost(struct judgement *j)
{
	uint32_t players = j->m.players;
	bool *aside[MATRIX_WAYS] = {calloc((size_t)players + 1, 1), calloc((size_t)players + 1, 1)};
	struct clock_of *clock = calloc((size_t)players + 1, sizeof(*clock));
	int failed = clock && aside[MATRIX_SEND] && aside[MATRIX_RECEIVE] ? 0 : -1;

	/* Where nothing was measured, no node explains it. */
	if (!failed && j->measured)
		find_unusable(j, aside);
	failed = failed || clocks_compare(j, clock) ? -1 : 0;
	for (uint32_t i = 0; i < players; i++) {
		uint32_t slots;

		j->failures.failed += failed_slots(j, i, &slots);
		j->failures.slots += slots;
	}
	/* Each is counted at both ends. */
	j->failures.failed /= 2;
	j->failures.slots /= 2;
	for (uint32_t i = 0; i < players && !failed; i++)
		failed = add_lost(j, i, clock, aside[MATRIX_SEND][i] || aside[MATRIX_RECEIVE][i]) ||
					 add_apart(j, i, clock)
				 ? -1
				 : 0;
	note_lost(j);
	free(clock);
	free(aside[MATRIX_SEND]);
	free(aside[MATRIX_RECEIVE]);
	return failed;
}

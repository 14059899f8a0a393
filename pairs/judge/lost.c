// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Players that never came, ended early, have a wrong clock or cannot be used. */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"
#include "limits.h"
#include "stat/beta.h"

/* What was tried with a player. */
struct tally {
	uint32_t measured, failed;
	uint32_t cause[BODY_CAUSES], blamed[BODY_CAUSES];
};

static struct tally tally_of(const struct judgement *j, uint32_t player)
{
	struct tally all = {0};

	for (struct matrix_walk w = {.m = &j->m, .player = player}; matrix_next(&w);) {
		const struct body_try *t = &j->body->tries[w.cell->first], *end;

		for (end = t + w.cell->tries; t < end; t++) {
			bool measured = t->cause == BODY_MEASURED;

			if (t->mirrored)
				continue;
			all.measured += measured;
			all.failed += !measured;
			all.cause[t->cause]++;
			all.blamed[measured ? BODY_CLOCK : t->cause] +=
				t->blame == (w.way == MATRIX_SEND ? 1 : 2);
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

/* Count the slots of PLAYER, and those in which a run failed in either direction. */
static uint32_t failed_slots(const struct judgement *j, uint32_t player, uint32_t *slots)
{
	const struct meeting *t = meetings_of(&j->fit.slots, player);
	const struct meeting *end = meetings_end(&j->fit.slots, player);
	uint32_t failed = 0;

	for (*slots = (uint32_t)(end - t); t < end; t++)
		failed += t->failed;
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

/* Its own lines say that a player was not there, or not to the end. */
static bool is_gone(const struct judgement *j, uint32_t player)
{
	const struct body_player *p = &j->body->player[player];

	return (j->body->counts.players > 0 && !p->came) || is_unended(j, p) || p->stopped;
}

/* True if hardly a run of PLAYER in WAY with players that are there had a figure. */
static bool hardly_works(const struct judgement *j, uint32_t player, enum matrix_way way)
{
	uint32_t failed = 0, all = 0;

	for (struct matrix_walk w = {.m = &j->m, .player = player}; matrix_next(&w);) {
		if (w.way != way || is_gone(j, w.with))
			continue;
		failed += w.cell->failed;
		all += w.cell->failed + w.cell->measured;
	}
	return failed >= LOST_HARDLY * all;
}

/*
 * Put those players ASIDE who explain the pairs without a figure. A pair with a player that is gone
 * says nothing of the other one. BAD: room for all cells.
 */
static void find_unusable(const struct judgement *j, signed char *bad,
			  bool *const aside[MATRIX_WAYS])
{
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		bad[i] = is_gone(j, c->from) || is_gone(j, c->to)
				 ? -1
				 : !c->measured || c->measured < c->failed;
	}
	/* where nothing was measured, no node explains it */
	if (!j->measured || !matrix_explain(&j->m, bad, FIT_PARTNERS, aside))
		return;
	for (uint32_t i = 0; i < j->m.players * MATRIX_WAYS; i++)
		aside[i % 2][i / 2] &= hardly_works(j, i / 2, i % 2);
}

/* The clock of the receiver of C less the sender's, as the last run says that compared them; or
 * NaN. */
static float clock_of(const struct judgement *j, const struct matrix_cell *c)
{
	for (uint32_t i = c->first + c->tries; i-- > c->first;) {
		const struct body_try *t = &j->body->tries[i];

		if (!t->mirrored && !isnan(t->clock_s))
			return t->client_is_from ? t->clock_s : -t->clock_s;
	}
	return NAN;
}

/*
 * The median of what the clock of PLAYER is ahead of those from which it is off, as BAD says of
 * each cell; NaN: of none. ONLY: a player of the host that is the only one it was compared with.
 */
static double ahead_of(const struct judgement *j, const signed char *bad, uint32_t player,
		       uint32_t *only)
{
	bool several = false;
	size_t n = 0;

	*only = BODY_NONE;
	for (struct matrix_walk w = {.m = &j->m, .player = player}; matrix_next(&w);) {
		float is = clock_of(j, w.cell);

		if (isnan(is))
			continue;
		several |= *only != BODY_NONE && j->m.host[*only] != j->m.host[w.with];
		*only = w.with;
		if (bad[w.cell - j->m.cell] > 0)
			j->fit.some[n++] = w.way == MATRIX_SEND ? -is : is;
	}
	*only = several ? BODY_NONE : *only;
	return matrix_median(j->fit.some, n);
}

/*
 * Say whose clock is OFF: those that differ from most others. One that was compared with one host
 * only is off if that one is not; of two that nobody else was compared with, nobody can say which.
 */
static int find_clocks(struct judgement *j, signed char *bad, bool *const off[MATRIX_WAYS])
{
	double slot_s = j->body->slot_s;
	double limit = fmax(slot_s > 0 ? slot_s / 4 : CLOCK_OTHER_S, CLOCK_LEAST_S);
	uint32_t only, back;

	for (uint32_t i = 0; i < j->m.cells; i++) {
		float is = clock_of(j, &j->m.cell[i]);

		bad[i] = isnan(is) ? -1 : fabs((double)is) > limit;
	}
	matrix_explain(&j->m, bad, 2, off);
	for (uint32_t i = 0; i < j->m.players; i++) {
		double ahead = ahead_of(j, bad, i, &only);

		if (only == BODY_NONE)
			continue;
		ahead_of(j, bad, only, &back);
		off[0][i] = !isnan(ahead) && back == BODY_NONE && !off[0][only] && !off[1][only];
		off[1][i] = false;
		if (!isnan(ahead) && back != BODY_NONE && i < only &&
		    suspects_add(&j->suspects, &(struct suspect){.kind = SUSPECT_CLOCK,
								 .a = i,
								 .b = only,
								 .sends = true,
								 .receives = true,
								 .value = ahead,
								 .normal = NAN,
								 .text = SUSPECT_NONE}))
			return -1;
	}
	return 0;
}

/* AHEAD: the clock of player I is wrong by it; NaN: it is not. */
static int add_lost(struct judgement *j, uint32_t i, bool unusable, bool clock_off, double ahead)
{
	const struct tally t = tally_of(j, i);
	enum finding_code kind = kind_of(j, i, &t, unusable, clock_off);
	bool clock = kind == SUSPECT_CLOCK;
	struct suspect s = {.kind = kind,
			    .a = i,
			    .b = SUSPECT_NONE,
			    .value = clock ? ahead : NAN,
			    .normal = NAN,
			    .bad = t.failed,
			    .partners = t.measured + t.failed,
			    .text = SUSPECT_NONE,
			    .proof = SUSPECT_CONFIRMED};

	j->rounds.unended += kind == FINDING_CODES && is_unended(j, &j->body->player[i]);
	if (kind == FINDING_CODES)
		return 0;
	if (!clock)
		s.text = j->body->player[i].server_said ? j->body->player[i].server_said - 1
							: judge_said(j, i, true);
	if (kind == SUSPECT_FAILS)
		s.bad = failed_slots(j, i, &s.partners);
	return suspects_add(&j->suspects, &s);
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

static int find_lost(struct judgement *j, signed char *bad, bool *const unusable[MATRIX_WAYS],
		     bool *const off[MATRIX_WAYS])
{
	uint32_t slots, only;

	find_unusable(j, bad, unusable);
	if (find_clocks(j, bad, off))
		return -1;
	for (uint32_t i = 0; i < j->m.players; i++) { /* each slot is counted at both ends */
		j->failures.failed += failed_slots(j, i, &slots);
		j->failures.slots += slots;
	}
	j->failures.failed /= 2;
	j->failures.slots /= 2;
	for (uint32_t i = 0; i < j->m.players; i++)
		if (add_lost(j, i, unusable[0][i] || unusable[1][i], off[0][i] || off[1][i],
			     ahead_of(j, bad, i, &only)))
			return -1;
	note_lost(j);
	return 0;
}

int judge_lost(struct judgement *j)
{
	size_t players = (size_t)j->m.players + 1;
	bool *room = calloc(4 * players, sizeof(*room));
	signed char *bad = malloc((size_t)j->m.cells + 1);
	int failed = -1;

	if (room && bad)
		failed = find_lost(j, bad, (bool *[]){room, room + players},
				   (bool *[]){room + 2 * players, room + 3 * players});
	free(room);
	free(bad);
	return failed;
}

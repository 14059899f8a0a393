// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Players that never came, ended early, have a wrong clock or cannot be used. */
#include <math.h>

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
		const struct body_try *t = &j->body->tries[w.cell->first];

		for (const struct body_try *end = t + w.cell->tries; t < end; t++) {
			bool measured = t->cause == BODY_MEASURED;

			if (t->mirrored)
				continue;
			all.measured += measured;
			all.failed += !measured;
			all.cause[t->cause]++;
			all.blamed[t->cause] += t->blame == (w.way == MATRIX_SEND ? 1 : 2);
		}
	}
	return all;
}

/* No line says that P ended, and such lines say it of others. */
static bool is_unended(const struct judgement *j, const struct body_player *p)
{
	return j->body->counts.done > 0 && p->came > p->done;
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
	double others = j->slots - (double)slots, share;

	if (failed < 2 || !(others > 0))
		return false;
	share = (fmax(0, j->failed_slots - (double)failed) + 1) / (others + 2);
	return beta_incomplete(failed, slots - failed + 1., fmin(share, .999)) <
	       FIT_CHANCE / j->m.players;
}

static enum finding_code kind_of(const struct judgement *j, uint32_t player, const struct tally *t,
				 bool unusable, bool clock_wrong)
{
	const struct body_player *p = &j->body->player[player];
	/* all of its runs have a figure, and a line was cut that may have said that it ended */
	bool may_be_cut = j->body->counts.broken && !t->failed;

	if (j->body->counts.players && !p->came && !p->done && !t->measured)
		return SUSPECT_NEVER_CAME;
	if (p->no_device && t->failed >= t->measured)
		return SUSPECT_DEVICE;
	if ((is_unended(j, p) && !may_be_cut) || p->stopped)
		return SUSPECT_ENDED;
	if (t->blamed[BODY_DEVICE] && (t->blamed[BODY_DEVICE] > 1 || !t->measured))
		return SUSPECT_DEVICE;
	if (clock_wrong)
		return SUSPECT_CLOCK;
	if (unusable && !(p->missed && t->blamed[BODY_MISSED])) {
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
 * Find those who explain the pairs without a figure. A pair with a player that is gone says nothing
 * of the other one.
 */
static void find_unusable(struct judgement *j, bool *const unusable[MATRIX_WAYS])
{
	signed char *bad = j->fit.bad;
	bool general;

	if (!j->measured) /* no node explains it */
		return;
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		bad[i] = is_gone(j, c->from) || is_gone(j, c->to)
				 ? -1
				 : !c->measured || c->measured < c->failed;
	}
	general = matrix_explain(&j->m, bad, .5, FIT_PARTNERS, unusable);
	for (uint32_t i = 0; i < j->m.players * MATRIX_WAYS && !general; i++)
		unusable[i % 2][i / 2] &= hardly_works(j, i / 2, i % 2);
}

/* The clock of C's receiver less the sender's, as the last run that compared them says; or NaN. */
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
 * The median of what the clock of PLAYER is ahead of those from which it is off, by the marks of
 * find_clocks(); NaN: of none. ONLY: a player of the host that is the only one it was compared
 * with.
 */
static double ahead_of(const struct judgement *j, uint32_t player, uint32_t *only)
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
		if (j->fit.bad[w.cell - j->m.cell] > 0)
			j->fit.some[n++] = w.way == MATRIX_SEND ? -is : is;
	}
	*only = several ? BODY_NONE : *only;
	return matrix_median(j->fit.some, n);
}

/*
 * Say whose clock is OFF: those that differ from most others. One that was compared with one host
 * only is off if that one is not; of two that nobody else was compared with, nobody can say which.
 */
static void find_clocks(struct judgement *j, bool *const off[MATRIX_WAYS])
{
	double slot_s = j->body->slot_s;
	double limit = fmax(slot_s > 0 ? slot_s / 4 : CLOCK_OTHER_S, CLOCK_LEAST_S);
	uint32_t only, back;

	for (uint32_t i = 0; i < j->m.cells; i++) {
		float is = clock_of(j, &j->m.cell[i]);

		j->fit.bad[i] = isnan(is) ? -1 : fabs((double)is) > limit;
	}
	matrix_explain(&j->m, j->fit.bad, .5, 2, off);
	for (uint32_t i = 0; i < j->m.players; i++) {
		struct suspect s = suspect_of(SUSPECT_CLOCK, i);

		s.value = ahead_of(j, i, &only);
		if (only == BODY_NONE)
			continue;
		ahead_of(j, only, &back);
		off[0][i] = !isnan(s.value) && back == BODY_NONE && !off[0][only] && !off[1][only];
		off[1][i] = false;
		if (isnan(s.value) || back == BODY_NONE || i > only)
			continue;
		s.b = only;
		s.sends = s.receives = true;
		suspects_add(&j->suspects, &s);
	}
}

static void add_lost(struct judgement *j, uint32_t i, bool unusable, bool clock_off)
{
	const struct tally t = tally_of(j, i);
	uint32_t said = j->body->player[i].server_said, only;
	struct suspect s = suspect_of(kind_of(j, i, &t, unusable, clock_off), i);

	s.proof = SUSPECT_CONFIRMED;
	s.bad = t.failed;
	s.partners = t.measured + t.failed;
	j->rounds.unended += s.kind == FINDING_CODES && is_unended(j, &j->body->player[i]);
	if (s.kind == FINDING_CODES)
		return;
	if (s.kind == SUSPECT_CLOCK)
		s.value = ahead_of(j, i, &only);
	else
		s.text = said ? said - 1 : judge_said(j, i, true);
	if (s.kind == SUSPECT_FAILS)
		s.bad = failed_slots(j, i, &s.partners);
	suspects_add(&j->suspects, &s);
}

static void note_lost(struct judgement *j)
{
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		/* what a host reaches that did not run for long says nothing of its links */
		j->lost[s->a] |= suspect_is_lost(s->kind);
		j->excused[s->a] = true;
	}
	for (uint32_t i = 0; i < j->m.players; i++) {
		const struct body_player *p = &j->body->player[i];

		j->late += p->missed > 0;
		j->excused[i] |= p->missed > 0;
	}
	/* one that is busy says little of its links; if the launcher was late, as much as ever */
	for (uint32_t i = 0; i < j->m.players && !judge_launcher_late(j); i++)
		j->lost[i] |=
			j->body->player[i].missed > j->body->player[i].rounds * LOST_MISSED_MANY;
}

void judge_lost(struct judgement *j)
{
	bool *const *mark = j->fit.mark, *const *unusable = mark, *const *off = mark + MATRIX_WAYS;
	uint32_t slots;

	find_unusable(j, unusable);
	find_clocks(j, off);
	for (uint32_t i = 0; i < j->m.players; i++) { /* each slot is counted at both ends */
		j->failed_slots += failed_slots(j, i, &slots);
		j->slots += slots;
	}
	j->failed_slots /= 2;
	j->slots /= 2;
	for (uint32_t i = 0; i < j->m.players; i++)
		add_lost(j, i, unusable[0][i] || unusable[1][i], off[0][i] || off[1][i]);
	note_lost(j);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Players that never came, ended early, have a wrong clock or cannot be used. */
#include <math.h>
#include <stdlib.h>

#include "clocks.h"
#include "judgement.h"
#include "peel.h"

#define MISSED_PART .05 /* of the slots that a player may miss */
#define MISSED_MANY .25 /* if it missed more than these, what it reached is not judged */

/* What was tried with a player. */
struct tally {
	uint32_t measured, failed;
	uint32_t cause[BODY_CAUSES], blamed[BODY_CAUSES];
};

static void count_try(struct tally *t, const struct body_try *try, enum matrix_way way)
{
	bool blamed = try->blame == (way == MATRIX_SEND ? 1 : 2);

	t->measured += try->cause == BODY_MEASURED;
	t->failed += try->cause != BODY_MEASURED;
	t->cause[try->cause]++;
	t->blamed[try->cause == BODY_MEASURED ? BODY_CLOCK : try->cause] += blamed;
}

static void fill_tally(const struct judgement *j, uint32_t player, struct tally *t)
{
	*t = (struct tally){0};
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t k = 0; k < matrix_count(&j->m, way, player); k++) {
			const struct matrix_cell *c = &j->m.cell[matrix_at(&j->m, way, player, k)];

			for (uint32_t i = c->first; i < c->first + c->tries; i++)
				if (!j->body->tries[i].mirrored)
					count_try(t, &j->body->tries[i], way);
		}
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

static enum suspect_kind kind_of(const struct judgement *j, uint32_t player, const struct tally *t,
				 bool unusable, bool clock_wrong)
{
	const struct body_player *p = &j->body->player[player];
	bool anybody_came = j->body->counts.players > 0;
	bool late = p->missed > p->rounds * MISSED_PART;

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
	return late ? SUSPECT_LATE : SUSPECT_KINDS;
}

static int add_lost(struct judgement *j, uint32_t i, const struct clock_of *clock, bool unusable)
{
	struct suspect s = {.a = i,
			    .b = SUSPECT_NONE,
			    .value = NAN,
			    .normal = NAN,
			    .text = SUSPECT_NONE,
			    .proof = SUSPECT_CONFIRMED};
	struct tally t;

	fill_tally(j, i, &t);
	s.kind = kind_of(j, i, &t, unusable, clocks_wrong(clock, i));
	s.bad = t.failed;
	s.partners = t.measured + t.failed;
	j->rounds.unended += s.kind == SUSPECT_KINDS && is_unended(j, &j->body->player[i]);
	if (s.kind == SUSPECT_KINDS)
		return 0;
	if (suspect_is_lost(s.kind) && j->body->player[i].server_said)
		s.text = j->body->player[i].server_said - 1;
	else if (suspect_is_lost(s.kind))
		s.text = judge_said(j, i, true);
	if (s.kind == SUSPECT_CLOCK)
		s.value = clock[i].off_s;
	if (s.kind == SUSPECT_LATE) {
		s.value = j->body->player[i].missed;
		s.normal = j->body->player[i].rounds;
	}
	return suspects_add(&j->suspects, &s);
}

/* Its own lines say that a player was not there, or not to the end. */
static bool is_gone(const struct judgement *j, uint32_t player)
{
	const struct body_player *p = &j->body->player[player];

	return (j->body->counts.players > 0 && !p->came) || is_unended(j, p) || p->stopped;
}

/* If hardly a pair was measured: all who failed with more than half of their partners. */
static void set_failed_aside(const struct matrix *m, const float *x, bool *const aside[MATRIX_WAYS])
{
	for (uint32_t i = 0; i < m->players; i++)
		for (enum matrix_way way = 0; way < MATRIX_WAYS; way++) {
			uint32_t cells = 0, bad = 0;

			for (uint32_t k = 0; k < matrix_count(m, way, i); k++) {
				float v = x[matrix_at(m, way, i, k)];

				cells += !isnan(v);
				bad += v < .5f;
			}
			aside[way][i] = 2 * bad > cells;
		}
}

/*
 * Find the players who explain the pairs without a figure. X: 1 measured, 0 not. A pair with a
 * player that is gone says nothing of the other one: two gone ones among six made a healthy one
 * unusable whose only other fault was one run that its slot cut off.
 */
static int find_unusable(const struct judgement *j, bool *const aside[MATRIX_WAYS])
{
	float *x = malloc(((size_t)j->m.cells + 1) * sizeof(*x));
	int count;

	if (!x)
		return -1;
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		x[i] = c->measured >= c->failed && c->measured;
		if (is_gone(j, c->from) || is_gone(j, c->to))
			x[i] = NAN;
	}
	count = peel(&j->m, x, .5, aside);
	if (count >= 0 && peel_is_general(&j->m, x, .5))
		set_failed_aside(&j->m, x, aside);
	free(x);
	return count < 0 ? -1 : 0;
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
		j->lost[s->a] |= suspect_is_lost(s->kind) ||
				 (s->kind == SUSPECT_LATE && s->value > s->normal * MISSED_MANY);
		j->excused[s->a] = true;
	}
}

int judge_lost(struct judgement *j)
{
	uint32_t players = j->m.players;
	bool *aside[MATRIX_WAYS] = {calloc((size_t)players + 1, 1), calloc((size_t)players + 1, 1)};
	struct clock_of *clock = calloc((size_t)players + 1, sizeof(*clock));
	int failed = clock && aside[MATRIX_SEND] && aside[MATRIX_RECEIVE] ? 0 : -1;

	/* Where nothing was measured, no node explains it. */
	if (!failed && j->measured)
		failed = find_unusable(j, aside);
	failed = failed || clocks_compare(j, clock) ? -1 : 0;
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

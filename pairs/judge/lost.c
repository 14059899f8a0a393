// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Players that never came, ended early, have a wrong clock or cannot be used. */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"
#include "peel.h"

#define CLOCK_LEAST_S .1  /* a clock is never wrong by less */
#define CLOCK_OTHER_S .25 /* the limit, if the length of a slot is not known */
#define MISSED_PART   .05 /* of the slots that a player may miss */

/* What was tried with a player. */
struct tally {
	uint32_t measured, failed;
	uint32_t cause[BODY_CAUSES], blamed[BODY_CAUSES];
	uint32_t clocks, clocks_off; /* cells that compare its clock, and in which it is off */
	double clock_s;              /* the median of the latter ones; NaN: none */
};

static void count_try(struct tally *t, const struct body_try *try, enum matrix_way way)
{
	bool blamed = try->blame == (way == MATRIX_SEND ? 1 : 2);

	t->measured += try->cause == BODY_MEASURED;
	t->failed += try->cause != BODY_MEASURED;
	t->cause[try->cause]++;
	t->blamed[try->cause == BODY_MEASURED ? BODY_CLOCK : try->cause] += blamed;
}

/* A player's clock less its partner's, as TRY says. */
static float clock_of(const struct body_try *try, enum matrix_way way)
{
	bool is_client = try->client_is_from == (way == MATRIX_SEND);

	return is_client ? -try->clock_s : try->clock_s;
}

static double clock_limit_s(const struct judgement *j)
{
	return fmax(j->body->slot_s > 0 ? j->body->slot_s / 4 : CLOCK_OTHER_S, CLOCK_LEAST_S);
}

/* Count the tries of one cell. Returns the last clock that they tell, or NaN. */
static float tally_cell(const struct judgement *j, const struct matrix_cell *c, enum matrix_way way,
			struct tally *t)
{
	float clock_s = NAN;

	for (uint32_t i = c->first; i < c->first + c->tries; i++) {
		const struct body_try *try = &j->body->tries[i];

		if (try->mirrored)
			continue;
		count_try(t, try, way);
		if (!isnan(try->clock_s))
			clock_s = clock_of(try, way);
	}
	return clock_s;
}

/* Fill T. SOME: room for as many figures as a player has cells. */
static void fill_tally(const struct judgement *j, uint32_t player, struct tally *t, float *some)
{
	*t = (struct tally){0};
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t k = 0; k < matrix_count(&j->m, way, player); k++) {
			const struct matrix_cell *c = &j->m.cell[matrix_at(&j->m, way, player, k)];
			float clock_s = tally_cell(j, c, way, t);

			t->clocks += !isnan(clock_s);
			if (fabs((double)clock_s) > clock_limit_s(j))
				some[t->clocks_off++] = clock_s;
		}
	t->clock_s = matrix_median(some, t->clocks_off);
}

/*
 * A clock is wrong if it is off from those of more than half of its partners, of two or more: the
 * median of two partners, one of which has a wrong clock, is off by half of that.
 */
static bool clock_is_wrong(const struct tally *t)
{
	return t->blamed[BODY_CLOCK] > 1 || (t->clocks_off > 1 && 2 * t->clocks_off > t->clocks);
}

static enum suspect_kind kind_of(const struct judgement *j, uint32_t player, const struct tally *t,
				 bool unusable)
{
	const struct body_player *p = &j->body->player[player];
	bool anybody_came = j->body->counts.players > 0, anybody_done = j->body->counts.done > 0;
	uint32_t most = (uint32_t)(p->rounds * MISSED_PART);
	bool late = p->missed > (most > 1 ? most : 1);

	if (anybody_came && !p->came && !p->done && !t->measured)
		return SUSPECT_NEVER_CAME;
	if (p->no_device && t->failed >= t->measured)
		return SUSPECT_DEVICE;
	if ((anybody_done && p->came > p->done) || p->stopped)
		return SUSPECT_ENDED;
	if (t->blamed[BODY_DEVICE] && (t->blamed[BODY_DEVICE] > 1 || !t->measured))
		return SUSPECT_DEVICE;
	if (clock_is_wrong(t) && j->m.players > 2)
		return SUSPECT_CLOCK;
	if (unusable && !(late && t->blamed[BODY_MISSED])) {
		if (t->cause[BODY_DATA] * 2 > t->failed)
			return SUSPECT_DATA;
		return t->cause[BODY_CONNECT] * 2 > t->failed ? SUSPECT_UNREACHABLE : SUSPECT_BROKE;
	}
	return late ? SUSPECT_LATE : SUSPECT_KINDS;
}

static int add_lost(struct judgement *j, uint32_t i, const struct tally *t, bool unusable)
{
	struct suspect s = {.kind = kind_of(j, i, t, unusable),
			    .a = i,
			    .b = SUSPECT_NONE,
			    .value = NAN,
			    .normal = NAN,
			    .bad = t->failed,
			    .text = SUSPECT_NONE,
			    .partners = t->measured + t->failed,
			    .proof = SUSPECT_CONFIRMED};

	if (s.kind == SUSPECT_KINDS)
		return 0;
	if (suspect_is_lost(s.kind) && j->body->player[i].server_said)
		s.text = j->body->player[i].server_said - 1;
	else if (suspect_is_lost(s.kind))
		s.text = judge_said(j, i, true);
	if (s.kind == SUSPECT_CLOCK)
		s.value = t->clock_s;
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

	return (j->body->counts.players > 0 && !p->came) ||
	       (j->body->counts.done > 0 && p->came > p->done) || p->stopped;
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

/* Of two nodes nobody can say whose clock is wrong: only that they differ. */
static int add_apart(struct judgement *j, const struct tally *t)
{
	if (j->m.players != 2 || !t->clocks_off || 2 * t->clocks_off <= t->clocks)
		return 0;
	return suspects_add(&j->suspects, &(struct suspect){.kind = SUSPECT_CLOCK,
							    .a = 0,
							    .b = 1,
							    .sends = true,
							    .receives = true,
							    .value = t->clock_s,
							    .normal = NAN,
							    .text = SUSPECT_NONE});
}

static void note_lost(struct judgement *j)
{
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		/* What a host reaches that did not run for a while says nothing of its links. */
		j->lost[s->a] = suspect_is_lost(s->kind) || s->kind == SUSPECT_LATE;
		j->excused[s->a] = true;
	}
}

int judge_lost(struct judgement *j)
{
	uint32_t players = j->m.players;
	bool *aside[MATRIX_WAYS] = {calloc((size_t)players + 1, 1), calloc((size_t)players + 1, 1)};
	float *some = malloc(((size_t)j->m.cells + 1) * sizeof(*some));
	int failed = some && aside[MATRIX_SEND] && aside[MATRIX_RECEIVE] ? 0 : -1;

	/* Where nothing was measured, no node explains it. */
	if (!failed && j->measured)
		failed = find_unusable(j, aside);
	for (uint32_t i = 0; i < players && !failed; i++) {
		struct tally t;

		fill_tally(j, i, &t, some);
		failed = add_lost(j, i, &t, aside[MATRIX_SEND][i] || aside[MATRIX_RECEIVE][i]);
		if (i == 0 && !failed)
			failed = add_apart(j, &t);
	}
	note_lost(j);
	free(some);
	free(aside[MATRIX_SEND]);
	free(aside[MATRIX_RECEIVE]);
	return failed;
}

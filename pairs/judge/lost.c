// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Players that never came, ended early, have a wrong clock or cannot be used. */
#include <math.h>

#include "judgement.h"

#define CLOCK_LEAST_S .1  /* a clock is never wrong by less */
#define GOOD_LEAST    .05 /* of all runs: if fewer have a figure, no player explains that */

/* What was tried with a player. */
struct tally {
	uint32_t failed, cause[CAUSES], blamed[CAUSES]; /* the cause of a figure: MEASURED */
};

static struct tally tally_of(const struct judgement *j, uint32_t player)
{
	struct tally all = {0};

	for (struct walk w = walk_all(j->e, player, ~0U); walk_next(&w);) {
		bool from = w.is->from == player;

		all.failed += w.is->cause > 0;
		all.cause[w.is->cause]++;
		all.blamed[w.is->cause] +=
			(w.is->marks & (from ? MARK_FROM_BLAMED : MARK_TO_BLAMED)) > 0;
	}
	return all;
}

/* The part of PLAYER's runs with those who are not lost that fail. */
static double share_of(const struct judgement *j, uint32_t player)
{
	double n = 0, k = 0;

	for (struct walk w = walk_all(j->e, player, ~0U); walk_next(&w);)
		if (!j->player[w.with].lost && w.is->cause != FAILED_MISSED) {
			n++;
			k += w.is->cause > 0;
		}
	return n > 1 ? k / n : 0;
}

/*
 * Those are lost who explain the runs that fail: the ones with the largest part of them, and then,
 * without these, the next ones. They explain it if most others have less than half of that without
 * them.
 */
static void explain(struct judgement *j)
{
	double *share = j->room, most;

	do {
		struct figures left = {.of = share + j->players};

		most = 0;
		for (uint32_t i = 0; i < j->players; i++) {
			share[i] = j->player[i].lost ? 0 : share_of(j, i);
			most = fmax(most, share[i]);
		}
		if (most < LOST_HARDLY)
			return;
		for (uint32_t i = 0; i < j->players; i++)
			j->player[i].lost |= share[i] >= most;
		for (uint32_t i = 0; i < j->players; i++)
			if (!j->player[i].lost)
				left.of[left.n++] = share_of(j, i);
		if (!(figures_median(&left) < most / 2)) {
			for (uint32_t i = 0; i < j->players; i++)
				j->player[i].lost &= share[i] < most;
			return;
		}
	} while (true);
}

/*
 * Returns why PLAYER is lost; FINDING_CODES: it is not. T counts its runs. UNUSABLE: the runs that
 * fail are explained if it cannot be used.
 */
static enum finding_code kind_of(const struct judgement *j, uint32_t player, const struct tally *t,
				 bool unusable)
{
	const struct player *p = &j->player[player];

	if (j->e->expected && !p->came && !t->cause[MEASURED])
		return SUSPECT_NEVER_CAME;
	if (p->no_device && t->failed >= t->cause[MEASURED])
		return SUSPECT_DEVICE;
	if (p->ended_early)
		return SUSPECT_ENDED;
	if (t->blamed[FAILED_DEVICE] && (t->blamed[FAILED_DEVICE] > 1 || !t->cause[MEASURED]))
		return SUSPECT_DEVICE;
	if (!unusable || (p->missed && t->blamed[FAILED_MISSED]))
		return FINDING_CODES;
	if (t->cause[FAILED_DATA] * 2 > t->failed)
		return SUSPECT_DATA;
	return t->cause[FAILED_CONNECT] * 2 > t->failed ? SUSPECT_UNREACHABLE : SUSPECT_BROKE;
}

static void find_lost(struct judgement *j)
{
	uint32_t figures = 0;

	for (uint32_t i = 0; i < j->e->count; i++)
		figures += !j->e->of[i].cause;
	for (uint32_t i = 0; i < j->players; i++) {
		const struct tally t = tally_of(j, i);

		j->player[i].lost = kind_of(j, i, &t, false) != FINDING_CODES;
	}
	if (figures > GOOD_LEAST * j->e->count && j->players > 2)
		explain(j);
	for (uint32_t i = 0; i < j->players; i++) {
		const struct player *p = &j->player[i];
		const struct tally t = tally_of(j, i);
		struct statement s = suspect_of(kind_of(j, i, &t, j->player[i].lost), i);

		j->player[i].lost = s.code != FINDING_CODES;
		if (!j->player[i].lost)
			continue;
		s.tested = true;
		s.count = t.failed;
		s.of = t.cause[MEASURED] + t.failed;
		s.text = p->server_said == NAMES_NONE ? judge_said(j, i, true)
							 : j->e->texts.text[p->server_said];
		statements_add(j, &s);
	}
}

/* The median of what PLAYER's clock is ahead of most of its partners'; NaN: of half it is not. */
static double ahead_of(const struct judgement *j, uint32_t player)
{
	struct figures f = {.of = j->room};
	size_t known = 0;

	for (struct walk w = walk_all(j->e, player, ~0U); walk_next(&w);) {
		bool client = (w.is->from == player) == !!(w.is->marks & MARK_FROM_CLIENT);

		known += !isnan(w.is->clock_s);
		if (fabs((double)w.is->clock_s) > fmax(j->e->slot_s * CLOCK_PART, CLOCK_LEAST_S))
			f.of[f.n++] = client ? -(double)w.is->clock_s : (double)w.is->clock_s;
	}
	return 2 * f.n > known ? figures_median(&f) : NAN;
}

/* Whose clock differs from most others'. Of two nobody can say which it is. */
static void find_clocks(struct judgement *j)
{
	uint32_t first = j->statements, off;

	for (uint32_t i = 0; i < j->players; i++) {
		struct statement s = suspect_of(SUSPECT_CLOCK, i);

		s.value = ahead_of(j, i);
		s.tested = s.sends = s.receives = true;
		if (!isnan(s.value) && !j->player[i].lost)
			statements_add(j, &s);
	}
	off = j->statements - first;
	if (2 * off > j->players) /* one says it for both; of more nobody knows the time */
		j->statements = first + (off == 2 && j->players == 2);
	if (off == 2 && j->players == 2) {
		j->statement[first].about = ABOUT_PAIR;
		j->statement[first].b = 1;
	}
}

void judge_lost(struct judgement *j)
{
	find_lost(j);
	find_clocks(j);
}

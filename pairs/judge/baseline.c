// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Nodes, rails and pairs that reach less than in an earlier run. */
#include <math.h>

#include "judgement.h"
#include "proto/json_memory.h"
#include "limits.h"

/* The figures of a player or of a cell: how many, and their median. */
struct figures {
	double value;
	uint32_t count;
};

/* Those of PLAYER in WAY with partners that are not slow. Room of the fit is used. */
static struct figures of_player(const struct judgement *j, uint32_t player, enum matrix_way way)
{
	struct figures of = {0};

	for (struct matrix_walk w = {.m = &j->m, .player = player}; matrix_next(&w);) {
		float v = fit_figure(&j->fit, w.cell);

		if (w.way == way && !isnan(v) && !j->fit.aside[!way][w.with])
			j->fit.some[of.count++] = v;
	}
	of.value = matrix_median(j->fit.some, of.count);
	return of;
}

/*
 * True if what S names reaches less than before by more than noise makes of it: IS, it WAS. S keeps
 * those that are worse.
 */
static bool is_worse(const struct judgement *j, const struct judgement *before,
		     const struct figures *is, const struct figures *was, struct suspect *s)
{
	double part = j->body->latency ? was->value / is->value : is->value / was->value;
	double noise = BASELINE_SURE * fmax(fit_noise(&j->fit), fit_noise(&before->fit)) /
		       sqrt(fmax(1, fmin(is->count, was->count)));

	if (!(part < fmin(BASELINE_WORSE, 1 - noise)))
		return false;
	if (isnan(s->value) || part < suspect_part(s)) {
		s->value = is->value;
		s->normal = was->value;
		s->partners = s->b == SUSPECT_NONE ? is->count : 0;
	}
	return true;
}

/* The number in BEFORE of PLAYER of J, or NAMES_NONE. */
static uint32_t same_player(const struct judgement *j, const struct judgement *before,
			    uint32_t player)
{
	return names_find(&before->body->names, j->body->names.text[player]);
}

/* COMPARED is set if the player had enough figures, both times. */
static void compare_player(struct judgement *j, const struct judgement *before, uint32_t player,
			   bool *compared)
{
	uint32_t at = same_player(j, before, player);
	struct suspect s = suspect_of(SUSPECT_WORSE, player);

	if (at == NAMES_NONE || j->lost[player])
		return;
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++) {
		struct figures is = of_player(j, player, way), was = of_player(before, at, way);

		if (is.count < FIT_PARTNERS || was.count < FIT_PARTNERS)
			continue;
		*compared = true;
		*(way == MATRIX_SEND ? &s.sends : &s.receives) = is_worse(j, before, &is, &was, &s);
	}
	j->compared += *compared;
	if (s.sends || s.receives)
		suspects_add(&j->suspects, &s);
}

/* Where neither end was COMPARED, it is the pair that is: either may be what has changed. */
static void compare_cell(struct judgement *j, const struct judgement *before,
			 const struct matrix_cell *c, const bool *compared)
{
	uint32_t from = same_player(j, before, c->from), to = same_player(j, before, c->to);
	struct figures is = {.value = (double)fit_figure(&j->fit, c), .count = 1}, was = is;
	struct suspect s = judge_pair(j, SUSPECT_WORSE, c);
	const struct matrix_cell *old;

	if (from == NAMES_NONE || to == NAMES_NONE || j->lost[c->from] || j->lost[c->to] ||
	    compared[c->from] || compared[c->to] || (j->body->latency && c->from > c->to))
		return;
	old = matrix_find(&before->m, from, to);
	was.value = old ? (double)fit_figure(&before->fit, old) : NAN;
	if (isnan(is.value) || isnan(was.value))
		return;
	j->compared++;
	s.receives = j->body->latency;
	if (is_worse(j, before, &is, &was, &s))
		suspects_add(&j->suspects, &s);
}

int judgement_compare(struct judgement *j, const struct judgement *before)
{
	bool *compared = fit_marks(&j->fit)[0];
	uint32_t first = j->suspects.count;

	j->has_baseline = true;
	for (uint32_t i = 0; i < j->m.players; i++)
		compare_player(j, before, i, &compared[i]);
	judge_hosts(j, first);
	for (uint32_t i = 0; i < j->m.cells; i++)
		compare_cell(j, before, &j->m.cell[i], compared);
	suspects_sort(&j->suspects);
	judge_states(j);
	return json_memory_failures() ? -1 : 0;
}

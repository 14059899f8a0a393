// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pairs of good nodes that are slow, or that have no figure. */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"

/* What a player is known to reach, as a part of normal. With few partners nothing is known. */
static double reaches(const struct judgement *j, enum matrix_way way, uint32_t player)
{
	return level_is_known(&j->level, way, player) ? (double)j->level.of[way][player].median : 1;
}

/*
 * The X of the cell if the way between its ends were good. A latency is compared with the least of
 * its distance: who happened to meet more of those in its rack is nearer than that, but not to all.
 */
static double expected(const struct judgement *j, const struct matrix_cell *c)
{
	double most = j->body->latency ? 1 : INFINITY;
	double part = fmin(reaches(j, MATRIX_SEND, c->from), reaches(j, MATRIX_RECEIVE, c->to));

	return fmin(part, most) * j->level.normal;
}

/*
 * The part of what is expected that a pair must reach. 0.93, but not within the noise: of a million
 * good pairs with 3 % of noise 10,000 are below 0.93. The factor is what one in ten of such
 * matrices exceeds once.
 */
static double limit_of(const struct judgement *j)
{
	double most = sqrt(2 * log(10. * (j->measured + 1)));

	if (j->body->latency)
		return 1 / JUDGEMENT_HIGH;
	return fmin(JUDGEMENT_SLOW, 1 - most * j->level.noise);
}

static bool is_good(const struct judgement *j, const struct matrix_cell *c)
{
	return !j->lost[c->from] && !j->lost[c->to] && !j->level.of[MATRIX_SEND][c->from].slow &&
	       !j->level.of[MATRIX_RECEIVE][c->to].slow;
}

static enum suspect_proof prove(const struct judgement *j, uint32_t at, double limit)
{
	const struct matrix_cell *c = &j->m.cell[at];
	double x = j->body->latency ? j->plain[at] * c->loaded / c->alone
				    : c->alone / judge_speed(j, c->from);

	if (!j->any_loaded)
		return SUSPECT_CONFIRMED;
	if (isnan(x))
		return SUSPECT_ONCE;
	return x < limit * expected(j, c) ? SUSPECT_CONFIRMED : SUSPECT_LOAD;
}

/* The number of the cell from B to A, or CELLS. */
static uint32_t back_of(const struct judgement *j, const struct matrix_cell *c)
{
	const struct matrix_cell *back = matrix_find(&j->m, c->to, c->from);

	return back ? (uint32_t)(back - j->m.cell) : j->m.cells;
}

/* What a run of the pair said; or if an end's server could not run, that. */
static uint32_t text_of(const struct judgement *j, const struct matrix_cell *c)
{
	const uint32_t end[] = {c->from, c->to};

	for (int i = 0; i < 2 && !c->measured; i++)
		if (j->body->player[end[i]].server_said)
			return j->body->player[end[i]].server_said - 1;
	for (uint32_t i = c->first; i < c->first + c->tries; i++)
		if (j->body->tries[i].text != BODY_NONE)
			return j->body->tries[i].text;
	return SUSPECT_NONE;
}

static int add_pair(struct judgement *j, uint32_t at, const bool *bad, double limit)
{
	const struct matrix_cell *c = &j->m.cell[at];
	uint32_t back = back_of(j, c);
	bool both = back < j->m.cells && bad[back], broke = !c->measured;
	struct suspect s = {.kind = broke ? SUSPECT_PAIR_BROKE : SUSPECT_PAIR,
			    .proof = broke ? SUSPECT_ONCE : prove(j, at, limit),
			    .sends = true,
			    .receives = both,
			    .a = c->from,
			    .b = c->to,
			    .value = j->any_loaded ? c->loaded : c->alone,
			    .normal = expected(j, c) * judge_speed(j, c->from),
			    .few_partners = !level_is_known(&j->level, MATRIX_SEND, c->from) ||
					    !level_is_known(&j->level, MATRIX_RECEIVE, c->to),
			    .partners = c->tries,
			    .bad = c->tries,
			    .text = text_of(j, c)};

	if (both && c->from > c->to && broke == !j->m.cell[back].measured)
		return 0;
	if (j->body->latency)
		s.normal = s.value * j->plain[at];
	if (broke)
		s.cause = j->body->tries[c->first].cause;
	return suspects_add(&j->suspects, &s);
}

int judge_pairs(struct judgement *j)
{
	bool *bad = calloc((size_t)j->m.cells + 1, sizeof(*bad));
	double limit = limit_of(j);
	int failed = bad ? 0 : -1;

	for (uint32_t i = 0; i < j->m.cells && bad; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		bool excused = j->excused[c->from] || j->excused[c->to];

		if (c->measured)
			bad[i] = is_good(j, c) && j->x[i] < limit * expected(j, c);
		else
			bad[i] = !excused && j->measured;
	}
	for (uint32_t i = 0; i < j->m.cells && !failed; i++)
		if (bad[i])
			failed = add_pair(j, i, bad, limit);
	free(bad);
	return failed;
}

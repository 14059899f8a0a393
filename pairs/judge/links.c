// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pairs of good nodes that are slow, or that have no figure. */
#include <math.h>

#include "judgement.h"
#include "limits.h"

/* True if the pair of cell I is slow: chance makes one as low in FIT_CHANCE of all matrices. */
static bool is_slow(const struct judgement *j, uint32_t i)
{
	const struct matrix_cell *c = &j->m.cell[i];
	const struct fit *f = &j->fit;
	const struct chances *p = &f->pool[FIT_FIGURES][fit_distance(f, c->from, c->to)];
	double part = (double)f->part[i];
	double limit = log(j->body->latency ? LINK_SLOW_LATENCY : LINK_SLOW_RATE);

	if (!(part < limit) || f->aside[MATRIX_SEND][c->from] || f->aside[MATRIX_RECEIVE][c->to])
		return false;
	if (f->hosts <= FIT_PARTNERS ||
	    p->count <= (judge_is_known(j, c->from) && judge_is_known(j, c->to) ? LINK_FEW
										: LINK_FEW_UNKNOWN))
		return part < -LINK_FEW_SURE * chances_at(p, LINK_FEW_HIGH);
	return chances_share_of_bulk(p, part) < FIT_CHANCE / (j->measured + 1.);
}

static enum suspect_proof prove(const struct judgement *j, uint32_t at)
{
	const struct matrix_cell *c = &j->m.cell[at];
	double alone = (double)meetings_y(c->alone, j->body->latency) -
		       fit_normal(&j->fit, c->from, c->to);

	if (j->fit.alone)
		return SUSPECT_CONFIRMED;
	if (isnan(alone))
		return SUSPECT_ONCE;
	return alone < (double)j->fit.part[at] / 2 ? SUSPECT_CONFIRMED : SUSPECT_LOAD;
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

static void add_pair(struct judgement *j, uint32_t at)
{
	const struct matrix_cell *c = &j->m.cell[at], *back = matrix_find(&j->m, c->to, c->from);
	bool both = back && j->fit.bad[back - j->m.cell], broke = !c->measured;
	struct suspect s = suspect_of(broke ? SUSPECT_PAIR_BROKE : SUSPECT_PAIR, c->from);

	if (both && c->from > c->to && broke == !back->measured)
		return;
	s.b = c->to;
	s.proof = broke ? SUSPECT_ONCE : prove(j, at);
	s.sends = true;
	s.receives = both;
	s.value = (double)fit_figure(&j->fit, c);
	s.normal = judge_unit(j, fit_normal(&j->fit, c->from, c->to));
	s.few_partners = !judge_is_known(j, c->from) || !judge_is_known(j, c->to);
	s.partners = s.bad = c->tries;
	s.text = text_of(j, c);
	if (broke)
		s.cause = j->body->tries[c->first].cause;
	suspects_add(&j->suspects, &s);
}

void judge_pairs(struct judgement *j)
{
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];
		bool excused = j->excused[c->from] || j->excused[c->to];

		j->fit.bad[i] = c->measured ? is_slow(j, i) : !excused && j->measured;
	}
	for (uint32_t i = 0; i < j->m.cells; i++)
		if (j->fit.bad[i])
			add_pair(j, i);
}

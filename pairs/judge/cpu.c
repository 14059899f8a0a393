// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Players whose threads lacked their CPUs, where that may be why they are slow: cannot tell. What
 * it cannot explain is a fault, which the other rules name: they see what lacked its CPU at its
 * best.
 */
#include <math.h>

#include "judgement.h"
#include "limits.h"

/* Runs of one end: of how many its thread lacked the CPU, and what it had in the middle of them. */
struct lack {
	uint32_t runs;
	double had;
};

/* Those of the runs of S: its OWN threads, or those of the other ends. ALL: how many runs. */
static struct lack lack_of(const struct judgement *j, const struct suspect *s, bool own,
			   uint32_t *all)
{
	struct lack is = {0};

	*all = 0;
	for (struct matrix_walk w = {.m = &j->m, .player = s->a}; matrix_next(&w);) {
		const struct body_try *t = &j->body->tries[w.cell->first];
		bool both = s->sends == s->receives;

		if ((s->b != SUSPECT_NONE && w.with != s->b) ||
		    !(both || (w.way == MATRIX_SEND ? s->sends : s->receives)))
			continue;
		for (const struct body_try *end = t + w.cell->tries; t < end; t++) {
			uint8_t percent = t->cpu[(w.way == MATRIX_SEND) != own];

			if (t->cause != BODY_MEASURED || t->mirrored)
				continue;
			++*all;
			if (percent)
				j->fit.some[is.runs++] = (float)percent / 100;
		}
	}
	is.had = matrix_median(j->fit.some, is.runs);
	return is;
}

void judge_cpu(const struct judgement *j, struct suspect *s)
{
	uint32_t all;
	struct lack own = lack_of(j, s, true, &all), others = lack_of(j, s, false, &all);

	s->partners_cpu = own.runs < others.runs;
	if (s->partners_cpu)
		own = others;
	if (2 * own.runs <= all && s->kind != SUSPECT_NO_CPU)
		return;
	s->cpu = own.had;
	if (s->kind == SUSPECT_NO_CPU) {
		s->partners = all;
		s->bad = own.runs;
	}
}

/*
 * What S reaches alone with good partners, as a part of normal, a logarithm; NaN: that was not
 * measured often enough. Without all of its CPU it is only known to be good, down to LEAST.
 */
static double reaches_alone(const struct judgement *j, const struct suspect *s, double least)
{
	uint32_t n = 0;

	for (struct matrix_walk w = {.m = &j->m, .player = s->a}; matrix_next(&w);) {
		float y = meetings_y(w.cell->alone, j->body->latency);
		bool wanted = w.way == MATRIX_SEND ? s->sends : s->receives;

		y -= (float)fit_normal(&j->fit, w.cell->from, w.cell->to);
		if (wanted && !isnan(y) && (!(w.cell->alone_lift > 0) || (double)y > least) &&
		    !j->fit.aside[!w.way][w.with])
			j->fit.some[n++] = y;
	}
	return n < SLOW_ALONE_LEAST ? NAN : matrix_median(j->fit.some, n);
}

void judge_no_cpu(struct judgement *j, uint32_t player)
{
	struct suspect s = suspect_of(SUSPECT_NO_CPU, player);
	double worst = 0, noise = fit_least(&j->fit) + 2 * fit_noise(&j->fit), alone;

	for (enum fit_way way = 0; way < FIT_WAYS; way++) {
		const struct fit_player *p = &j->fit.of[player];
		double effect;

		/* in some slots only: if it is in neither direction always */
		if (!p->way[way].lacked || (way == FIT_WORSE && worst < 0) ||
		    !fit_as_is(&j->fit, player, way, &effect))
			continue;
		s.sends |= way != FIT_RECEIVES;
		s.receives |= way != FIT_SENDS;
		worst = fmin(worst, effect);
	}
	if (!(worst < 0))
		return;
	s.normal = judge_normal(j, player);
	s.value = judge_unit(j, j->fit.kind[j->fit.kinds.of[player]] + worst);
	judge_cpu(j, &s);
	if (2 * s.bad <= s.partners)
		return; /* it had its CPU in most runs: pairs, or its partners, are named for others
			 */
	alone = reaches_alone(j, &s, -noise);
	j->fit.of[player].no_cpu = true; /* its pairs are no news */
	if (alone > -noise)
		return;
	if (alone < -2 * noise) {
		s.kind = j->body->latency ? SUSPECT_LATENCY : SUSPECT_NODE;
		s.value = judge_unit(j, j->fit.kind[j->fit.kinds.of[player]] + alone);
		s.proof = SUSPECT_CONFIRMED;
		s.partners = j->fit.of[player].way[s.receives && !s.sends].partners;
		s.bad = s.partners;
		s.cpu = NAN;
	}
	s.text = judge_said(j, player, false);
	suspects_add(&j->suspects, &s);
}

/* Those whose tail is long with most partners, where their own threads lacked their CPUs; but who
 * is TAILED without that. */
void judge_cpu_tails(struct judgement *j, const bool *tailed)
{
	uint32_t first = j->suspects.count;

	for (uint32_t i = 0; i < j->m.players; i++) {
		struct suspect s = suspect_of(SUSPECT_NO_CPU, i);
		uint32_t cells = 0, low = 0;

		for (struct matrix_walk w = {.m = &j->m, .player = i}; matrix_next(&w);) {
			cells += !isnan(w.cell->tail);
			low += w.cell->tail_lacked && w.cell->tail > SLOW_TAIL;
		}
		s.sends = s.receives = true;
		judge_cpu(j, &s);
		if (2 * low <= cells || 2 * s.bad <= s.partners || s.partners_cpu || j->lost[i] ||
		    tailed[i] || j->fit.of[i].no_cpu || fit_is_aside(&j->fit, i))
			continue;
		j->fit.of[i].no_cpu = true;
		suspects_add(&j->suspects, &s);
	}
	judge_hosts(j, first);
}

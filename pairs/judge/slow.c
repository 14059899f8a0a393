// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Nodes and rails that are slow, always or at times, and those that have a long tail; then pairs of
 * good nodes that are slow, or that have no figure.
 */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"
#include "limits.h"

/*
 * What a player reaches alone with good partners, as EFFECT is what it reaches among others: by how
 * much the same pairs differ, or else new pairs from normal. COUNT: of how many.
 */
static double part_alone(const struct judgement *j, const struct suspect *s, double effect,
			 uint32_t *count)
{
	bool latency = j->body->latency;
	uint32_t same = 0, other = 0;
	float *to_other = j->fit.some + j->m.cells;

	for (struct matrix_walk w = {.m = &j->m, .player = s->a}; matrix_next(&w);) {
		float y = meetings_y(w.cell->alone, latency);
		float loaded = meetings_y(w.cell->loaded, latency);
		float part = y - (float)fit_normal(&j->fit, w.cell->from, w.cell->to);

		if (isnan(y) || j->fit.aside[!w.way][w.with] ||
		    !(w.way == MATRIX_SEND ? s->sends : s->receives))
			continue;
		if (!isnan(loaded))
			j->fit.some[same++] = y - loaded + (float)effect;
		else
			to_other[other++] = part;
	}
	*count = same >= SLOW_ALONE_LEAST ? same : other;
	return matrix_median(same >= SLOW_ALONE_LEAST ? j->fit.some : to_other, *count);
}

/* What a player reaches alone proves whether it is slow. EFFECT: what it reaches loaded. */
static enum suspect_proof prove(const struct judgement *j, const struct suspect *s, double effect)
{
	uint32_t count;
	double alone = part_alone(j, s, effect, &count);

	if (j->fit.alone)
		return SUSPECT_CONFIRMED;
	if (count < SLOW_ALONE_LEAST)
		return SUSPECT_ONCE;
	/* one good run cures nothing */
	if (s->kind == SUSPECT_UNSTEADY || s->kind == SUSPECT_FALLS)
		return SUSPECT_CONFIRMED;
	if (alone > SLOW_CURE * effect)
		return SUSPECT_LOAD;
	return alone < SLOW_PROOF * effect || count >= SLOW_ALONE_THIRD ? SUSPECT_CONFIRMED
									: SUSPECT_ONCE;
}

static int by_time(const void *a, const void *b)
{
	const struct fit_figure *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* The chance that of N slots the LOW ones come last: 1 / C(N, LOW). */
static double chance(uint32_t n, uint32_t low)
{
	double p = 1;

	for (uint32_t i = 0; i < low; i++)
		p *= (i + 1.) / (n - i);
	return p;
}

/*
 * Find from which round on a player is slow: 0, it is not so that it was good before. A sum as
 * Kendall's says whether it falls; of few slots, that all slow ones come after all good ones.
 */
static uint32_t falls_at(const struct judgement *j, uint32_t player, double depth)
{
	const struct fit_figure *of = j->fit.figure;
	uint32_t hosts, n = figures_of(&j->fit, player, FIT_WORSE, false, &hosts);
	uint32_t first = n, low = 0;
	double sum = 0;

	qsort(j->fit.figure, n, sizeof(*of), by_time);
	for (uint32_t i = 0; i < n; i++) {
		bool is_low = (double)of[i].part < depth / 2;

		low += is_low;
		first = is_low && first == n ? i : first;
		for (uint32_t k = 0; k < i; k++)
			sum += (of[i].part > of[k].part) - (of[i].part < of[k].part);
	}
	if (n < SLOW_FALLS_SLOTS || low < 2 || first < 2)
		return 0;
	if ((low == n - first && chance(n, low) < SLOW_FALLS_CHANCE) ||
	    sum < -SLOW_FALLS_SURE * sqrt(n * (n - 1.) * (2. * n + 5) / 18))
		return (of[first].at & UINT16_MAX) + 1;
	return 0;
}

static void add_slow(struct judgement *j, uint32_t i)
{
	const struct fit_player *p = &j->fit.of[i];
	bool send = p->way[FIT_SENDS].slow, receive = p->way[FIT_RECEIVES].slow;
	bool always = send || receive;
	enum fit_way way =
		!always ? FIT_WORSE
		: !send || (receive && p->way[FIT_RECEIVES].effect < p->way[FIT_SENDS].effect)
			? FIT_RECEIVES
			: FIT_SENDS;
	double effect = (double)p->way[way].effect;
	struct suspect s = suspect_of(!always            ? SUSPECT_UNSTEADY
				      : j->body->latency ? SUSPECT_LATENCY
							 : SUSPECT_NODE,
				      i);

	s.sends = send || !always;
	s.receives = receive || !always;
	s.normal = judge_normal(j, i);
	s.value = judge_unit(j, j->fit.kind[j->fit.kinds.of[i]] + effect);
	s.partners = always ? p->way[way].partners : p->way[way].figures;
	s.bad = p->way[way].low;
	s.text = judge_said(j, i, false);
	s.from_round = falls_at(j, i, effect);
	if (s.from_round)
		s.kind = SUSPECT_FALLS;
	s.proof = prove(j, &s, effect);
	suspects_add(&j->suspects, &s);
}

void judge_levels(struct judgement *j)
{
	for (uint32_t i = 0; i < j->m.players; i++) {
		const struct fit_player *p = &j->fit.of[i];

		if (!j->lost[i] && !p->doubtful &&
		    (p->way[FIT_SENDS].slow || p->way[FIT_RECEIVES].slow || p->way[FIT_WORSE].slow))
			add_slow(j, i);
	}
}

static double middle_tail(const struct judgement *j, uint32_t player)
{
	size_t n = 0;

	for (struct matrix_walk w = {.m = &j->m, .player = player}; matrix_next(&w);)
		if (!isnan(w.cell->tail))
			j->fit.some[n++] = w.cell->tail;
	return matrix_median(j->fit.some, n);
}

struct suspect judge_pair(const struct judgement *j, enum finding_code kind,
			  const struct matrix_cell *c)
{
	struct suspect s = suspect_of(kind, c->from);

	s.b = c->to;
	s.sends = true;
	s.few_partners = !judge_is_known(j, c->from) || !judge_is_known(j, c->to);
	return s;
}

/* The pairs that are left with an end that has too few partners to be judged itself. */
static void add_tailed_pairs(struct judgement *j, const bool *aside)
{
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];
		struct suspect s = judge_pair(j, SUSPECT_TAIL, c);

		if (j->fit.bad[i] <= 0 || c->from > c->to || aside[c->from] || aside[c->to] ||
		    !s.few_partners)
			continue;
		s.receives = true;
		s.value = (double)c->tail;
		s.normal = SLOW_TAIL;
		suspects_add(&j->suspects, &s);
	}
}

/* Those whose tail is long with most partners, the worst first: a partner's is not theirs. */
void judge_tails(struct judgement *j)
{
	bool *const *aside = fit_marks(&j->fit);
	uint32_t first = j->suspects.count;

	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];
		bool unknown = isnan(c->tail) || j->lost[c->from] || j->lost[c->to];

		j->fit.bad[i] = unknown ? -1 : c->tail > SLOW_TAIL;
	}
	matrix_explain(&j->m, j->fit.bad, .5, FIT_PARTNERS, aside);
	for (uint32_t i = 0; i < j->m.players; i++) {
		struct suspect s = suspect_of(SUSPECT_TAIL, i);

		if (!aside[MATRIX_SEND][i])
			continue;
		s.sends = s.receives = true;
		s.value = middle_tail(j, i);
		s.normal = SLOW_TAIL;
		s.partners = j->fit.of[i].way[FIT_SENDS].partners;
		s.bad = j->fit.of[i].way[FIT_SENDS].figures;
		s.text = judge_said(j, i, false);
		suspects_add(&j->suspects, &s);
	}
	judge_hosts(j, first);
	add_tailed_pairs(j, aside[MATRIX_SEND]);
}

/*
 * True if the pair of cell I is slow: below the limit, neither end is slow itself, and chance makes
 * a pair as low in FIT_CHANCE of all matrices. Where too few hosts or figures tell what chance
 * makes, it must be LINK_FEW_SURE times as far below normal as the high ones are above it.
 */
static bool is_slow_pair(const struct judgement *j, uint32_t i)
{
	const struct matrix_cell *c = &j->m.cell[i];
	const struct fit *f = &j->fit;
	bool few = judge_pair(j, SUSPECT_PAIR, c).few_partners;
	const struct chances *p = &f->pool[FIT_FIGURES][fit_distance(f, c->from, c->to)];
	double part = (double)f->part[i]; /* the logarithm of figure / normal */
	double limit = log(j->body->latency ? LINK_SLOW_LATENCY : LINK_SLOW_RATE);

	if (!(part < limit) || f->aside[MATRIX_SEND][c->from] || f->aside[MATRIX_RECEIVE][c->to])
		return false;
	if (f->hosts <= FIT_PARTNERS || p->count <= (few ? LINK_FEW_UNKNOWN : LINK_FEW))
		return part < -LINK_FEW_SURE * chances_at(p, LINK_FEW_HIGH);
	return chances_share_of_bulk(p, part) < FIT_CHANCE / (j->measured + 1.);
}

static enum suspect_proof prove_pair(const struct judgement *j, uint32_t at)
{
	const struct matrix_cell *c = &j->m.cell[at];
	double normal = fit_normal(&j->fit, c->from, c->to);
	double alone = (double)meetings_y(c->alone, j->body->latency) - normal;

	if (j->fit.alone)
		return SUSPECT_CONFIRMED;
	if (isnan(alone))
		return SUSPECT_ONCE;
	return alone < ((double)fit_y(&j->fit, c) - normal) / 2 ? SUSPECT_CONFIRMED : SUSPECT_LOAD;
}

/*
 * The text that says why pair C failed or is slow: of a pair without a figure what an end's server
 * said that could not run, else what the first of its runs with a text said. SUSPECT_NONE: there is
 * none.
 */
static uint32_t pair_said(const struct judgement *j, const struct matrix_cell *c)
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
	bool both = back && j->fit.bad[back - j->m.cell] == j->fit.bad[at], broke = !c->measured;
	struct suspect s = judge_pair(j, broke ? SUSPECT_PAIR_BROKE : SUSPECT_PAIR, c);

	if (both && c->from > c->to && broke == !back->measured)
		return;
	s.proof = broke ? SUSPECT_ONCE : prove_pair(j, at);
	s.receives = both;
	s.value = (double)fit_figure(&j->fit, c);
	s.normal = judge_unit(j, fit_normal(&j->fit, c->from, c->to));
	s.partners = s.bad = c->tries;
	s.text = pair_said(j, c);
	if (broke)
		s.cause = j->body->tries[c->first].cause;
	suspects_add(&j->suspects, &s);
}

void judge_pairs(struct judgement *j)
{
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];
		bool excused = j->excused[c->from] || j->excused[c->to];

		j->fit.bad[i] = !c->measured ? !excused && j->measured : is_slow_pair(j, i);
	}
	for (uint32_t i = 0; i < j->m.cells; i++)
		if (j->fit.bad[i])
			add_pair(j, i);
}

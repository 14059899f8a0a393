// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Nodes and rails that are slow, always or at times, and those that have a long tail. */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"
#include "limits.h"
#include "wire/json_memory.h"

double judge_unit(const struct judgement *j, double y)
{
	return exp(j->body->latency ? -y : y);
}

double judge_normal(const struct judgement *j, uint32_t player)
{
	return judge_unit(j, j->fit.kind[j->fit.kinds.of[player]]);
}

double judge_middle(const struct judgement *j, uint32_t player, const bool way[MATRIX_WAYS],
		    bool alone, uint32_t *count)
{
	const struct matrix *m = &j->m;

	*count = 0;
	for (enum matrix_way w = 0; w < MATRIX_WAYS; w++)
		for (uint32_t k = 0; way[w] && k < matrix_count(m, w, player); k++) {
			uint32_t cell = matrix_at(m, w, player, k);
			float v = alone ? m->cell[cell].alone : m->cell[cell].loaded;

			if (!isnan(v) && !j->fit.aside[!w][matrix_partner(m, w, cell)])
				j->fit.some[(*count)++] = v;
		}
	return matrix_median(j->fit.some, *count);
}

/*
 * What a player reaches alone with good partners, as EFFECT is what it reaches among others: by how
 * much the same pairs differ, or else new pairs from normal. COUNT: of how many.
 */
static double part_alone(const struct judgement *j, const struct suspect *s, double effect,
			 uint32_t *count)
{
	const bool way[MATRIX_WAYS] = {s->sends, s->receives};
	const struct matrix *m = &j->m;
	uint32_t same = 0, other = 0;
	float *to_other = j->fit.some + m->cells;

	for (enum matrix_way w = 0; w < MATRIX_WAYS; w++)
		for (uint32_t k = 0; way[w] && k < matrix_count(m, w, s->a); k++) {
			uint32_t at = matrix_at(m, w, s->a, k), to = matrix_partner(m, w, at);
			const struct matrix_cell *c = &m->cell[at];
			float y = meetings_y(c->alone, j->body->latency);

			if (isnan(y) || j->fit.aside[!w][to])
				continue;
			if (!isnan(c->loaded))
				j->fit.some[same++] = y - fit_y(&j->fit, at) + (float)effect;
			else
				to_other[other++] = y - (float)fit_normal(&j->fit, s->a, to);
		}
	*count = same >= SLOW_ALONE_LEAST ? same : other;
	return matrix_median(same >= SLOW_ALONE_LEAST ? j->fit.some : to_other, *count);
}

/* What a player reaches alone proves whether it is slow by itself. EFFECT: what it reaches loaded.
 */
static enum suspect_proof prove(const struct judgement *j, const struct suspect *s, double effect)
{
	uint32_t count;
	double alone = part_alone(j, s, effect, &count);

	if (j->fit.alone)
		return SUSPECT_CONFIRMED;
	if (count < SLOW_ALONE_LEAST)
		return SUSPECT_ONCE;
	if (s->kind == SUSPECT_UNSTEADY ||
	    s->kind == SUSPECT_FALLS) /* one good run cures nothing */
		return SUSPECT_CONFIRMED;
	if (alone > SLOW_CURE * effect)
		return SUSPECT_LOAD;
	return alone < SLOW_PROOF * effect || count >= SLOW_ALONE_THIRD ? SUSPECT_CONFIRMED
									: SUSPECT_ONCE;
}

struct moment {
	uint32_t at;
	float part;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

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
	const struct meetings *l = &j->fit.slots;
	uint32_t n = 0, first = UINT32_MAX, low = 0, ordered = 0;
	struct moment *of = malloc((l->start[player + 1] - l->start[player] + 1) * sizeof(*of));
	double sum = 0;

	if (!of)
		json_memory_lacked();
	for (uint32_t k = l->start[player]; of && k < l->start[player + 1]; k++) {
		const struct meeting *t = &l->of[l->by_player[k]];
		uint32_t to = meeting_partner(t, player);

		if (!fit_skips(&j->fit, t->a, t->b) && !j->fit.aside[0][to] && !j->fit.aside[1][to])
			of[n++] = (struct moment){
				t->at, t->worse - (float)fit_normal(&j->fit, t->a, t->b)};
	}
	if (of)
		qsort(of, n, sizeof(*of), by_time);
	for (uint32_t i = 0; i < n; i++) {
		bool is_low = (double)of[i].part < depth / 2;

		low += is_low;
		first = is_low && first == UINT32_MAX ? i : first;
		for (uint32_t k = 0; k < i; k++)
			sum += (of[i].part > of[k].part) - (of[i].part < of[k].part);
	}
	for (uint32_t i = first; i < n; i++)
		ordered += (double)of[i].part < depth / 2;
	if (n < SLOW_FALLS_SLOTS || low < 2 || first < 2 || first == UINT32_MAX)
		n = 0;
	else if (!((ordered == n - first && chance(n, ordered) < SLOW_FALLS_CHANCE) ||
		   sum < -SLOW_FALLS_SURE * sqrt(n * (n - 1.) * (2. * n + 5) / 18)))
		n = 0;
	first = n ? (of[first].at & UINT16_MAX) + 1 : 0;
	free(of);
	return first;
}

static struct suspect slow_player(const struct judgement *j, uint32_t i)
{
	const struct fit_player *p = &j->fit.of[i];
	bool send = p->way[MATRIX_SEND].slow, receive = p->way[MATRIX_RECEIVE].slow;
	enum matrix_way way =
		!send || (receive && p->way[MATRIX_RECEIVE].effect < p->way[MATRIX_SEND].effect);
	double effect = send || receive ? (double)p->way[way].effect : (double)p->depth;
	struct suspect s = {.kind = j->body->latency ? SUSPECT_LATENCY : SUSPECT_NODE,
			    .sends = send,
			    .receives = receive,
			    .a = i,
			    .b = SUSPECT_NONE,
			    .partners = p->way[way].partners,
			    .bad = p->way[way].low,
			    .text = judge_said(j, i, false)};

	s.from_round = falls_at(j, i, effect);
	if (s.from_round) {
		s.kind = SUSPECT_FALLS;
	} else if (!send && !receive) {
		s.kind = SUSPECT_UNSTEADY;
		s.bad = p->slow_slots;
		s.partners = p->slots;
	}
	if (!send && !receive)
		s.sends = s.receives = true;
	s.normal = judge_normal(j, i);
	s.value = judge_unit(j, j->fit.kind[j->fit.kinds.of[i]] + effect);
	s.proof = prove(j, &s, effect);
	return s;
}

int judge_levels(struct judgement *j)
{
	for (uint32_t i = 0; i < j->m.players; i++) {
		const struct fit_player *p = &j->fit.of[i];
		struct suspect s;

		if (j->lost[i] || p->doubtful ||
		    !(p->way[MATRIX_SEND].slow || p->way[MATRIX_RECEIVE].slow || p->sometimes))
			continue;
		s = slow_player(j, i);
		if (suspects_add(&j->suspects, &s))
			return -1;
	}
	return 0;
}

/* How many of a player's pairs have a long tail, of how many, with players that are not LONG. */
static uint32_t count_tails(const struct judgement *j, uint32_t player, const bool *is_long,
			    uint32_t *of)
{
	uint32_t bad = 0;

	*of = 0;
	for (uint32_t k = 0; k < matrix_count(&j->m, MATRIX_SEND, player); k++) {
		uint32_t cell = matrix_at(&j->m, MATRIX_SEND, player, k);
		const struct matrix_cell *c = &j->m.cell[cell];

		if (isnan(c->tail) || j->lost[c->to] || is_long[c->to])
			continue;
		++*of;
		bad += c->tail > SLOW_TAIL;
	}
	return bad;
}

/*
 * Set IS_LONG of those whose tail is long with most partners, the worst first: a partner's tail is
 * not theirs. Where most pairs have one, all have.
 */
static void find_tails(const struct judgement *j, bool *is_long)
{
	uint32_t tails = 0, all = 0, of, bad, worst;
	double share;

	for (uint32_t i = 0; i < j->m.players; i++) {
		tails += count_tails(j, i, is_long, &of);
		all += of;
	}
	for (uint32_t i = 0; i < j->m.players && tails > .9 * all; i++)
		is_long[i] = matrix_count(&j->m, MATRIX_SEND, i) >= FIT_PARTNERS;
	if (tails > .9 * all)
		return;
	do {
		share = .5;
		for (uint32_t i = 0; i < j->m.players; i++) {
			bad = is_long[i] || j->lost[i] ? 0 : count_tails(j, i, is_long, &of);
			if (bad && of >= FIT_PARTNERS && bad > share * of) {
				share = (double)bad / of;
				worst = i;
			}
		}
		if (share > .5)
			is_long[worst] = true;
	} while (share > .5);
}

static double middle_tail(const struct judgement *j, uint32_t player)
{
	size_t n = 0;

	for (uint32_t k = 0; k < matrix_count(&j->m, MATRIX_SEND, player); k++) {
		float tail = j->m.cell[matrix_at(&j->m, MATRIX_SEND, player, k)].tail;

		if (!isnan(tail))
			j->fit.some[n++] = tail;
	}
	return matrix_median(j->fit.some, n);
}

/* Add the pairs that have a long tail, and an end with too few partners to be judged itself. */
static int add_tail_pairs(struct judgement *j, const bool *is_long)
{
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		if (c->from > c->to || !(c->tail > SLOW_TAIL) || j->lost[c->from] ||
		    j->lost[c->to] || is_long[c->from] || is_long[c->to] ||
		    (judge_is_known(j, c->from) && judge_is_known(j, c->to)))
			continue;
		if (suspects_add(&j->suspects, &(struct suspect){.kind = SUSPECT_TAIL,
								 .sends = true,
								 .receives = true,
								 .few_partners = true,
								 .a = c->from,
								 .b = c->to,
								 .value = (double)c->tail,
								 .normal = SLOW_TAIL,
								 .text = SUSPECT_NONE}))
			return -1;
	}
	return 0;
}

int judge_tails(struct judgement *j)
{
	bool *is_long = calloc((size_t)j->m.players + 1, sizeof(*is_long));
	int failed = is_long ? 0 : -1;
	uint32_t first = j->suspects.count;

	if (is_long && j->body->latency)
		find_tails(j, is_long);
	for (uint32_t i = 0; i < j->m.players && !failed; i++)
		if (is_long[i])
			failed = suspects_add(
				&j->suspects,
				&(struct suspect){.kind = SUSPECT_TAIL,
						  .sends = true,
						  .receives = true,
						  .a = i,
						  .b = SUSPECT_NONE,
						  .value = middle_tail(j, i),
						  .normal = SLOW_TAIL,
						  .partners = j->fit.of[i].way[FIT_BOTH].partners,
						  .bad = j->fit.of[i].way[FIT_BOTH].figures,
						  .text = judge_said(j, i, false)});
	if (!failed && j->body->latency) {
		judge_hosts(j, first);
		failed = add_tail_pairs(j, is_long);
	}
	free(is_long);
	return failed;
}

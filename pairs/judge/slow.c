// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Nodes and rails that are slow, or that have a high latency or a long tail. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judgement.h"
#include "peel.h"

#define ALONE_LEAST 2   /* partners that a player is measured with alone before that is proof */
#define ALONE_SURE  2.5 /* standard deviations */

/* Copy a player's figures with good partners in one way to V; ALONE: those alone. */
static uint32_t collect(const struct judgement *j, enum matrix_way way, uint32_t player, bool alone,
			float *v)
{
	const struct matrix *m = &j->m;
	uint32_t n = 0;

	for (uint32_t k = 0; k < matrix_count(m, way, player); k++) {
		uint32_t cell = matrix_at(m, way, player, k);
		float f = alone ? m->cell[cell].alone : m->cell[cell].loaded;

		if (!isnan(f) && !j->level.of[!way][matrix_partner(m, way, cell)].slow)
			v[n++] = f;
	}
	return n;
}

double judge_middle(const struct judgement *j, uint32_t player, const bool way[MATRIX_WAYS],
		    bool alone, uint32_t *count)
{
	*count = 0;
	for (enum matrix_way w = 0; w < MATRIX_WAYS; w++)
		if (way[w])
			*count += collect(j, w, player, alone, &j->some[*count]);
	return matrix_median(j->some, *count);
}

/* The median latency of pairs of good nodes; if there is none, of all. */
static double usual_latency(const struct judgement *j)
{
	size_t good = 0, all = 0;

	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		if (!isnan(judge_figure(j, i)) && !j->level.of[MATRIX_SEND][c->from].slow &&
		    !j->level.of[MATRIX_RECEIVE][c->to].slow)
			j->some[good++] = judge_figure(j, i);
	}
	for (uint32_t i = 0; i < j->m.cells && !good; i++)
		if (!isnan(judge_figure(j, i)))
			j->some[all++] = judge_figure(j, i);
	return matrix_median(j->some, good + all);
}

/*
 * What a player's latencies are alone, as a part of what the same pairs have under load: those that
 * were measured alone may be with nodes of its rack, and normal is the median of all distances.
 * NaN: none was measured both ways.
 */
static double part_alone(const struct judgement *j, uint32_t player, const bool way[MATRIX_WAYS])
{
	uint32_t n = 0;

	for (enum matrix_way w = 0; w < MATRIX_WAYS; w++)
		for (uint32_t k = 0; way[w] && k < matrix_count(&j->m, w, player); k++) {
			uint32_t at = matrix_at(&j->m, w, player, k);
			const struct matrix_cell *c = &j->m.cell[at];
			float part = c->alone / c->loaded;

			if (!isnan(part) && !j->level.of[!w][matrix_partner(&j->m, w, at)].slow)
				j->some[n++] = part;
		}
	return matrix_median(j->some, n);
}

/*
 * Is S slow alone, too? It is good alone if it reaches the limit there, less what noise may take of
 * so few figures, and is nearer to what is normal than to what it reaches under load.
 */
static enum suspect_proof prove(const struct judgement *j, const struct suspect *s)
{
	const bool way[MATRIX_WAYS] = {s->sends, s->receives};
	uint32_t count;
	double alone = judge_middle(j, s->a, way, true, &count), noise, limit;
	double between = (s->value + s->normal) / 2, part;

	if (!j->any_loaded)
		return SUSPECT_CONFIRMED;
	if (count < ALONE_LEAST)
		return SUSPECT_ONCE;
	if (j->body->latency) {
		part = part_alone(j, s->a, way);
		alone = isnan(part) ? alone : part * s->value;
		return alone <= fmin(JUDGEMENT_HIGH * s->normal, between) ? SUSPECT_LOAD
									  : SUSPECT_CONFIRMED;
	}
	noise = ALONE_SURE * 1.2533 * j->level.noise / sqrt(count);
	limit = fmin(JUDGEMENT_SLOW, 1 - noise) * s->normal;
	return alone >= fmax(limit, between) ? SUSPECT_LOAD : SUSPECT_CONFIRMED;
}

static struct suspect slow_player(const struct judgement *j, uint32_t i)
{
	const struct level *l = &j->level;
	bool send = l->of[MATRIX_SEND][i].slow, receive = l->of[MATRIX_RECEIVE][i].slow;
	enum matrix_way way = !send || (receive && l->of[MATRIX_RECEIVE][i].median <
							   l->of[MATRIX_SEND][i].median);
	struct suspect s = {.kind = j->body->latency ? SUSPECT_LATENCY : SUSPECT_NODE,
			    .sends = send,
			    .receives = receive,
			    .a = i,
			    .b = SUSPECT_NONE,
			    .partners = l->of[way][i].partners,
			    .bad = l->of[way][i].bad,
			    .text = judge_said(j, i, false)};
	const bool slow[MATRIX_WAYS] = {send, receive};
	uint32_t count;

	if (j->body->latency) {
		s.value = judge_middle(j, i, slow, !j->any_loaded, &count);
		s.normal = j->usual;
	} else {
		s.normal = l->normal * judge_speed(j, i);
		s.value = l->of[way][i].median * s.normal;
	}
	s.proof = prove(j, &s);
	return s;
}

int judge_levels(struct judgement *j)
{
	if (j->body->latency)
		j->usual = usual_latency(j);
	for (uint32_t i = 0; i < j->m.players; i++) {
		struct suspect s;

		if (j->lost[i] ||
		    (!j->level.of[MATRIX_SEND][i].slow && !j->level.of[MATRIX_RECEIVE][i].slow))
			continue;
		s = slow_player(j, i);
		if (suspects_add(&j->suspects, &s))
			return -1;
	}
	return 0;
}

static int add_tails(struct judgement *j, const struct level *l)
{
	for (uint32_t i = 0; i < j->m.players; i++) {
		bool send = l->of[MATRIX_SEND][i].slow, receive = l->of[MATRIX_RECEIVE][i].slow;
		enum matrix_way way = send ? MATRIX_SEND : MATRIX_RECEIVE;

		if (j->lost[i] || (!send && !receive))
			continue;
		if (suspects_add(&j->suspects, &(struct suspect){.kind = SUSPECT_TAIL,
								 .sends = send,
								 .receives = receive,
								 .a = i,
								 .b = SUSPECT_NONE,
								 .value = 1 / l->of[way][i].median,
								 .normal = JUDGEMENT_TAIL,
								 .partners = l->of[way][i].partners,
								 .bad = l->of[way][i].bad,
								 .text = judge_said(j, i, false)}))
			return -1;
	}
	return 0;
}

/* Add the pairs that have a long tail, and an end with too few partners to be judged itself. */
static int add_tail_pairs(struct judgement *j, const struct level *l)
{
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		if (c->from > c->to || !(c->tail > JUDGEMENT_TAIL) || j->lost[c->from] ||
		    j->lost[c->to] ||
		    (level_is_known(l, MATRIX_SEND, c->from) &&
		     level_is_known(l, MATRIX_RECEIVE, c->to)) ||
		    l->of[MATRIX_SEND][c->from].slow || l->of[MATRIX_RECEIVE][c->to].slow)
			continue;
		if (suspects_add(&j->suspects, &(struct suspect){.kind = SUSPECT_TAIL,
								 .sends = true,
								 .receives = true,
								 .few_partners = true,
								 .a = c->from,
								 .b = c->to,
								 .value = (double)c->tail,
								 .normal = JUDGEMENT_TAIL,
								 .text = SUSPECT_NONE}))
			return -1;
	}
	return 0;
}

int judge_tails(struct judgement *j)
{
	const struct level_rules rules = {.limit = 1 / JUDGEMENT_TAIL, .absolute = true};
	float *x = malloc(((size_t)j->m.cells + 1) * sizeof(*x));
	uint32_t first = j->suspects.count;
	struct level l = {0};
	int failed = x ? 0 : -1;

	for (uint32_t i = 0; i < j->m.cells && x; i++)
		x[i] = 1 / j->m.cell[i].tail;
	if (!failed && j->body->latency) {
		failed = level_init(&l, &j->m, x, &rules) || add_tails(j, &l) ? -1 : 0;
		judge_hosts(j, first);
		failed = failed || add_tail_pairs(j, &l) ? -1 : 0;
	}
	level_release(&l);
	free(x);
	return failed;
}

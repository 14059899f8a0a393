// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Kinds of players, and what pairs of each reach: a pair is held against its slower end's kind, so
 * that a 100 Gb/s port among others of 200, or a rail that is slower everywhere, is not slow.
 */
#include <math.h>
#include <string.h>

#include "judgement.h"

#define OWN_LEAST 4 /* players of a kind before what its pairs reach is its own */

/* The number of the kind, which is added if it is new. */
static uint32_t kind_of(struct judgement *j, const char *rail, double gbps, bool lower)
{
	uint32_t i = 0;

	while (i < j->kinds && (strcmp(j->kind[i].rail, rail) != 0 || j->kind[i].gbps != gbps ||
				j->kind[i].lower != lower))
		i++;
	if (i == KINDS_MAX)
		return KINDS_MAX - 1;
	if (i == j->kinds)
		j->kind[j->kinds++] = (struct kind){
			.rail = rail, .gbps = gbps, .lower = lower, .reach = NAN};
	return i;
}

/*
 * What pairs of players of KIND reach in PARTS: mostly, since some of them may be slow. NONE: what
 * all pairs reach of the rate of the slower port; of a latency at all.
 */
static double reach_of(const struct judgement *j, uint32_t kind, unsigned parts)
{
	struct figures f = {.of = j->room};

	for (uint32_t i = 0; i < j->e->count; i += j->kinds > 1 ? 1 : judge_step(j)) {
		const struct observation *o = &j->e->of[i];
		uint32_t from = j->player[o->from].kind, to = j->player[o->to].kind;
		double gbps = fmin(j->kind[from].gbps, j->kind[to].gbps);

		if (!(parts >> o->part & 1) || o->marks & MARK_LACKED || !(o->value > 0) ||
		    j->player[o->from].lost || j->player[o->to].lost)
			continue;
		if (kind == NONE && (gbps > 0 || j->e->latency))
			f.of[f.n++] = judge_log(j, o) - (j->e->latency ? 0 : log(gbps));
		else if (kind == from && kind == to)
			f.of[f.n++] = judge_log(j, o);
	}
	return figures_quantile(&f, TYPICAL);
}

/*
 * Set what each kind reaches, by few pairs at a time if there are any, and each observation's y. Of
 * a kind with too few players it is as much of its ports' rate as all pairs reach.
 */
static void measure_kinds(struct judgement *j)
{
	double usual = reach_of(j, NONE, PARTS_SCREEN);

	for (uint32_t k = 0; k < j->kinds; k++) {
		struct kind *kind = &j->kind[k];
		bool few = kind->players < OWN_LEAST && !isnan(usual) &&
			   (kind->gbps > 0 || j->e->latency);

		kind->reach = few ? usual + (j->e->latency ? 0 : log(kind->gbps))
				  : reach_of(j, k, 1U << PART_SCREEN);
		if (isnan(kind->reach))
			kind->reach = reach_of(j, k, PARTS_SCREEN);
	}
	for (uint32_t i = 0; i < j->e->count; i++) {
		struct observation *o = &j->e->of[i];
		double from = j->kind[j->player[o->from].kind].reach;
		double to = j->kind[j->player[o->to].kind].reach;

		o->y = NAN; /* as of a rate that is not known, where others are */
		if (o->value > 0 && !(o->marks & MARK_LACKED) && !isnan(from + to))
			o->y = (float)(judge_log(j, o) - fmin(from, to));
	}
}

void judge_kinds(struct judgement *j)
{
	j->kinds = 0;
	for (uint32_t i = 0; i < j->players; i++) {
		struct player *p = &j->player[i];

		p->kind = kind_of(j, evidence_rail(j->e, i), (double)p->port_gbps, p->lower);
		j->kind[p->kind].players += !p->lost;
	}
	measure_kinds(j);
}

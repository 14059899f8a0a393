// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Nodes and rails that reach less than in an earlier run: one comparison of their medians. */
#include <math.h>

#include "judgement.h"

#define WORSE .95 /* of before */

/* The figures of PLAYER in WAY, as logarithms of what they are. */
static struct figures figures_of(const struct judgement *j, uint32_t player, enum way way,
				 double *to)
{
	struct figures f = {.of = to};

	for (struct walk w = walk_way(j->e, player, way, PARTS_SCREEN); walk_next(&w);)
		if (judge_counts(j, w.is))
			f.of[f.n++] = judge_log(j, w.is);
	return f;
}

static bool is_worse(const struct judgement *j, struct figures *is, struct figures *was,
		     struct statement *s)
{
	double n = fmin((double)is->n, (double)was->n), now = figures_median(is);
	double before = figures_median(was);
	double noise = fmax(figures_deviation(is, now), figures_deviation(was, before));

	if (!(now - before < fmin(log(WORSE), -SPREADS * noise / sqrt(n))))
		return false;
	if (!(s->value > 0) ||
	    now - before < (j->e->latency ? -1 : 1) * log(s->value / s->normal)) {
		s->value = exp(j->e->latency ? -now : now);
		s->normal = exp(j->e->latency ? -before : before);
		s->of = (uint32_t)is->n;
	}
	return true;
}

void judge_compare(struct judgement *j, const struct judgement *before)
{
	bool any = false;

	for (uint32_t i = 0; i < j->players; i++) {
		uint32_t at = names_find(&before->e->names, evidence_name(j->e, i));
		struct statement s = suspect_of(SUSPECT_WORSE, i);

		if (at == NAMES_NONE || j->player[i].lost)
			continue;
		for (enum way way = SENDS; way < evidence_ways(j->e); way++) {
			struct figures is = figures_of(j, i, way, j->room);
			struct figures was = figures_of(before, at, way, before->room);

			if (is.n < FIGURES_LEAST || was.n < FIGURES_LEAST)
				continue;
			any = true;
			*(way == SENDS ? &s.sends : &s.receives) = is_worse(j, &is, &was, &s);
		}
		s.tested = true;
		if (s.sends || s.receives)
			statements_add(j, &s);
	}
	if (!any)
		statements_add(j, &(struct statement){PAIRS_NOT_COMPARED, FINDING_WARN, FINDING_MAY_BE});
	judge_states(j);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Nodes, rails and pairs that reach less than in an earlier run. */
#include <math.h>
#include <stdlib.h>

#include "judgement.h"
#include "limits.h"

/* The figures of a player or of a cell: how many, and their median. */
struct figures {
	double value;
	uint32_t count;
};

/* The deviation of one figure, from the half of them that is in the middle. */
static double noise_of(const struct judgement *j)
{
	const struct chances *p = fit_main_pool(&j->fit, FIT_FIGURES);

	return p->count ? (chances_at(p, .75) - chances_at(p, .25)) / 1.349 : 0;
}

/* True if NOW is worse than BEFORE by more than noise may make it. */
static bool is_worse(const struct judgement *j, const struct judgement *before,
		     const struct figures *is, const struct figures *was)
{
	double part = j->body->latency ? was->value / is->value : is->value / was->value;
	double noise = BASELINE_SURE * fmax(noise_of(j), noise_of(before)) /
		       sqrt(fmax(1, fmin(is->count, was->count)));

	return part < fmin(BASELINE_WORSE, 1 - noise);
}

/* The number in BEFORE of PLAYER of J, or NAMES_NONE. */
static uint32_t same_player(const struct judgement *j, const struct judgement *before,
			    uint32_t player)
{
	return names_find(&before->body->names, j->body->names.text[player]);
}

/*
 * Compare PLAYER, which is AT in BEFORE, in one direction; COMPARED is set if both have enough
 * figures. S has those of the worse direction.
 */
static bool compare_way(const struct judgement *j, const struct judgement *before, uint32_t player,
			uint32_t at, enum matrix_way way, struct suspect *s, bool *compared)
{
	const bool ways[MATRIX_WAYS] = {way == MATRIX_SEND, way == MATRIX_RECEIVE};
	struct figures is, was;
	struct suspect found = *s;

	is.value = judge_middle(j, player, ways, j->fit.alone, &is.count);
	was.value = judge_middle(before, at, ways, before->fit.alone, &was.count);
	if (is.count < FIT_PARTNERS || was.count < FIT_PARTNERS)
		return false;
	*compared = true;
	if (!is_worse(j, before, &is, &was))
		return false;
	found.value = is.value;
	found.normal = was.value;
	if (isnan(s->value) || suspect_part(&found) < suspect_part(s)) {
		s->value = is.value;
		s->normal = was.value;
		s->partners = is.count;
	}
	return true;
}

static int compare_player(struct judgement *j, const struct judgement *before, uint32_t player,
			  bool *compared)
{
	uint32_t at = same_player(j, before, player);
	struct suspect s = {.kind = SUSPECT_WORSE,
			    .a = player,
			    .b = SUSPECT_NONE,
			    .value = NAN,
			    .normal = NAN,
			    .text = SUSPECT_NONE};

	if (at == NAMES_NONE || j->lost[player])
		return 0;
	s.sends = compare_way(j, before, player, at, MATRIX_SEND, &s, compared);
	s.receives = compare_way(j, before, player, at, MATRIX_RECEIVE, &s, compared);
	j->compared += *compared;
	return s.sends || s.receives ? suspects_add(&j->suspects, &s) : 0;
}

static struct figures of_cell(const struct judgement *j, const struct matrix_cell *c)
{
	return (struct figures){
		.value = !c ? NAN : (double)(j->fit.alone ? c->alone : c->loaded),
		.count = 1,
	};
}

/* Where neither end was compared, it is the pair that is: either may be what has changed. */
static int compare_cell(struct judgement *j, const struct judgement *before,
			const struct matrix_cell *c, const bool *compared)
{
	uint32_t from = same_player(j, before, c->from), to = same_player(j, before, c->to);
	struct figures is = of_cell(j, c), was;

	if (from == NAMES_NONE || to == NAMES_NONE || j->lost[c->from] || j->lost[c->to] ||
	    compared[c->from] || compared[c->to] || (j->body->latency && c->from > c->to))
		return 0;
	was = of_cell(before, matrix_find(&before->m, from, to));
	if (isnan(is.value) || isnan(was.value))
		return 0;
	j->compared++;
	if (!is_worse(j, before, &is, &was))
		return 0;
	return suspects_add(&j->suspects,
			    &(struct suspect){.kind = SUSPECT_WORSE,
					      .sends = true,
					      .receives = j->body->latency,
					      .few_partners = !judge_is_known(j, c->from) ||
							      !judge_is_known(j, c->to),
					      .a = c->from,
					      .b = c->to,
					      .value = is.value,
					      .normal = was.value,
					      .text = SUSPECT_NONE});
}

int judgement_compare(struct judgement *j, const struct judgement *before)
{
	bool *compared = calloc((size_t)j->m.players + 1, sizeof(*compared));
	uint32_t first = j->suspects.count;
	int failed = compared ? 0 : -1;

	j->has_baseline = true;
	for (uint32_t i = 0; i < j->m.players && !failed; i++)
		failed = compare_player(j, before, i, &compared[i]);
	if (!failed)
		judge_hosts(j, first);
	for (uint32_t i = 0; i < j->m.cells && !failed; i++)
		failed = compare_cell(j, before, &j->m.cell[i], compared);
	suspects_sort(&j->suspects);
	free(compared);
	return failed;
}

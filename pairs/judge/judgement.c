// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Applies the rules one after another, and says what exit status that is. */
#include "judgement.h"
#include "base/fault.h"
#include "judge.h"
#include "proto/json_memory.h"

#include <math.h>
#include <stdlib.h>

/* Find the first run that did not come to its end, and count players that no line names. */
static void find_rounds(struct judgement *j)
{
	const struct body *b = j->body;

	if (b->expected > b->names.count)
		j->rounds.unnamed = b->expected - b->names.count;
	for (uint32_t i = 0; i < b->runs.count && !j->rounds.planned; i++) {
		const struct body_run *run = &b->run[i];
		uint32_t played = run->done ? run->played : run->seen;

		if (!run->planned || !run->came || (run->done && played >= run->planned))
			continue;
		j->rounds.planned = run->planned;
		j->rounds.played = played < run->planned ? played : run->planned;
	}
}

static void count_cells(struct judgement *j)
{
	bool any_loaded = false, any_alone = false;

	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		any_loaded |= !isnan(c->loaded);
		any_alone |= !isnan(c->alone);
		if (j->body->latency && c->from > c->to) /* it is that of the other direction */
			continue;
		j->measured += c->measured > 0;
		j->tried++;
	}
	j->retested = any_loaded && any_alone;
}

static int find_groups(struct judgement *j)
{
	const struct body *b = j->body;

	if (!j->groups->names.count)
		return 0;
	j->group = malloc(((size_t)j->m.players + 1) * sizeof(*j->group));
	if (!j->group)
		return -1;
	for (uint32_t i = 0; i < j->m.players; i++)
		j->group[i] = groups_of(j->groups, b->hosts.text[b->player[i].host]);
	return 0;
}

/* That many send less each than one does is no suspicion: of an incast only who starves. */
static void add_starving(struct judgement *j)
{
	const struct incast *it = &j->incast;

	for (uint32_t i = 0; i < it->starved; i++) {
		const struct incast_starving *is = &it->starving[i];
		struct suspect s = suspect_of(SUSPECT_STARVES, is->sender);

		s.proof = isnan(is->alone)                ? SUSPECT_ONCE
			  : is->alone < INCAST_SLOW_ALONE ? SUSPECT_CONFIRMED
							  : SUSPECT_LOAD;
		s.sends = true;
		s.value = is->share;
		s.normal = 1;
		s.partners = is->rounds;
		s.bad = is->starved;
		suspects_add(&j->suspects, &s);
	}
	suspects_sort(&j->suspects);
}

/* Those of who is lost, and what pairs reach; then what depends on that. */
static void apply_rules(struct judgement *j)
{
	uint32_t first;

	judge_lost(j);
	judge_hosts(j, 0);
	fit_first(&j->fit);
	judge_no_cpu(j);
	if (j->incast.rounds) {
		j->smallest = j->network = NAN;
		add_starving(j);
		return;
	}
	first = j->suspects.count;
	leaves_find(j);
	if (j->suspects.count > first)
		fit_again(&j->fit);
	racks_find(&j->fit);
	first = j->suspects.count;
	judge_levels(j);
	judge_hosts(j, first);
	judge_tails(j);
	judge_pairs(j);
	judge_notes(j);
	suspects_sort(&j->suspects);
}

int judgement_init(struct judgement *j, const struct body *body, const struct groups *groups,
		   double expected)
{
	*j = (struct judgement){.body = body, .groups = groups, .expected = expected};
	if (incast_find(&j->incast, body) || matrix_init(&j->m, body) || find_groups(j))
		return -1;
	count_cells(j);
	j->lost = calloc((size_t)j->m.players + 1, sizeof(*j->lost));
	j->excused = calloc((size_t)j->m.players + 1, sizeof(*j->excused));
	j->hosts = malloc((size_t)body->hosts.count + 1);
	if (!j->lost || !j->excused || !j->hosts ||
	    fit_init(&j->fit, &j->m, j->group, groups->names.count, j->lost))
		return -1;
	find_rounds(j);
	apply_rules(j);
	judge_states(j);
	return json_memory_failures() ? -1 : 0;
}

void judgement_release(struct judgement *j)
{
	matrix_release(&j->m);
	free(j->group);
	free(j->lost);
	free(j->excused);
	free(j->hosts);
	fit_release(&j->fit);
	free(j->suspects.of);
	incast_release(&j->incast);
	*j = (struct judgement){0};
}

int judge_status(const struct judgement *j)
{
	bool lost = !j->measured || j->rounds.unnamed;

	for (uint32_t i = 0; i < j->suspects.count; i++)
		lost |= suspect_is_lost(j->suspects.of[i].kind);
	if (lost)
		return FAULT_PEER;
	if (j->suspects.count || findings_find(&j->notes, PAIRS_BELOW_EXPECTED) ||
	    findings_find(&j->notes, PAIRS_CLUSTER_SLOW))
		return FAULT_THRESHOLD;
	if (j->cannot_tell || j->rounds.planned || j->rounds.unended ||
	    (j->has_baseline && !j->compared))
		return FAULT_UNAVAILABLE;
	return 0;
}

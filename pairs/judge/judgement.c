// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Applies the rules one after another. */
#include "judgement.h"

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

		if (run->planned && run->came && (!run->done || played < run->planned))
			j->rounds = (struct judge_rounds){
				.planned = run->planned,
				.played = played < run->planned ? played : run->planned,
				.unnamed = j->rounds.unnamed};
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

static int make_matrix(struct judgement *j)
{
	const struct body *b = j->body;
	uint32_t *host = malloc(((size_t)b->names.count + 1) * sizeof(*host));

	if (!host)
		return -1;
	for (uint32_t i = 0; i < b->names.count; i++)
		host[i] = b->player[i].host;
	return matrix_init(&j->m, b->names.count, host, b->tries, b->count);
}

static int apply_rules(struct judgement *j)
{
	uint32_t first;

	if (fit_init(&j->fit, j->body, &j->m, j->group, j->lost) || judge_lost(j))
		return -1;
	judge_hosts(j, 0);
	fit_first(&j->fit);
	if (j->incast.rounds) { /* that many send less each than one does is no suspicion */
		j->smallest = j->network = NAN;
		return incast_suspects(&j->suspects, &j->incast);
	}
	j->fit.groups = j->groups->names.count;
	j->fit.bad_pair = j->bad_pair;
	first = j->suspects.count;
	if (leaves_find(j))
		return -1;
	if (j->suspects.count > first)
		fit_again(&j->fit);
	if (racks_find(&j->fit))
		return -1;
	first = j->suspects.count;
	if (judge_levels(j))
		return -1;
	judge_hosts(j, first);
	if (judge_tails(j) || judge_pairs(j))
		return -1;
	judge_notes(j);
	suspects_sort(&j->suspects);
	return 0;
}

int judgement_init(struct judgement *j, const struct body *body, const struct groups *groups,
		   double expected)
{
	size_t all = groups->names.count;

	*j = (struct judgement){.body = body, .groups = groups, .expected = expected};
	if (incast_find(&j->incast, body) || make_matrix(j) || find_groups(j))
		return -1;
	count_cells(j);
	j->bad_pair = all ? calloc(all, all) : NULL;
	j->lost = calloc((size_t)j->m.players + 1, sizeof(*j->lost));
	j->excused = calloc((size_t)j->m.players + 1, sizeof(*j->excused));
	j->hosts = malloc((size_t)body->hosts.count + 1);
	if ((all && !j->bad_pair) || !j->lost || !j->excused || !j->hosts)
		return -1;
	find_rounds(j);
	return apply_rules(j);
}

void judgement_release(struct judgement *j)
{
	free((void *)j->m.host);
	matrix_release(&j->m);
	free(j->group);
	free(j->bad_pair);
	free(j->lost);
	free(j->excused);
	free(j->hosts);
	fit_release(&j->fit);
	suspects_release(&j->suspects);
	incast_release(&j->incast);
	*j = (struct judgement){0};
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Applies the steps one after another. */
#include "judgement.h"

#include <stdlib.h>

#include "proto/json_memory.h"

static void count_runs(struct judgement *j)
{
	for (uint32_t i = 0; i < j->e->count; i++)
		if (PARTS_SCREEN >> j->e->of[i].part & 1) {
			j->tried++;
			j->measured += !j->e->of[i].cause;
		} else {
			j->tests += j->e->of[i].part != PART_BLOCK;
		}
}

/* All lists; and what nothing is known of yet. */
static int allocate(struct judgement *j)
{
	size_t n = (size_t)j->players + 1;

	j->candidate = malloc(n * sizeof(*j->candidate));
	j->room = malloc((j->e->count + 3 * n + j->e->texts.count + 64) * sizeof(*j->room));
	j->host = calloc((size_t)j->e->hosts.count + 1, sizeof(*j->host));
	for (uint32_t i = 0; i < j->players; i++) {
		struct player *p = &j->player[i];

		p->group = groups_of(j->groups, evidence_host(j->e, i));
		p->best[SENDS] = p->best[RECEIVES] = NAN;
		p->median[SENDS] = p->median[RECEIVES] = NAN;
	}
	return j->candidate && j->room && j->host ? 0 : -1;
}

int judgement_init(struct judgement *j, struct evidence *e, const struct groups *groups,
		   double expected)
{
	*j = (struct judgement){
		.e = e, .groups = groups, .expected = expected, .players = e->names.count,
		.player = e->player};
	if (allocate(j))
		return -1;
	count_runs(j);
	judge_lost(j);
	judge_kinds(j);
	judge_screen(j);
	if (judge_verdicts(j))
		return -1;
	judge_name_suspects(j);
	judge_groups(j);
	judge_notes(j);
	judge_states(j);
	return json_memory_failures() ? -1 : 0;
}

void judgement_release(struct judgement *j)
{
	free(j->candidate);
	free(j->room);
	free(j->host);
	free(j->statement);
	*j = (struct judgement){0};
}

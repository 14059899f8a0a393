// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Applies the steps one after another. */
#include "judgement.h"

#include <stdlib.h>
#include <string.h>

#include "proto/json_memory.h"

/* Find the first run that did not come to its end, and count players that no line names. */
static void find_rounds(struct judgement *j)
{
	const struct evidence *e = j->e;

	if (e->expected > e->names.count)
		j->unnamed = e->expected - e->names.count;
	for (uint32_t i = 0; i < e->runs.count && !j->planned_rounds; i++) {
		const struct run *run = &e->run[i];
		uint32_t played = run->done ? run->played : run->seen;

		if (!run->planned || !run->came || (run->done && played >= run->planned))
			continue;
		j->planned_rounds = run->planned;
		j->played_rounds = played < run->planned ? played : run->planned;
	}
	for (uint32_t i = 0; i < e->count; i++) {
		bool screen = PARTS_SCREEN >> e->of[i].part & 1;

		j->tried += screen;
		j->measured += screen && !e->of[i].cause;
	}
}

/* All lists. */
static int allocate(struct judgement *j)
{
	size_t n = (size_t)j->players + 1, figures = (size_t)j->e->count + 3 * n + 64;

	j->group = malloc(n * sizeof(*j->group));
	j->lost = calloc(n, sizeof(*j->lost));
	j->candidate_of = malloc(n * sizeof(*j->candidate_of));
	j->near = malloc(n * sizeof(*j->near));
	j->candidate = malloc(n * sizeof(*j->candidate));
	j->room = malloc(figures * sizeof(*j->room));
	j->host = calloc((size_t)j->e->hosts.count + 1, sizeof(*j->host));
	for (enum way way = SENDS; way < WAYS; way++) {
		j->standing[way] = malloc(n * sizeof(**j->standing));
		if (!j->standing[way])
			return -1;
		for (uint32_t i = 0; i < j->players; i++)
			j->standing[way][i] = (struct standing){NAN, NAN};
	}
	if (!j->group || !j->lost || !j->candidate_of || !j->near || !j->candidate || !j->room ||
	    !j->host)
		return -1;
	memset(j->candidate_of, 0xff, n * sizeof(*j->candidate_of));
	for (uint32_t i = 0; i < j->players; i++)
		j->group[i] = j->groups->names.count ? groups_of(j->groups, evidence_host(j->e, i))
						     : NONE;
	return 0;
}

int judgement_init(struct judgement *j, struct evidence *e, const struct groups *groups,
		   double expected)
{
	*j = (struct judgement){
		.e = e, .groups = groups, .expected = expected, .players = e->names.count};
	if (allocate(j))
		return -1;
	find_rounds(j);
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
	void *const lists[] = {
		j->group, j->lost, j->candidate_of,    j->near,        j->candidate,
		j->room,  j->host, j->standing[SENDS], j->statement, j->standing[RECEIVES]};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]);
	*j = (struct judgement){0};
}

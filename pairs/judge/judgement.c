// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes one number of each cell, and applies the rules one after another. */
#include "judgement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int fill_x(struct judgement *j)
{
	double least[JUDGEMENT_DISTANCES];

	for (uint32_t i = 0; i < j->m.cells; i++)
		j->plain[i] = judge_figure(j, i);
	if (judge_speeds(j) || (j->body->latency && judge_leasts(j, least)))
		return -1;
	for (uint32_t i = 0; i < j->m.cells; i++) {
		float v = judge_figure(j, i), speed = (float)judge_speed(j, j->m.cell[i].from);

		j->x[i] = j->body->latency ? (float)least[judge_distance(j, i)] / v : v / speed;
	}
	memcpy(j->plain, j->x, j->m.cells * sizeof(*j->x));
	return 0;
}

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
	for (uint32_t i = 0; i < j->m.cells; i++) {
		const struct matrix_cell *c = &j->m.cell[i];

		j->any_loaded |= !isnan(c->loaded);
		if (j->body->latency && c->from > c->to) /* it is that of the other direction */
			continue;
		j->measured += c->measured > 0;
		j->tried++;
	}
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

static int find_levels(struct judgement *j)
{
	const struct level_rules rate = {.limit = JUDGEMENT_SLOW},
				 latency = {.limit = 1 / JUDGEMENT_HIGH, .absolute = true};

	level_release(&j->level);
	return level_init(&j->level, &j->m, j->x, j->body->latency ? &latency : &rate);
}

static int apply_rules(struct judgement *j)
{
	uint32_t first;

	if (judge_lost(j))
		return -1;
	judge_hosts(j, 0);
	if (j->incast.rounds) /* that many send less each than one does is no suspicion */
		return find_levels(j) || incast_suspects(&j->suspects, &j->incast) ? -1 : 0;
	/* Slow nodes make groups look slow, and slow groups nodes: so both twice. */
	for (int pass = 0; pass < 2; pass++)
		if (judge_groups(j, false) || find_levels(j))
			return -1;
	first = j->suspects.count;
	if (judge_levels(j))
		return -1;
	judge_hosts(j, first);
	if (judge_tails(j) || judge_groups(j, true) || judge_pairs(j))
		return -1;
	suspects_sort(&j->suspects);
	return 0;
}

int judgement_init(struct judgement *j, const struct body *body, const struct groups *groups)
{
	*j = (struct judgement){.body = body, .groups = groups};
	if (incast_of_body(&j->incast, body) || make_matrix(j) || find_groups(j))
		return -1;
	count_cells(j);
	j->x = malloc(((size_t)j->m.cells + 1) * sizeof(*j->x));
	j->plain = malloc(((size_t)j->m.cells + 1) * sizeof(*j->plain));
	j->some = malloc(((size_t)j->m.cells + 1) * sizeof(*j->some));
	j->lost = calloc((size_t)j->m.players + 1, sizeof(*j->lost));
	j->excused = calloc((size_t)j->m.players + 1, sizeof(*j->excused));
	j->hosts = malloc((size_t)body->hosts.count + 1);
	if (!j->x || !j->plain || !j->some || !j->lost || !j->excused || !j->hosts)
		return -1;
	find_rounds(j);
	return fill_x(j) || apply_rules(j) ? -1 : 0;
}

void judgement_release(struct judgement *j)
{
	free((void *)j->m.host);
	matrix_release(&j->m);
	free(j->x);
	free(j->plain);
	free(j->some);
	free(j->group);
	free(j->lost);
	free(j->excused);
	free(j->hosts);
	level_release(&j->level);
	names_release(&j->speeds.rails);
	free(j->speeds.of);
	free(j->speeds.part);
	suspects_release(&j->suspects);
	incast_release(&j->incast);
	*j = (struct judgement){0};
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a judgement for Prometheus. No series is of a pair: there may be a million of them. */
#include <math.h>
#include <string.h>

#include "judge.h"
#include "report/prom_series.h"

/* The labels of PLAYER, or of its host; the caller releases them. */
static json_t *labels_of(const struct prom *p, const struct judgement *j, uint32_t player,
			 bool host_only)
{
	const char *host = j->body->hosts.text[j->body->player[player].host];
	const char *name = j->body->names.text[player];
	json_t *labels = json_copy(p->labels);

	prom_label(labels, "node", host);
	if (!host_only && strlen(name) > strlen(host))
		prom_label(labels, "device", name + strlen(host) + 1);
	return labels;
}

static void add_player(struct prom *p, const struct judgement *j, uint32_t player)
{
	static const char *const way[MATRIX_WAYS] = {"send", "receive"};
	json_t *labels = labels_of(p, j, player, false);

	if (j->body->latency)
		prom_add(p, PROM_PAIRS_OF_NORMAL, labels, judge_part(j, player, MATRIX_SEND));
	for (enum matrix_way w = 0; w < MATRIX_WAYS && !j->body->latency; w++) {
		double part = judge_part(j, player, w);

		prom_add_labelled(p, PROM_PAIRS_OF_NORMAL, labels, "direction", way[w], part);
		prom_add_labelled(p, PROM_PAIRS_BANDWIDTH, labels, "direction", way[w],
				  part * judge_normal(j, player) * 1e9 / 8);
	}
	json_decref(labels);
}

static void add_suspects(struct prom *p, const struct judgement *j)
{
	uint32_t count[FINDING_CODES] = {0};

	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];
		json_t *labels;

		count[judge_code(s)]++;
		if (s->b != SUSPECT_NONE || s->kind == SUSPECT_GROUP)
			continue;
		labels = labels_of(p, j, s->a, s->is_host);
		prom_add_labelled(p, PROM_PAIRS_SUSPECT, labels, "kind",
				  finding_name(judge_code(s)), 1);
		json_decref(labels);
	}
	for (enum finding_code c = SUSPECT_NEVER_CAME; c <= SUSPECT_UNDER_LOAD; c++)
		prom_add_labelled(p, PROM_PAIRS_SUSPECTS, p->labels, "kind", finding_name(c),
				  count[c]);
}

/* What is known after a judgement. */
static void add_judgement(struct prom *p, const struct judgement *j)
{
	struct judge_count c = judge_count(j);

	prom_add_labelled(p, PROM_PAIRS_NODES, p->labels, "state", "good", c.good);
	prom_add_labelled(p, PROM_PAIRS_NODES, p->labels, "state", "undecided", c.undecided);
	prom_add_labelled(p, PROM_PAIRS_NODES, p->labels, "state", "suspect", c.suspect);
	prom_add_labelled(p, PROM_PAIRS_NODES, p->labels, "state", "lost", c.lost);
	if (!j->body->latency)
		prom_add(p, PROM_PAIRS_NORMAL, p->labels, judge_normal(j, 0) * 1e9 / 8);
	for (uint32_t i = 0; i < j->m.players; i++)
		if (!j->lost[i])
			add_player(p, j, i);
	add_suspects(p, j);
}

char *judge_prom(const struct judgement *j, const char *file, int status)
{
	struct prom p;

	prom_begin(&p, file);
	prom_add(&p, PROM_UP, p.labels, j != NULL);
	prom_add(&p, PROM_EXIT_STATUS, p.labels, status);
	if (j)
		add_judgement(&p, j);
	return prom_end(&p);
}

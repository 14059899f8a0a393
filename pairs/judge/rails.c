// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes one suspect of a host whose rails are all suspects of the same kind. */
#include <math.h>

#include "judgement.h"

/* The players of the host of PLAYER stand next to each other: how many there are. */
static uint32_t players_of(const struct judgement *j, uint32_t player)
{
	const uint32_t *host = j->m.host;
	uint32_t first = player, end = player;

	while (first && host[first - 1] == host[player])
		first--;
	while (end < j->m.players && host[end] == host[player])
		end++;
	return end - first;
}

static bool same(const struct judgement *j, const struct suspect *a, const struct suspect *b)
{
	return a->kind == b->kind && j->m.host[a->a] == j->m.host[b->a];
}

/* Add what S says to the suspect of its host. */
static void merge(struct suspect *host, const struct suspect *s)
{
	if (suspect_part(s) < suspect_part(host)) {
		host->value = s->value;
		host->normal = s->normal;
		host->partners = s->partners;
	}
	host->sends &= s->sends;
	host->receives &= s->receives;
	host->bad += s->bad;
	if (s->proof != host->proof)
		host->proof = SUSPECT_ONCE;
	if (host->text == SUSPECT_NONE)
		host->text = s->text;
}

void judge_hosts(struct judgement *j, uint32_t first)
{
	struct suspects *l = &j->suspects;
	uint32_t kept = first, count;

	for (uint32_t i = first; i < l->count; i += count) {
		struct suspect host = l->of[i];
		bool directed = host.sends || host.receives;

		for (count = 1; i + count < l->count && same(j, &host, &l->of[i + count]);
		     count++) {
			directed |= l->of[i + count].sends || l->of[i + count].receives;
			merge(&host, &l->of[i + count]);
		}
		host.is_host = count >= players_of(j, host.a) &&
			       (host.sends || host.receives || !directed);
		for (uint32_t k = 0; k < (host.is_host ? 0 : count); k++) {
			l->of[kept] = l->of[i + k];
			if (l->of[kept].kind == SUSPECT_NODE)
				l->of[kept].kind = SUSPECT_RAIL;
			kept++;
		}
		if (host.is_host)
			l->of[kept++] = host;
	}
	l->count = kept;
}

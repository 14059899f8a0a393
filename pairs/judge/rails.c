// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes one suspect of a host whose rails are all suspects of the same kind. */
#include <math.h>

#include "judgement.h"

static uint32_t host_of(const struct judgement *j, const struct suspect *s)
{
	return j->body->player[s->a].host;
}

/* The players of HOST; they stand next to each other. */
static uint32_t players_of(const struct judgement *j, uint32_t player)
{
	const struct body *b = j->body;
	uint32_t first = player, end = player + 1;

	while (first && b->player[first - 1].host == b->player[player].host)
		first--;
	while (end < b->names.count && b->player[end].host == b->player[player].host)
		end++;
	return end - first;
}

static bool same(const struct judgement *j, const struct suspect *a, const struct suspect *b)
{
	return a->kind == b->kind && host_of(j, a) == host_of(j, b);
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

/* True if the COUNT suspects at S, all rails of a host, agree in one direction. */
static bool agree(const struct suspect *s, uint32_t count)
{
	bool sends = true, receives = true, neither = true;

	for (uint32_t i = 0; i < count; i++) {
		sends &= s[i].sends;
		receives &= s[i].receives;
		neither &= !s[i].sends && !s[i].receives;
	}
	return sends || receives || neither;
}

void judge_hosts(struct judgement *j, uint32_t first)
{
	struct suspects *l = &j->suspects;
	uint32_t kept = first, count;

	for (uint32_t i = first; i < l->count; i += count) {
		uint32_t all = players_of(j, l->of[i].a);

		for (count = 1; i + count < l->count && same(j, &l->of[i], &l->of[i + count]);)
			count++;
		if (count < all || !agree(&l->of[i], count)) {
			for (uint32_t k = 0; k < count; k++) {
				l->of[kept] = l->of[i + k];
				if (l->of[kept].kind == SUSPECT_NODE)
					l->of[kept].kind = SUSPECT_RAIL;
				kept++;
			}
			continue;
		}
		l->of[kept] = l->of[i];
		for (uint32_t k = 1; k < count; k++)
			merge(&l->of[kept], &l->of[i + k]);
		l->of[kept++].is_host = true;
	}
	l->count = kept;
}

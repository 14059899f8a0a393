// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the hosts of suspects, and what to measure again. */
#include <string.h>

#include "judge.h"

#define GOOD_PARTNERS 2

/*
 * Mark the hosts that are suspects themselves; LOADED: also those that are slow only under load,
 * which is the network's fault.
 */
static char *suspect_hosts(const struct judgement *j, bool loaded)
{
	memset(j->hosts, false, j->body->hosts.count);
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		if (s->b == SUSPECT_NONE && (loaded || s->proof != SUSPECT_LOAD))
			j->hosts[j->body->player[s->a].host] = true;
	}
	return j->hosts;
}

void judge_suspects(FILE *to, const struct judgement *j)
{
	char *hosts = suspect_hosts(j, false);
	const struct body *b = j->body;

	for (uint32_t i = 0; i < j->m.players; i++) {
		uint32_t host = b->player[i].host;

		if (hosts[host])
			fprintf(to, "%s\n", b->hosts.text[host]);
		hosts[host] = false;
	}
}

/* The players of a host stand next to each other. True if PLAYER was measured with one of them. */
static bool was_measured(const struct judgement *j, uint32_t player, uint32_t other)
{
	uint32_t host = j->m.host[other];

	while (other && j->m.host[other - 1] == host)
		other--;
	for (; other < j->m.players && j->m.host[other] == host; other++) {
		const struct matrix_cell *to = matrix_find(&j->m, player, other);
		const struct matrix_cell *from = matrix_find(&j->m, other, player);

		if ((to && to->measured) || (from && from->measured))
			return true;
	}
	return false;
}

/*
 * Print a line for the host of PLAYER with each of a few good hosts, the next ones after it; first
 * those that it was measured with, since the same pair alone tells most.
 */
static void print_with_good(FILE *to, const struct judgement *j, const char *hosts, uint32_t player)
{
	const struct body *b = j->body;
	uint32_t n = j->m.players, self = b->player[player].host, found = 0;

	for (int measured = 1; measured >= 0; measured--)
		for (uint32_t k = 1, last = self; k < n && found < GOOD_PARTNERS; k++) {
			uint32_t at = (player + k) % n, other = b->player[at].host;

			if (hosts[other] || other == last || other == self ||
			    was_measured(j, player, at) != measured)
				continue;
			fprintf(to, "%s %s\n", b->hosts.text[self], b->hosts.text[other]);
			last = other;
			found++;
		}
}

void judge_retest(FILE *to, const struct judgement *j)
{
	char *hosts = suspect_hosts(j, true);
	const struct body *b = j->body;
	uint32_t last = BODY_NONE, pairs = 0;

	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		if (s->kind == SUSPECT_GROUP || s->proof == SUSPECT_LOAD)
			continue;
		if (s->b != SUSPECT_NONE && pairs++ < JUDGE_RETEST_PAIRS)
			fprintf(to, "%s %s\n", b->hosts.text[b->player[s->a].host],
				b->hosts.text[b->player[s->b].host]);
		else if (s->b != SUSPECT_NONE)
			continue;
		else if (s->kind != SUSPECT_NEVER_CAME && b->player[s->a].host != last)
			print_with_good(to, j, hosts, s->a);
		last = s->b == SUSPECT_NONE ? b->player[s->a].host : BODY_NONE;
	}
}

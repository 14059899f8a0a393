// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts hosts, and writes those of suspects, what to measure again, and the matrix. */
#include <math.h>
#include <string.h>

#include "judge.h"

#define GOOD_PARTNERS 2

/* False if others were measured again alone, and this suspect was not, or not often enough. */
static bool is_decided(const struct judgement *j, const struct suspect *s)
{
	return !j->retested || s->proof == SUSPECT_CONFIRMED || suspect_is_lost(s->kind);
}

static void set_host(const struct judgement *j, uint32_t player, char state)
{
	char *to = &j->hosts[j->body->player[player].host];

	*to = *to > state ? *to : state;
}

/* An end of a bad pair that has too few other partners may be the cause, or not. */
static void set_end(const struct judgement *j, uint32_t player)
{
	set_host(j, player, judge_is_known(j, player) ? HOST_UNKNOWN : HOST_UNDECIDED);
}

struct judge_count judge_count(const struct judgement *j)
{
	const struct body *b = j->body;
	uint32_t n[HOST_STATES] = {0};

	memset(j->hosts, HOST_UNKNOWN, b->hosts.count);
	for (uint32_t i = 0; i < j->m.cells; i++) {
		if (!j->m.cell[i].measured)
			continue;
		set_host(j, j->m.cell[i].from, HOST_GOOD);
		set_host(j, j->m.cell[i].to, HOST_GOOD);
	}
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		if (s->kind == SUSPECT_GROUP || s->proof == SUSPECT_LOAD)
			continue;
		if (s->b != SUSPECT_NONE) {
			set_end(j, s->a);
			set_end(j, s->b);
		} else if (suspect_is_lost(s->kind)) {
			set_host(j, s->a, HOST_LOST);
		} else {
			set_host(j, s->a, is_decided(j, s) ? HOST_SUSPECT : HOST_UNDECIDED);
		}
	}
	for (uint32_t i = 0; i < j->m.players; i++)
		if (j->fit.of[i].doubtful || j->lost[i])
			set_host(j, i, HOST_UNDECIDED);
	for (uint32_t i = 0; i < b->hosts.count; i++)
		n[(unsigned char)j->hosts[i]]++;
	return (struct judge_count){.good = j->blind ? 0 : n[HOST_GOOD],
				    .suspect = n[HOST_SUSPECT],
				    .lost = n[HOST_LOST],
				    .undecided = n[HOST_UNKNOWN] + n[HOST_UNDECIDED] +
						 (j->blind ? n[HOST_GOOD] : 0)};
}

void judge_suspects(FILE *to, const struct judgement *j)
{
	judge_count(j);
	for (uint32_t i = 0; i < j->body->hosts.count; i++)
		if (j->hosts[i] >= HOST_SUSPECT)
			fprintf(to, "%s\n", j->body->hosts.text[i]);
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

static void print_pair(FILE *to, const struct body *b, uint32_t one, uint32_t other)
{
	fprintf(to, "%s %s\n", b->hosts.text[b->player[one].host],
		b->hosts.text[b->player[other].host]);
}

/*
 * Print a line for the host of PLAYER with each of a few good hosts, the next ones after it; first
 * those that it was measured with, since the same pair alone tells most.
 */
static void print_with_good(FILE *to, const struct judgement *j, uint32_t player)
{
	const struct body *b = j->body;
	uint32_t n = j->m.players, self = b->player[player].host, found = 0;

	for (int measured = 1; measured >= 0; measured--)
		for (uint32_t k = 1, last = self; k < n && found < GOOD_PARTNERS; k++) {
			uint32_t at = (player + k) % n, other = b->player[at].host;

			if (j->hosts[other] || other == last || other == self ||
			    was_measured(j, player, at) != measured)
				continue;
			print_pair(to, b, player, at);
			last = other;
			found++;
		}
}

void judge_retest(FILE *to, const struct judgement *j)
{
	const struct suspect *s = j->suspects.of, *end = s ? s + j->suspects.count : NULL;
	const struct body *b = j->body;
	uint32_t last = BODY_NONE, pairs = 0;

	memset(j->hosts, false, b->hosts.count);
	for (const struct suspect *i = s; i < end; i++)
		if (i->b == SUSPECT_NONE && i->kind != SUSPECT_GROUP)
			j->hosts[b->player[i->a].host] = true;
	for (; s < end; s++) {
		if (s->kind == SUSPECT_GROUP || s->proof == SUSPECT_LOAD)
			continue;
		if (s->b != SUSPECT_NONE && pairs++ < JUDGE_RETEST_PAIRS)
			print_pair(to, b, s->a, s->b);
		else if (s->b == SUSPECT_NONE && s->kind != SUSPECT_NEVER_CAME &&
			 b->player[s->a].host != last)
			print_with_good(to, j, s->a);
		last = s->b == SUSPECT_NONE ? b->player[s->a].host : BODY_NONE;
	}
	for (uint32_t i = 0; i < j->m.cells && j->slow_pairs && pairs < JUDGE_RETEST_PAIRS; i++)
		if (judge_is_far_slower(j, i) && isnan(j->m.cell[i].alone) && ++pairs)
			print_pair(to, b, j->m.cell[i].from, j->m.cell[i].to);
}

double judge_covered(const struct judgement *j)
{
	double all = (double)j->m.players * (j->m.players - 1);

	return all > 0 ? j->m.cells / all : 1;
}

void judge_matrix(FILE *to, const struct judgement *j)
{
	const struct matrix *m = &j->m;

	fprintf(to, "from\\to");
	for (uint32_t i = 0; i < m->players; i++)
		fprintf(to, ",%s", j->body->names.text[i]);
	fprintf(to, "\n");
	for (uint32_t i = 0; i < m->players; i++) {
		uint32_t cell = m->row[i];

		fprintf(to, "%s", j->body->names.text[i]);
		for (uint32_t k = 0; k < m->players; k++) {
			const struct matrix_cell *c = &m->cell[cell];
			bool here = cell < m->row[i + 1] && c->to == k;
			float v = here ? (isnan(c->loaded) ? c->alone : c->loaded) : NAN;

			fprintf(to, isnan(v) ? "," : ",%.4g", (double)v);
			cell += here;
		}
		fprintf(to, "\n");
	}
}

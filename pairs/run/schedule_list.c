// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schedule_list.h"

#include <errno.h>
#include <stdlib.h>

#include "pairs/grow.h"

#define EXTRA_MAX 8192

void schedule_list_init(struct schedule *s, uint32_t hosts)
{
	*s = (struct schedule){.kind = SCHEDULE_LIST, .hosts = hosts};
}

int schedule_list_add(struct schedule *s, uint32_t round, uint32_t a, uint32_t b, struct fault *f)
{
	struct schedule_pair *more;

	if (a == b)
		return fault_raise(f, FAULT_USAGE, 0, "a pair of host %u and itself", a);
	if (s->pairs_n == SCHEDULE_PAIRS_MAX)
		return fault_raise(f, FAULT_USAGE, 0, "a schedule of more than %u pairs",
				   SCHEDULE_PAIRS_MAX);
	more = grow(s->pairs, s->pairs_n, sizeof(*more));
	if (!more)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "realloc");
	s->pairs = more;
	s->pairs[s->pairs_n++] =
		(struct schedule_pair){.round = round, .a = a < b ? a : b, .b = a < b ? b : a};
	return 0;
}

/*
 * Add the chosen pairs of the schedule WHOLE; what is left of one of its rounds after AT_ONCE pairs
 * gets rounds of its own. *ROUND is that of the next one.
 */
static int add_chosen(struct schedule *s, struct schedule *whole, const bool *chosen,
		      uint32_t at_once, uint32_t *round, struct fault *f)
{
	struct schedule_turn *turns = calloc(whole->hosts, sizeof(*turns));
	int rc = turns ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	for (uint32_t r = 0; !rc && r < whole->rounds; r++) {
		uint32_t n = 0;

		schedule_round(whole, r, turns);
		for (uint32_t i = 0; !rc && i < whole->hosts; i++)
			if (turns[i].client && (!chosen || chosen[i] || chosen[turns[i].peer]))
				rc = schedule_list_add(s, *round + n++ / at_once, i, turns[i].peer,
						       f);
		*round += n / at_once + (n % at_once != 0);
	}
	free(turns);
	return rc;
}

static bool has_pair(const struct schedule *s, size_t n, const struct schedule_pair *p)
{
	for (size_t i = 0; i < n; i++)
		if (s->pairs[i].a == p->a && s->pairs[i].b == p->b)
			return true;
	return false;
}

/* The round after the last one, from FIRST on, that has a host of P. */
static uint32_t free_round(const struct schedule *s, size_t from, uint32_t first,
			   const struct schedule_pair *p)
{
	uint32_t round = first;

	for (size_t i = from; i < s->pairs_n; i++) { /* their rounds do not fall for a host */
		const struct schedule_pair *q = &s->pairs[i];

		if (q->round >= round &&
		    (q->a == p->a || q->a == p->b || q->b == p->a || q->b == p->b))
			round = q->round + 1;
	}
	return round;
}

/* Add the pairs of EXTRA that S does not have, from round FIRST on, at most AT_ONCE in a round. */
static int add_extra(struct schedule *s, const struct schedule *extra, uint32_t first,
		     uint32_t at_once, struct fault *f)
{
	uint32_t *used = calloc(extra->pairs_n + 1, sizeof(*used));
	size_t own = s->pairs_n;
	int rc = used ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	for (size_t i = 0; !rc && i < extra->pairs_n; i++) {
		const struct schedule_pair *p = &extra->pairs[i];
		uint32_t round;

		if (has_pair(s, s->pairs_n, p))
			continue;
		round = free_round(s, own, first, p);
		while (used[round - first] == at_once)
			round++;
		used[round - first]++;
		rc = schedule_list_add(s, round, p->a, p->b, f);
	}
	free(used);
	return rc;
}

int schedule_list_limit(struct schedule *s, struct schedule *whole, const bool *chosen,
			const struct schedule *extra, uint32_t at_once, struct fault *f)
{
	uint32_t round = 0;

	schedule_list_init(s, whole->hosts);
	if (schedule_lanes(whole) > 1) {
		fault_raise(f, FAULT_USAGE, 0, "parts of an incast");
		return fault_fix(f, "omit --only, --alone and --at-once, or use another "
				    "--schedule");
	}
	if (extra->pairs_n > EXTRA_MAX)
		return fault_raise(f, FAULT_USAGE, 0, "--only with more than %d pairs", EXTRA_MAX);
	if (add_chosen(s, whole, chosen, at_once, &round, f))
		return -1;
	return add_extra(s, extra, round, at_once, f);
}

static int compare_pairs(const void *x, const void *y)
{
	const struct schedule_pair *p = x, *q = y;

	if (p->round != q->round)
		return p->round < q->round ? -1 : 1;
	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return p->b < q->b ? -1 : p->b > q->b;
}

/* Nobody may be in two pairs of a round. SEEN[i] is the last round of host i, plus 1. */
static int check_rounds(const struct schedule *s, uint32_t *seen, const char *from, struct fault *f)
{
	for (size_t i = 0; i < s->pairs_n; i++) {
		const struct schedule_pair *p = &s->pairs[i];

		if (seen[p->a] == p->round + 1 || seen[p->b] == p->round + 1)
			return fault_raise(f, FAULT_USAGE, 0,
					   "%s: host %u or %u has two partners in round %u", from,
					   p->a, p->b, p->round);
		seen[p->a] = seen[p->b] = p->round + 1;
	}
	return 0;
}

int schedule_list_complete(struct schedule *s, const char *from, struct fault *f)
{
	uint32_t *seen;
	int rc;

	if (!s->pairs_n)
		return fault_raise(f, FAULT_USAGE, 0, "%s: there is no pair to measure", from);
	qsort(s->pairs, s->pairs_n, sizeof(*s->pairs), compare_pairs);
	s->rounds = s->pairs[s->pairs_n - 1].round + 1;
	seen = calloc(s->hosts, sizeof(*seen));
	rc = seen ? check_rounds(s, seen, from, f) : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
	free(seen);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plans what to measure next: first a screen, few pairs at a time, and whole groups with each
 * other; then each candidate with references, and as many controls. Pairs that are wanted are put
 * into slots in which their hosts are free. No two candidates of one group are tested in a slot:
 * what they share would be taken for theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "pairs/grow.h"
#include "proto/json_memory.h"

#define PLANS_MAX    5 /* one or two screens, and three tests */
#define MATCHINGS    4 /* how often all hosts, and groups, meet another one in the screen, and a pair is tested */
#define RAILS_TIMES  2 /* the same of hosts with rails, which are more players */

/* A pair that is wanted; FROM is the client. */
struct match {
	uint32_t from, to;
	bool done;
};

struct plan {
	const struct judgement *j;
	FILE *to;
	uint64_t x; /* the state of the numbers that are drawn */
	uint32_t slot, room;
	struct match *match; /* owned, as all lists are */
	uint32_t matches, references;
	uint32_t *list;      /* room for as many as there are players; and, behind it: */
	uint32_t *reference; /* players that are no candidates */
	uint32_t *busy, *busy_group; /* of hosts and groups: the last slot that has them, plus 1 */
};

/* A number below N, by chance. */
static uint32_t draw(struct plan *p, uint32_t n)
{
	return (uint32_t)(schedule_random(&p->x) >> 33) % n;
}

static uint32_t host_of(const struct plan *p, uint32_t player)
{
	return p->j->player[player].host;
}

static bool is_free(const struct plan *p, uint32_t player)
{
	return p->busy[host_of(p, player)] != p->slot + 1;
}

/* True if A and B are of two hosts, and the same rail of them, or have none. */
static bool can_meet(const struct plan *p, uint32_t a, uint32_t b)
{
	return host_of(p, a) != host_of(p, b) &&
	       strcmp(evidence_rail(p->j->e, a), evidence_rail(p->j->e, b)) == 0;
}

/* Want A with B. BACK: of runs of one way B is the client. */
static void want(struct plan *p, uint32_t a, uint32_t b, bool back)
{
	struct match *more = grow(p->match, p->matches, sizeof(*more));

	if (!more) {
		json_memory_lacked();
		return;
	}
	p->match = more;
	back &= p->j->e->one_way;
	p->match[p->matches++] = back ? (struct match){b, a} : (struct match){a, b};
}

/* Put FROM and TO, whose hosts are free, into this slot. */
static void put(struct plan *p, uint32_t from, uint32_t to, const char *part)
{
	fprintf(p->to, "%u %s %s %s\n", p->slot, evidence_name(p->j->e, from),
		evidence_name(p->j->e, to), part);
	p->busy[host_of(p, from)] = p->busy[host_of(p, to)] = p->slot + 1;
}

/* Put those into this slot that fit. Returns how many; p->list has the first of each. */
static uint32_t fill_slot(struct plan *p, const char *part)
{
	const struct judgement *j = p->j;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->matches && n < p->room; i++) {
		struct match *m = &p->match[i];
		const struct player *from = &j->player[m->from], *to = &j->player[m->to];
		bool alone = *part == 't' && from->candidate != to->candidate;
		uint32_t group = !alone ? NONE : from->candidate ? from->group : to->group;

		if (m->done || !is_free(p, m->from) || !is_free(p, m->to) ||
		    (group != NONE && p->busy_group[group] == p->slot + 1))
			continue;
		if (group != NONE)
			p->busy_group[group] = p->slot + 1;
		m->done = true;
		put(p, m->from, m->to, part);
		p->list[n++] = m->from;
	}
	return n;
}

/* The pairs of two hosts: each rail with the same rail. */
static void match_hosts(struct plan *p, uint32_t a, uint32_t b)
{
	const struct evidence *e = p->j->e;

	for (uint32_t i = e->first[a]; i < e->first[a + 1]; i++)
		for (uint32_t k = e->first[b]; k < e->first[b + 1]; k++)
			if (can_meet(p, i, k) && !p->j->player[i].lost && !p->j->player[k].lost)
				want(p, i, k, draw(p, 2));
}

/* In this slot the players of group A, one of each host, with those of B. */
static void put_block(struct plan *p, uint32_t a, uint32_t b)
{
	const struct judgement *j = p->j;

	for (uint32_t i = 0, k = 0; i < j->players; i++) {
		if (j->player[i].group != a || j->player[i].lost || !is_free(p, i))
			continue;
		while (k < j->players &&
		       (j->player[k].group != b || j->player[k].lost || !is_free(p, k) || !can_meet(p, i, k)))
			k++;
		if (k == j->players)
			return;
		put(p, p->slot & 1 ? k : i, p->slot & 1 ? i : k, "block");
	}
}

static void plan_screen(struct plan *p)
{
	const struct evidence *e = p->j->e;
	uint32_t hosts = e->hosts.count, groups = p->j->groups->names.count;
	bool few = hosts <= FEW_HOSTS;
	uint32_t times = e->names.count > hosts ? RAILS_TIMES : few ? FIGURES_LEAST : MATCHINGS;

	for (uint32_t m = 0; m < times; m++) {
		for (uint32_t i = 0; i < hosts; i++)
			p->list[i] = i;
		schedule_shuffle(&p->x, p->list, hosts, sizeof(*p->list));
		for (uint32_t i = 0; i + 1 < hosts; i += few ? 1 : 2)
			for (uint32_t k = i + 1; k < (few ? hosts : i + 2); k++)
				match_hosts(p, p->list[i], p->list[k]);
	}
	while (fill_slot(p, "screen"))
		p->slot++;
	/* each group with one other in a slot, so that all of their uplinks are full; one of four may
	 * have a bad uplink itself */
	for (uint32_t m = 0; judge_tells_groups(p->j) && !e->at_once && !e->plans && m < MATCHINGS &&
			     m + 1 < groups + groups % 2;
	     m++, p->slot++)
		for (uint32_t i = 0; i < groups; i++) {
			uint32_t with = schedule_circle(groups, m, i);

			if (with != SCHEDULE_NOBODY && i < with)
				put_block(p, i, with);
		}
}

/*
 * The references of PLAYER into p->list: those of a kind of port that tells of it, if there are
 * enough, and near to it or not.
 */
static uint32_t list_references(struct plan *p, uint32_t player, bool near)
{
	uint32_t n = 0;

	for (int same = 1; same >= 0 && n < TEST_FIRST; same--)
		for (uint32_t i = 0; i < p->references; i++) {
			uint32_t with = p->reference[i];

			if (can_meet(p, player, with) && judge_tells(p->j, player, with) == same &&
			    judge_is_near(p->j, player, with) == near)
				p->list[n++] = with;
		}
	schedule_shuffle(&p->x, p->list, n, sizeof(*p->list));
	return n;
}

/*
 * PLAYER with COUNT references: some that are near, the others not, where there are such. Runs of
 * one way are as many in each direction.
 */
static void match_references(struct plan *p, uint32_t player, uint32_t count)
{
	uint32_t ways = p->j->e->one_way && !p->j->e->latency ? 2 : 1, nearest, n;

	n = list_references(p, player, true);
	nearest = n < TEST_NEAR ? n : TEST_NEAR;
	for (uint32_t i = 0; i < nearest; i++)
		want(p, player, p->list[i], i & 1);
	n = list_references(p, player, false);
	if (!n)
		n = list_references(p, player, true);
	for (uint32_t i = 0; i + nearest < count * ways && n; i++)
		want(p, player, p->list[i / ways % n], i & 1);
}

static bool have_met(const struct judgement *j, uint32_t a, uint32_t b)
{
	for (struct walk w = walk_all(j->e, a, 1U << PART_TEST); walk_next(&w);)
		if (w.with == b)
			return true;
	return false;
}

/*
 * Match SLOW with candidates that it has not met and that may be in its place: a good one there
 * shows that the place is good.
 */
static void match_bad(struct plan *p, uint32_t slow)
{
	const struct judgement *j = p->j;
	uint32_t most = j->e->latency ? TEST_AGAIN : TEST_FIRST, n = 0;

	for (const uint32_t *c = j->candidate; c < j->candidate + j->candidates; c++)
		if (judge_may_share(j, slow, *c) && can_meet(p, *c, slow) && !have_met(j, slow, *c))
			p->list[n++] = *c;
	schedule_shuffle(&p->x, p->list, n, sizeof(*p->list));
	for (uint32_t k = 0; k < n && k < most; k++)
		want(p, slow, p->list[k], k & 1);
}

/* A control in this slot, on the rail of LIKE: two references, NEAR to each other or not, if
 * there are such. Returns false for none. */
static bool put_control(struct plan *p, uint32_t like, bool near)
{
	const struct judgement *j = p->j;
	uint32_t n = p->references, first = n ? draw(p, n) : 0, a, b;
	const char *rail = evidence_rail(j->e, like);

	for (int any = 0; any < 2; any++)
		for (uint32_t i = 0; i < n; i++) {
			a = p->reference[(first + i) % n];
			if (!is_free(p, a) || strcmp(evidence_rail(j->e, a), rail) != 0)
				continue;
			for (uint32_t k = 1; k < n; k++) {
				b = p->reference[(first + i + k) % n];
				if (!is_free(p, b) || !can_meet(p, a, b) ||
				    (!any && judge_is_near(j, a, b) != near))
					continue;
				put(p, a, b, "control");
				return true;
			}
		}
	return false;
}

/* Put each test into a slot with a control; a slot that has no two free hosts for one has the test
 * alone. */
static void fill_tests(struct plan *p)
{
	for (uint32_t n; (n = fill_slot(p, "test")); p->slot++)
		for (uint32_t i = 0; i < n; i++) {
			bool near = (p->slot + i) % (TEST_FIRST / TEST_NEAR) == 0; /* as tests */

			if (put_control(p, p->list[i], near) || i)
				continue;
			p->slot++;
			put_control(p, p->list[i], near);
		}
}

static void plan_tests(struct plan *p)
{
	const struct judgement *j = p->j;
	uint32_t left = judge_most(j);

	for (uint32_t i = 0; i < j->players; i++)
		if (!j->player[i].lost && !j->player[i].candidate)
			p->reference[p->references++] = i;
	schedule_shuffle(&p->x, p->reference, p->references, sizeof(*p->list));
	for (uint32_t i = 0; i < j->candidates && p->references && left; i++) {
		const struct player *c = &j->player[j->candidate[i]];
		bool again = (c->verdict == VERDICT_UNCLEAR || c->verdict == VERDICT_TIMES) &&
			     c->tests < TEST_FIRST + TEST_AGAIN;

		/* of who is low at times a few good runs prove nothing */
		left -= !c->tests;
		if (!c->tests || again)
			match_references(p, j->candidate[i],
					 c->tests || c->depth >= AT_TIMES ? TEST_AGAIN
									  : TEST_FIRST);
	}
	for (uint32_t i = 0; i < j->statements; i++) {
		const struct statement *s = &j->statement[i];

		for (int k = 0; k < MATCHINGS && s->code == SUSPECT_PAIR_BROKE && !s->tested; k++)
			want(p, s->a, s->b, false);
	}
	for (uint32_t i = 0; i < j->candidates; i++)
		if (j->player[j->candidate[i]].verdict == VERDICT_SLOW)
			match_bad(p, j->candidate[i]);
	schedule_shuffle(&p->x, p->match, p->matches, sizeof(*p->match));
	fill_tests(p);
}

void judge_plan(FILE *to, const struct judgement *j)
{
	uint32_t hosts = j->e->hosts.count;
	struct plan p = {.j = j, .to = to, .x = j->e->count};
	double room = hosts / TEST_SHARE;
	uint32_t screens = j->e->incast;

	for (uint32_t i = 0; i < j->e->runs.count; i++)
		screens += j->e->run[i].parts >> PART_SCREEN & 1;
	if (j->e->plans >= PLANS_MAX || hosts < 3)
		return;
	/* few pairs fill a network that carries little */
	if (j->loaded < NETWORK_TAKES && !j->e->latency)
		room *= j->loaded;
	p.room = (uint32_t)fmax(1, room);
	p.list = calloc(2 * j->players + hosts + j->groups->names.count, sizeof(*p.list));
	p.reference = p.list + j->players;
	p.busy = p.reference + j->players;
	p.busy_group = p.busy + hosts;
	if (!p.list)
		json_memory_lacked();
	else if (!screens || (screens == 1 && j->e->plans == 1 && judge_is_blind(j)))
		plan_screen(&p); /* once more where that sees little */
	else
		plan_tests(&p);
	free(p.list);
	free(p.match);
}

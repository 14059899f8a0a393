// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plans each candidate with references, and as many controls. No host is twice in a slot, and no
 * two candidates of one group are: what they share would be taken for theirs.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "proto/json_memory.h"

#define PLANS_MAX    5 /* one or two screens, and three tests */
#define AGAIN_SHARE  4 /* so much fewer pairs has the second screen at a time, and the test then */
#define PAIR_TIMES   4 /* that a pair is tested */
#define NEAR_CONTROL 3 /* one control in so many is of two near references, as their tests are */

static bool can_be_reference(const struct judgement *j, uint32_t player)
{
	return !j->lost[player] && j->candidate_of[player] == NONE;
}

/* True if PLAYER can be measured with OTHER as something that is known to be good. */
static bool can_refer(const struct plan *p, uint32_t player, uint32_t other)
{
	const struct judgement *j = p->j;

	return can_be_reference(j, other) && plan_host(p, player) != plan_host(p, other) &&
	       plan_same_rail(p, player, other);
}

/* What PLAYER reaches at best, of both ways; NaN: not known. */
static double best_of(const struct judgement *j, uint32_t player)
{
	double sum = 0;

	for (enum way way = SENDS; way < evidence_ways(j->e); way++)
		sum += (double)j->standing[way][player].best;
	return sum;
}

/* Those that are no candidates: the half whose figures are most like the others', if these are
 * enough. */
static void find_references(struct plan *p)
{
	const struct judgement *j = p->j;
	struct figures f = {.of = j->room};
	double median, apart;

	for (uint32_t i = 0; i < j->players; i++)
		if (can_be_reference(j, i) && !isnan(best_of(j, i)))
			f.of[f.n++] = best_of(j, i);
	median = figures_median(&f);
	apart = f.n > 4 * TEST_FIRST ? figures_deviation(&f, median) / 1.4826 : INFINITY;
	for (uint32_t i = 0; i < j->players; i++)
		if (can_be_reference(j, i) && !(fabs(best_of(j, i) - median) > apart))
			p->reference[p->references++] = i;
	plan_shuffle(p, p->reference, p->references);
}

/*
 * The references of PLAYER that are near to it, or the others, into p->list: those of a kind of
 * port that tells of it, if there are enough.
 */
static uint32_t list_references(struct plan *p, uint32_t player, bool near)
{
	uint32_t n = 0;

	for (int same = 1; same >= 0 && n < TEST_FIRST; same--)
		for (uint32_t i = 0; i < (near ? p->j->players : p->references); i++) {
			uint32_t with = near ? i : p->reference[i];

			if (!can_refer(p, player, with) || judge_tells(p->j, player, with) != same)
				continue;
			if (judge_is_near(p->j, player, with) == near)
				p->list[n++] = with;
		}
	plan_shuffle(p, p->list, n);
	return n;
}

/*
 * PLAYER with COUNT references: some that are near, the others not, where there are such. Runs of
 * one way are as many in each direction.
 */
static void match_references(struct plan *p, uint32_t player, uint32_t count)
{
	uint32_t near = list_references(p, player, true), n, ways = 1;

	near = near < TEST_NEAR ? near : TEST_NEAR;
	if (p->j->e->one_way && !p->j->e->latency)
		ways = 2;
	for (uint32_t i = 0; i < near * ways; i++)
		plan_add(p, player, p->list[i / ways], p->j->e->one_way && i & 1);
	n = list_references(p, player, false);
	if (!n)
		n = list_references(p, player, true);
	for (uint32_t i = 0; i + near * ways < count * ways && n; i++)
		plan_add(p, player, p->list[i / ways % n], p->j->e->one_way && i & 1);
}

static bool have_met(const struct judgement *j, uint32_t a, uint32_t b)
{
	for (struct walk w = walk_all(j->e, a, 1U << PART_TEST); walk_next(&w);)
		if (w.with == b)
			return true;
	return false;
}

/*
 * Candidates with whom SLOW may share a place and that it has not met, into p->list: first those
 * that share one.
 */
static uint32_t list_candidates(struct plan *p, const struct candidate *slow)
{
	const struct judgement *j = p->j;
	uint32_t n = 0, placed = 0, player = slow->player;

	for (int place = 1; place >= 0; place--) {
		for (uint32_t i = 0; i < j->candidates; i++) {
			const struct candidate *c = &j->candidate[i];

			if ((c->verdict == VERDICT_PLACE) == place && judge_may_share(j, slow, c) &&
			    plan_host(p, c->player) != plan_host(p, player) &&
			    plan_same_rail(p, c->player, player) && !have_met(j, player, c->player))
				p->list[n++] = c->player;
		}
		plan_shuffle(p, p->list + placed, n - placed);
		placed = n;
	}
	return n;
}

/* Those that are slow with each other: who is good there shares a place. */
static void match_bad(struct plan *p)
{
	const struct judgement *j = p->j;
	uint32_t most = j->e->latency ? TEST_AGAIN : TEST_FIRST;

	for (uint32_t i = 0; i < j->candidates; i++) {
		const struct candidate *c = &j->candidate[i];
		uint32_t n = c->verdict == VERDICT_SLOW ? list_candidates(p, c) : 0;

		for (uint32_t k = 0; k < n && k < most; k++)
			plan_add(p, c->player, p->list[k], p->j->e->one_way && k & 1);
	}
}

/* Two references that are free in this slot, near to each other or not. Returns false for none. */
static bool put_control(struct plan *p, uint32_t like, bool near, bool any)
{
	uint32_t tries = p->references, first = tries ? plan_draw(p, tries) : 0;

	for (uint32_t i = 0; i < tries; i++) {
		uint32_t a = p->reference[(first + i) % tries];

		if (!plan_is_free(p, a) || !plan_same_rail(p, like, a))
			continue;
		for (uint32_t k = 0; k < (near ? p->j->players : tries); k++) {
			uint32_t b = near ? k : p->reference[(first + i + 1 + k) % tries];

			if (plan_is_free(p, b) && can_refer(p, a, b) &&
			    (any || judge_is_near(p->j, a, b) == near)) {
				plan_put(p, a, b, "control", plan_turns(p, a + b));
				return true;
			}
		}
	}
	return false;
}

/* Beside a test of LIKE; where no two hosts are left for that, in a slot of their own. */
static void control(struct plan *p, uint32_t like, uint32_t number)
{
	bool near = (p->slot + number) % NEAR_CONTROL == 0;

	if (put_control(p, like, near, false) || put_control(p, like, near, true) || number)
		return;
	p->slot++;
	put_control(p, like, near, true);
}

/* Put those tests into this slot that fit. Returns how many; PLAYERS has the first of each. */
static uint32_t fill_slot(struct plan *p, uint32_t *players)
{
	const struct judgement *j = p->j;
	bool paired = false; /* two slow pairs may share a link */
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->matches && n < p->room; i++) {
		struct match *m = &p->match[i];
		bool pair = j->candidate_of[m->from] == NONE;
		uint32_t group = pair ? NONE : j->group[m->from];
		bool alone = group != NONE && j->candidate_of[m->to] == NONE;

		if (m->done || !plan_is_free(p, m->from) || !plan_is_free(p, m->to) ||
		    (alone && p->busy_group[group] == p->slot + 1) || (pair && paired))
			continue;
		paired |= pair;
		if (group != NONE)
			p->busy_group[group] = p->slot + 1;
		m->done = true;
		plan_put(p, m->from, m->to, "test", m->back);
		players[n++] = m->from;
	}
	return n;
}

static void plan_tests(struct plan *p)
{
	const struct judgement *j = p->j;
	uint32_t left = judge_most(j);

	find_references(p);
	for (uint32_t i = 0; i < j->candidates && p->references && left; i++) {
		const struct candidate *c = &j->candidate[i];
		bool again = (c->verdict == VERDICT_UNCLEAR || c->verdict == VERDICT_TIMES) &&
			     c->tests < TEST_FIRST + TEST_AGAIN;

		/* of who is low at times a few good runs prove nothing */
		left -= !c->tests;
		if (!c->tests || again)
			match_references(p, c->player,
					 c->tests || c->depth >= AT_TIMES ? TEST_AGAIN
									  : TEST_FIRST);
	}
	for (uint32_t i = 0; i < j->pairs; i++)
		for (int k = 0; k < PAIR_TIMES && !j->pair[i].tests; k++)
			plan_add(p, j->pair[i].from, j->pair[i].to, false);
	match_bad(p);
	for (uint32_t i = p->matches; i > 1; i--) {
		uint32_t k = plan_draw(p, i);
		struct match was = p->match[i - 1];

		p->match[i - 1] = p->match[k];
		p->match[k] = was;
	}
	for (uint32_t n; (n = fill_slot(p, p->list)); p->slot++)
		for (uint32_t i = 0; i < n; i++)
			control(p, p->list[i], i);
}

/* How many runs are screens of few pairs at a time. */
static uint32_t count_screens(const struct evidence *e)
{
	bool screen[EVIDENCE_RUNS] = {false};
	uint32_t screens = 0;

	for (uint32_t i = 0; i < e->count; i++)
		screen[e->of[i].run] |= e->of[i].part == PART_SCREEN;
	for (uint32_t run = 0; run < e->runs.count; run++)
		screens += screen[run];
	return screens;
}

void judge_plan(FILE *to, const struct judgement *j)
{
	struct plan p = {.j = j,
			 .to = to,
			 .x = j->e->count,
			 .room = (uint32_t)fmax(1, j->e->hosts.count / TEST_SHARE)};
	uint32_t screens = count_screens(j->e);
	/* once more where few pairs at a time were too many for the network */
	bool again = screens == 1 && j->e->plans == 1 && judge_is_blind(j);
	bool tests = screens && !again;

	if (j->e->plans >= PLANS_MAX || j->e->hosts.count < 3)
		return;
	/* few pairs fill a network that carries little */
	if (j->loaded < NETWORK_TAKES && !j->e->latency)
		p.room = (uint32_t)fmax(1, p.room * fmax(j->loaded, tests ? 0 : 1. / AGAIN_SHARE));
	if (again || screens > 1)
		p.room = (p.room + AGAIN_SHARE - 1) / AGAIN_SHARE;
	p.list = calloc(j->players + 1, sizeof(*p.list));
	p.reference = calloc(j->players + 1, sizeof(*p.reference));
	p.busy = calloc(j->e->hosts.count + 1, sizeof(*p.busy));
	p.busy_group = calloc(j->groups->names.count + 1, sizeof(*p.busy_group));
	if (!p.list || !p.reference || !p.busy || !p.busy_group)
		json_memory_lacked();
	else if (again || (!screens && !j->e->incast))
		plan_screen(&p);
	else
		plan_tests(&p);
	free(p.list);
	free(p.reference);
	free(p.busy);
	free(p.busy_group);
	free(p.match);
}

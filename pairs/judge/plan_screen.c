// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a plan is made of: pairs that are wanted, and slots in which their hosts are free. And the
 * screen: few pairs at a time; and whole groups with each other. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "proto/json_memory.h"

#define MATCHINGS 4 /* of the screen; of rails, each, 2: they are more players of as many hosts */
#define FEW_HOSTS 8 /* of so few the screen has all pairs, three times */
#define BLOCKS    4 /* slots of whole groups: one partner of four may have a bad uplink itself */

uint32_t plan_draw(struct plan *p, uint32_t n)
{
	uint64_t z = p->x += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z >> 33) % n;
}

void plan_shuffle(struct plan *p, uint32_t *list, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = plan_draw(p, i), was = list[i - 1];

		list[i - 1] = list[k];
		list[k] = was;
	}
}

void plan_add(struct plan *p, uint32_t from, uint32_t to, bool back)
{
	if (p->matches == p->size) {
		uint32_t size = 2 * p->size + 64;
		struct match *more = realloc(p->match, size * sizeof(*more));

		if (!more) {
			json_memory_lacked();
			return;
		}
		p->match = more;
		p->size = size;
	}
	p->match[p->matches++] = (struct match){from, to, back, false};
}

bool plan_is_free(const struct plan *p, uint32_t player)
{
	return p->busy[plan_host(p, player)] != p->slot + 1;
}

void plan_put(struct plan *p, uint32_t from, uint32_t to, const char *part, bool back)
{
	fprintf(p->to, "%u %s %s %s\n", p->slot, evidence_name(p->j->e, back ? to : from),
		evidence_name(p->j->e, back ? from : to), part);
	p->busy[plan_host(p, from)] = p->busy[plan_host(p, to)] = p->slot + 1;
}

bool plan_same_rail(const struct plan *p, uint32_t a, uint32_t b)
{
	return strcmp(strchrnul(evidence_name(p->j->e, a), '/'),
		      strchrnul(evidence_name(p->j->e, b), '/')) == 0;
}

/* The pairs of two hosts: a rail with the same rail. ONLY: of which number; NONE: all. */
static void match_hosts(struct plan *p, uint32_t a, uint32_t b, uint32_t only)
{
	const struct evidence *e = p->j->e;

	for (uint32_t i = e->first[a]; i < e->first[a + 1]; i++)
		for (uint32_t k = e->first[b]; k < e->first[b + 1]; k++)
			if (plan_same_rail(p, i, k) && !p->j->lost[i] && !p->j->lost[k] &&
			    (only == NONE || only == i - e->first[a]))
				plan_add(p, i, k, false);
}

/* Who meets in ROUND, as pair number I, of N by the circle method: A and B. Returns false for none.
 */
static bool circle(uint32_t n, uint32_t round, uint32_t i, uint32_t *a, uint32_t *b)
{
	uint32_t even = n + n % 2;

	*a = i ? (round + i) % (even - 1) : even - 1;
	*b = (round + even - 1 - i) % (even - 1);
	return *a < n && *b < n && *a != *b;
}

/* All pairs of HOSTS hosts. */
static void match_all(struct plan *p, uint32_t hosts)
{
	uint32_t even = hosts + hosts % 2, a, b;

	for (uint32_t round = 0; round + 1 < even; round++)
		for (uint32_t i = 0; i < even / 2; i++)
			if (circle(hosts, round, i, &a, &b))
				match_hosts(p, a, b, NONE);
}

/* In this slot the players of group A, one of each host, with those of B. */
static void put_block(struct plan *p, uint32_t a, uint32_t b)
{
	const struct judgement *j = p->j;
	uint32_t k = 0;

	for (uint32_t i = 0; i < j->players; i++) {
		if (j->group[i] != a || j->lost[i] || !plan_is_free(p, i))
			continue;
		while (k < j->players && (j->group[k] != b || j->lost[k] || !plan_is_free(p, k) ||
					  !plan_same_rail(p, i, k)))
			k++;
		if (k == j->players)
			return;
		plan_put(p, i, k, "block", plan_turns(p, 0));
	}
}

/* Groups with each other, each with one other in a slot, so that all of their uplinks are full. */
static void plan_blocks(struct plan *p)
{
	uint32_t groups = p->j->groups->names.count, even = groups + groups % 2, a, b;

	for (uint32_t round = 0; round < BLOCKS && round + 1 < even; round++) {
		p->slot++;
		for (uint32_t i = 0; i < even / 2; i++)
			if (circle(groups, round, i, &a, &b))
				put_block(p, a, b);
	}
}

void plan_screen(struct plan *p)
{
	const struct evidence *e = p->j->e;
	uint32_t hosts = e->hosts.count, rails = (e->names.count + hosts - 1) / hosts;

	for (uint32_t i = 0; i < hosts; i++)
		p->list[i] = i;
	for (uint32_t times = rails > 1 ? 2 : 3; times && hosts <= FEW_HOSTS; times--)
		match_all(p, hosts);
	for (uint32_t m = 0; m < (rails > 1 ? 2 * rails : MATCHINGS) && hosts > FEW_HOSTS; m++) {
		plan_shuffle(p, p->list, hosts);
		for (uint32_t i = 0; i + 1 < hosts; i += 2)
			match_hosts(p, p->list[i], p->list[i + 1], rails > 1 ? m % rails : NONE);
	}
	for (uint32_t i = 0, in_slot = 0; i < p->matches; i++) {
		if (in_slot == p->room || !plan_is_free(p, p->match[i].from) ||
		    !plan_is_free(p, p->match[i].to)) {
			p->slot++;
			in_slot = 0;
		}
		plan_put(p, p->match[i].from, p->match[i].to, "screen",
			 plan_turns(p, p->match[i].from + p->match[i].to));
		in_slot++;
	}
	if (judge_tells_groups(p->j) && !e->at_once && !e->plans)
		plan_blocks(p);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan: what to measure next, for `rdmark-pairs run --plan`: lines "SLOT FROM TO PART". Nothing if
 * all is decided, or no measurement would decide it.
 */
#pragma once

#include "judgement.h"

struct match {
	uint32_t from, to;
	bool back; /* TO is the client */
	bool done;
};

struct plan {
	const struct judgement *j;
	FILE *to;
	uint64_t x; /* the state of the numbers that are drawn */
	uint32_t slot, room;
	struct match *match; /* owned, as all lists are */
	uint32_t matches, size, references;
	uint32_t *list;              /* room for as many as there are players */
	uint32_t *reference;         /* players that are no candidates */
	uint32_t *busy, *busy_group; /* of hosts and groups: the last slot that has them, plus 1 */
};

/* The plan of what would decide more. */
void judge_plan(FILE *to, const struct judgement *j);

/* Put all pairs of a screen into slots. (plan_screen.c) */
void plan_screen(struct plan *p);

/* What plans are made of. (plan_screen.c) A number below N, by chance. */
uint32_t plan_draw(struct plan *p, uint32_t n);

/* Add the pair of FROM and TO, for any slot. If there is no memory, json_memory tells. */
void plan_add(struct plan *p, uint32_t from, uint32_t to, bool back);

/* Put FROM and TO, whose hosts are free, into this slot. BACK: TO is the client. */
void plan_put(struct plan *p, uint32_t from, uint32_t to, const char *part, bool back);

/* Whether a run of one way goes back this time: in every other slot, and of every other pair
 * NUMBER. */
static inline bool plan_turns(const struct plan *p, uint32_t number)
{
	return p->j->e->one_way && (p->slot + number) & 1;
}

static inline uint32_t plan_host(const struct plan *p, uint32_t player)
{
	return p->j->e->player[player].host;
}

/* True if PLAYER's host has nothing to do in this slot. */
bool plan_is_free(const struct plan *p, uint32_t player);

/* True if A and B are the same rail of their hosts, or have none. */
bool plan_same_rail(const struct plan *p, uint32_t a, uint32_t b);

/* Bring the N numbers of LIST into an order by chance. */
void plan_shuffle(struct plan *p, uint32_t *list, uint32_t n);

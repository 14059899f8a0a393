// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Players that are slow with others and fast among themselves are no slow players: they share a
 * rack, whose way out is slow. Where that is seen the distance counts, not the players.
 */
#include <math.h>

#include "fit.h"
#include "limits.h"

/* True if most of its figures are low: what a player is that is slow because of a rack. */
static bool is_low(const struct fit *f, uint32_t i)
{
	const struct fit_player *p = &f->of[i];

	return p->way[FIT_SENDS].slow || p->way[FIT_RECEIVES].slow ||
	       (p->way[FIT_WORSE].slow && 2 * p->way[FIT_WORSE].low > p->way[FIT_WORSE].figures);
}

/* What player I reaches: the lowest of what is known. */
static double level_of(const struct fit *f, uint32_t i)
{
	double level = 0;

	for (enum fit_way way = 0; way < FIT_WAYS; way++)
		if (f->of[i].way[way].slow)
			level = fmin(level, (double)f->of[i].way[way].effect);
	return level;
}

/* What player I reaches in the slot T, as a part of normal. */
static double part_of(const struct fit *f, uint32_t i, const struct meeting *t)
{
	return (double)fminf(t->sends, t->receives) - fit_normal(f, i, t->with);
}

/* True if player I, which is slow, is fast with LOW, the other slow ones, and not with others. */
static bool is_of_rack(const struct fit *f, uint32_t i, const bool *low)
{
	uint32_t all[2] = {0}, fast[2] = {0}; /* figures with good ones, and with slow ones */

	for (const struct meeting *t = meetings_of(&f->slots, i); t < meetings_end(&f->slots, i);
	     t++) {
		double limit = fmin(level_of(f, i), low[t->with] ? level_of(f, t->with) : 0) / 2;
		double part = part_of(f, i, t);

		if (f->lost[t->with] || f->rack[t->with] != f->rack[i] || isnan(part))
			continue;
		all[low[t->with]]++;
		fast[low[t->with]] += part > limit;
	}
	return fast[1] && fast[1] >= RACK_FAST_WITHIN * all[1] && fast[0] <= RACK_FAST_OUT * all[0];
}

/* Find rack NUMBER. Returns false if there is none. */
static bool find_rack(struct fit *f, uint32_t number)
{
	bool *low = f->mark[0], *member = f->mark[1];
	uint32_t members = 0, players = f->m->players;

	for (uint32_t i = 0; i < players; i++)
		low[i] = is_low(f, i);
	for (uint32_t i = 0; i < players; i++) {
		member[i] = low[i] && !f->rack[i] && is_of_rack(f, i, low);
		members += member[i];
	}
	for (uint32_t i = 0; i < players && members > 1; i++)
		f->rack[i] = member[i] ? number : f->rack[i];
	return members > 1;
}

/* True if player I is slow with a player of a rack, too, more than the distance makes it. */
static bool slow_with_rack(const struct fit *f, uint32_t i)
{
	const struct meeting *t = meetings_of(&f->slots, i), *end = meetings_end(&f->slots, i);

	while (t < end && !(f->rack[t->with] && part_of(f, i, t) < level_of(f, i) / 2))
		t++;
	return t < end;
}

/* Slow players that may be in a rack: they reach what it does, and are not slow with it. */
static void find_doubtful(struct fit *f)
{
	for (uint32_t i = 0; i < f->m->players; i++)
		f->of[i].doubtful =
			f->racks && is_low(f, i) && !f->rack[i] &&
			fabs(level_of(f, i) - f->distance[FIT_RACKS]) < RACK_SAME_LEVEL &&
			!slow_with_rack(f, i);
}

void racks_find(struct fit *f)
{
	while (f->racks < RACK_ROUNDS && find_rack(f, f->racks + 1)) {
		f->racks++;
		fit_again(f);
	}
	find_doubtful(f);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Players that are slow with others and fast among themselves are no slow players: they share a
 * rack, whose way out is slow. Where that is seen the distance counts, not the players.
 */
#include <math.h>
#include <stdlib.h>

#include "fit.h"
#include "limits.h"

/* The pairs of a slow player: how many there are, and how many are fast. */
struct tally {
	uint32_t within, fast_within, out, fast_out;
};

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

static struct tally tally_of(const struct fit *f, uint32_t i, const bool *low)
{
	struct tally of = {0};

	for (const struct meeting *t = meetings_of(&f->slots, i); t < meetings_end(&f->slots, i);
	     t++) {
		double limit = fmin(level_of(f, i), low[t->with] ? level_of(f, t->with) : 0) / 2;
		double part = part_of(f, i, t);

		if (f->lost[t->with] || f->rack[t->with] != f->rack[i] || isnan(part))
			continue;
		if (low[t->with]) {
			of.within++;
			of.fast_within += part > limit;
		} else {
			of.out++;
			of.fast_out += part > limit;
		}
	}
	return of;
}

static bool is_of_rack(const struct tally *t)
{
	return t->fast_within && t->fast_within >= RACK_FAST_WITHIN * t->within &&
	       t->fast_out <= RACK_FAST_OUT * t->out;
}

/* Find one rack. Returns how many players it has. */
static uint32_t find_rack(struct fit *f, bool *low, bool *member, uint32_t number)
{
	uint32_t members = 0, players = f->m->players;

	for (uint32_t i = 0; i < players; i++)
		low[i] = is_low(f, i);
	for (uint32_t i = 0; i < players; i++) {
		struct tally t = {0};

		if (low[i] && !f->rack[i])
			t = tally_of(f, i, low);
		member[i] = is_of_rack(&t);
		members += member[i];
	}
	for (uint32_t i = 0; i < players && members > 1; i++)
		f->rack[i] = member[i] ? number : f->rack[i];
	return members > 1 ? members : 0;
}

/* True if player I is slow with a player of a rack, too, more than the distance makes it. */
static bool slow_with_rack(const struct fit *f, uint32_t i)
{
	const struct meeting *t = meetings_of(&f->slots, i), *end = meetings_end(&f->slots, i);

	while (t < end && !(f->rack[t->with] && part_of(f, i, t) < level_of(f, i) / 2))
		t++;
	return t < end;
}

/* The part of good figures that are near LEVEL. */
static double share_near(const struct chances *p, double level)
{
	return chances_share(p, level + RACK_NEAR_LEVEL, 0, 0) -
	       chances_share(p, level - RACK_NEAR_LEVEL, 0, 0);
}

/* True if many figures of good players are at LEVEL, and fewer between it and what is normal. */
static bool is_usual(const struct fit *f, double level)
{
	const struct chances *p = fit_main_pool(f, FIT_FIGURES);
	double at = share_near(p, level);

	return level < -3 * RACK_NEAR_LEVEL && at >= RACK_USUAL &&
	       at > 2 * share_near(p, level / 2);
}

/* True if most slow players, of other hosts, reach what player I does, and it met none of them. */
static bool are_alike(const struct fit *f, uint32_t i)
{
	const struct meeting *t = meetings_of(&f->slots, i), *end = meetings_end(&f->slots, i);
	double level = level_of(f, i);
	uint32_t alike = 0, others = 0, last = f->m->host[i];

	for (uint32_t k = 0; k < f->m->players; k++) {
		if (!is_low(f, k) || f->m->host[k] == last || f->m->host[k] == f->m->host[i])
			continue;
		last = f->m->host[k];
		others++;
		alike += fabs(level_of(f, k) - level) < RACK_ALIKE;
	}
	if (alike < RACK_ALIKE_MANY || alike < RACK_ALIKE_PART * others)
		return false;
	while (t < end && (!is_low(f, t->with) || isnan(part_of(f, i, t))))
		t++;
	return t == end;
}

/*
 * Slow players that may be in a rack: they reach what its players do, and are not slow with these,
 * or what many good figures are, or what several others are that they never met.
 */
static void find_doubtful(struct fit *f)
{
	for (uint32_t i = 0; i < f->m->players; i++) {
		double level;

		f->of[i].doubtful = false;
		if (!is_low(f, i) || f->rack[i])
			continue;
		level = level_of(f, i);
		f->of[i].doubtful =
			(f->racks && fabs(level - f->distance[FIT_RACKS]) < RACK_SAME_LEVEL &&
			 !slow_with_rack(f, i)) ||
			is_usual(f, level) || are_alike(f, i);
	}
}

int racks_find(struct fit *f)
{
	bool *low = malloc(2 * ((size_t)f->m->players + 1));
	int failed = low ? 0 : -1;

	for (uint32_t number = 1; number <= RACK_ROUNDS && !failed; number++) {
		if (!find_rack(f, low, low + f->m->players, number))
			break;
		f->racks = number;
		fit_again(f);
	}
	if (!failed)
		find_doubtful(f);
	free(low);
	return failed;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whose clock is wrong, as pairs tell that compare two. */
#include "clocks.h"
#include "limits.h"

#include <math.h>
#include <stdlib.h>

static double limit_s(const struct body *b)
{
	return fmax(b->slot_s > 0 ? b->slot_s / 4 : CLOCK_OTHER_S, CLOCK_LEAST_S);
}

/* SELF's clock less its partner's, as the last try of cell C says that compared them; or NaN. */
static float last_of(const struct judgement *j, const struct matrix_cell *c, enum matrix_way way)
{
	for (uint32_t i = c->first + c->tries; i-- > c->first;) {
		const struct body_try *try = &j->body->tries[i];
		bool is_client = try->client_is_from == (way == MATRIX_SEND);

		if (!try->mirrored && !isnan(try->clock_s))
			return is_client ? -try->clock_s : try->clock_s;
	}
	return NAN;
}

/* Compare the clock of PLAYER with that of each host. DIFFERENCE, of each host: NaN, before and
 * after. */
static void compare(const struct judgement *j, uint32_t player, float *difference, float *some,
		    struct clock_of *c)
{
	double limit = limit_s(j->body);
	uint32_t off = 0;

	*c = (struct clock_of){.last = player};
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t k = 0; k < matrix_count(&j->m, way, player); k++) {
			uint32_t cell = matrix_at(&j->m, way, player, k);
			uint32_t partner = matrix_partner(&j->m, way, cell);
			float *d = &difference[j->m.host[partner]];
			float is = last_of(j, &j->m.cell[cell], way);

			/* Two runs with a host count once, and the one that is off more. */
			if (isnan(is) || fabsf(is) <= fabsf(*d))
				continue;
			c->hosts += isnan(*d);
			c->off += fabs((double)is) > limit && !(fabs((double)*d) > limit);
			c->last = partner;
			*d = is;
		}
	for (enum matrix_way way = 0; way < MATRIX_WAYS; way++)
		for (uint32_t k = 0; k < matrix_count(&j->m, way, player); k++) {
			uint32_t cell = matrix_at(&j->m, way, player, k);
			float *d = &difference[j->m.host[matrix_partner(&j->m, way, cell)]];

			if (fabs((double)*d) > limit)
				some[off++] = *d;
			*d = NAN;
		}
	c->off_s = matrix_median(some, off);
}

int clocks_compare(const struct judgement *j, struct clock_of *of)
{
	size_t hosts = (size_t)j->body->hosts.count + 1;
	float *difference = malloc(2 * hosts * sizeof(*difference));

	for (uint32_t i = 0; i < j->body->hosts.count && difference; i++)
		difference[i] = NAN;
	for (uint32_t i = 0; i < j->m.players && difference; i++)
		compare(j, i, difference, difference + hosts, &of[i]);
	free(difference);
	return difference ? 0 : -1;
}

/* True if most of the hosts that C was compared with are off. */
static bool is_off(const struct clock_of *c)
{
	return 2 * c->off > c->hosts;
}

bool clocks_wrong(const struct clock_of *of, uint32_t player)
{
	const struct clock_of *c = &of[player], *partner = &of[c->last];

	if (!is_off(c))
		return false;
	return c->hosts > 1 || (partner->hosts > 1 && !is_off(partner));
}

bool clocks_apart(const struct clock_of *of, uint32_t player)
{
	const struct clock_of *c = &of[player];

	return c->off == 1 && c->hosts == 1 && of[c->last].hosts == 1;
}

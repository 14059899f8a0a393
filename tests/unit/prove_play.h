/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prove_play: plays --prove's turns on made-up adapters, as session/prove.c does on real ones. */
#ifndef RDMARK_TESTS_UNIT_PROVE_PLAY_H
#define RDMARK_TESTS_UNIT_PROVE_PLAY_H

#include <math.h>
#include <stdint.h>

#include "plan/prove.h"
#include "tests/unit/draw.h"

#define WINDOWS 45 /* that 10 s have room for */

static inline double uniform(uint64_t *state)
{
	return ((double)(draw(state) >> 11) + 0.5) / 0x1p53;
}

static inline double normal(uint64_t *state)
{
	double r = sqrt(-2 * log(uniform(state)));

	return r * cos(2 * M_PI * uniform(state));
}

/* Play P, whose facts are set; GBPS_OF is what GROUND makes of E in the next window. */
static inline enum finding_code play_prove(
	struct prove *p, double (*gbps_of)(void *ground, const struct experiment *e), void *ground,
	unsigned windows, enum finding_strength *strength)
{
	enum prove_change order[3 * PROVE_CHANGES];
	double gbps[3 * PROVE_CHANGES];
	unsigned count, left = windows;

	prove_plan(p);
	for (int stage = 0; stage < 2 && left; stage++) {
		while ((count = prove_turn(p, order)) && left) {
			unsigned i;

			for (i = 0; i < count && left; i++, left--)
				gbps[i] = gbps_of(ground, &p->try[order[i]].experiment);
			prove_add(p, order, gbps, i);
		}
		if (stage == 0 && !prove_plan_together(p))
			break;
	}
	return prove_limit(p, strength);
}

#endif

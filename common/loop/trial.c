// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/trial.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void trial_start(struct trial *t, const struct clock *c)
{
	memset(t, 0, sizeof(*t));
	t->clock_ticks = UINT32_MAX;
	for (unsigned i = 0; i < TRIAL_SAMPLES; i++) {
		uint64_t before = clock_ticks(c), ticks = clock_ticks(c) - before;

		if (ticks < t->clock_ticks)
			t->clock_ticks = (uint32_t)ticks;
	}
}

/* WAY's sample that is larger than QUARTERS of four; at least one tick; 0: there are too few. */
static uint32_t quartile(const struct trial *t, unsigned way, unsigned quarters)
{
	uint32_t ticks;

	if (t->count[way] < TRIAL_ENOUGH)
		return 0;
	ticks = t->sample[way][t->count[way] * quarters / 4];
	return ticks ? ticks : 1;
}

bool trial_decide(struct trial *t, uint32_t median[2])
{
	uint32_t most;

	for (unsigned way = 0; way < 2; way++) {
		qsort(t->sample[way], t->count[way], sizeof(t->sample[way][0]), compare);
		median[way] = quartile(t, way, 2);
	}
	if (!median[0] || !median[1])
		return false;
	most = quartile(t, 1, 3);
	return median[1] + median[1] / 16 < median[0] && most < median[0];
}

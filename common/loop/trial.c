// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/trial.h"

#include <stdlib.h>
#include <string.h>

static int compare_samples(const void *a, const void *b)
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

/* The QUARTERS'th quartile of KIND's sorted samples, at least 1 tick; 0: too few samples. */
static uint32_t sample_quartile(const struct trial *t, unsigned kind, unsigned quarters)
{
	uint32_t ticks;

	if (t->count[kind] < TRIAL_ENOUGH)
		return 0;
	ticks = t->sample[kind][t->count[kind] * quarters / 4];
	return ticks ? ticks : 1;
}

bool trial_decide(struct trial *t, uint32_t median[2])
{
	uint32_t most;

	for (unsigned kind = 0; kind < 2; kind++) {
		qsort(t->sample[kind], t->count[kind], sizeof(t->sample[kind][0]), compare_samples);
		median[kind] = sample_quartile(t, kind, 2);
	}
	if (!median[0] || !median[1])
		return false;
	most = sample_quartile(t, 1, 3);
	return median[1] + median[1] / 16 < median[0] && most < median[0];
}

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

/* The median of WAY's samples, at least one tick; 0: there are too few. */
static uint32_t median_of(struct trial *t, unsigned way)
{
	uint32_t *sample = t->sample[way], middle;

	if (t->count[way] < TRIAL_ENOUGH)
		return 0;
	qsort(sample, t->count[way], sizeof(*sample), compare);
	middle = sample[t->count[way] / 2];
	return middle ? middle : 1;
}

bool trial_decide(struct trial *t, uint32_t median[2])
{
	median[0] = median_of(t, 0);
	median[1] = median_of(t, 1);
	return median[0] && median[1] && median[1] + median[1] / 16 < median[0];
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trial: which of two ways to do the same is quicker here. A loop takes them in turns and notes
 * what each time cost; the quartiles decide, so that an interrupt in a few of them does not.
 *
 * It belongs to a warm-up: the loop reads the clock twice for each sample. Not thread-safe.
 */
#ifndef RDMARK_LOOP_TRIAL_H
#define RDMARK_LOOP_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define TRIAL_SAMPLES 64 /* of each way; what comes after them is not looked at */
#define TRIAL_ENOUGH  8  /* with fewer there is no decision */

struct trial {
	uint32_t clock_ticks; /* what the clock's own reading takes, at least */
	unsigned turn;
	unsigned count[2];
	uint32_t sample[2][TRIAL_SAMPLES]; /* ticks of one */
};

/* Begin: find out what reading C takes. */
void trial_start(struct trial *t, const struct clock *c);

/* Whose turn it is: 0 or 1. */
static inline unsigned trial_turn(struct trial *t)
{
	return t->turn++ & 1;
}

/* WAY took TICKS, a reading of the clock among them, for N (at least 1) of what it does. */
static inline void trial_add(struct trial *t, unsigned way, uint64_t ticks, unsigned n)
{
	uint64_t each = ticks > t->clock_ticks ? (ticks - t->clock_ticks) / n : 0;

	if (t->count[way] < TRIAL_SAMPLES)
		t->sample[way][t->count[way]++] = each < UINT32_MAX ? (uint32_t)each : UINT32_MAX;
}

/*
 * Is way 1 clearly the quicker one: its median by a sixteenth, and three quarters of its samples
 * below the other's median, so that noise decides nothing? Not if there were too few samples. The
 * medians, in ticks and at least 1, are left in MEDIAN (0: too few). Sorts the samples.
 */
bool trial_decide(struct trial *t, uint32_t median[2]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trial: which of two kinds of calls is faster here. A loop alternates between both and records
 * what each costs. The quartiles decide, so a few interrupts do not matter.
 *
 * It is part of a warm-up: the loop reads the clock twice for each sample. Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define TRIAL_SAMPLES 64 /* of each kind; further ones are ignored */
#define TRIAL_ENOUGH  8  /* fewer give no decision */

struct trial {
	uint32_t clock_ticks; /* minimum cost of reading the clock */
	unsigned turn;
	unsigned count[2];
	uint32_t sample[2][TRIAL_SAMPLES]; /* ticks per call */
};

/* Start a trial, and measure the cost of reading C. */
void trial_start(struct trial *t, const struct clock *c);

/* The kind to use next: 0 or 1. */
static inline unsigned trial_turn(struct trial *t)
{
	return t->turn++ & 1;
}

/*
 * Add a sample: N (at least 1) operations of KIND took TICKS, including one reading of the clock.
 */
static inline void trial_add(struct trial *t, unsigned kind, uint64_t ticks, unsigned n)
{
	uint64_t each = ticks > t->clock_ticks ? (ticks - t->clock_ticks) / n : 0;

	if (t->count[kind] < TRIAL_SAMPLES)
		t->sample[kind][t->count[kind]++] = each < UINT32_MAX ? (uint32_t)each : UINT32_MAX;
}

/*
 * True if kind 1 is clearly faster: its median is lower by a sixteenth, and three quarters of its
 * samples are below the other median, so that noise does not decide. False with too few samples.
 * MEDIAN receives both medians, in ticks and at least 1 (0: too few samples). Sorts the samples.
 */
bool trial_decide(struct trial *t, uint32_t median[2]);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * idle: how long a loop that polls CQs had nothing to do. Only empty polls are looked at, so a poll
 * that finds something costs nothing more.
 *
 * A pause lasts while nothing is done and every CQ is found empty. The clock is read after its
 * first empty poll and after a few later ones: the others took as long as those. The first empty
 * poll of a pause, whose start is unknown, took as long as the shortest one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct idle_time {
	unsigned cqs;   /* polled in turn; 0: not measured */
	uint64_t empty; /* empty polls since the loop last did anything */
	uint64_t timed; /* of those since all CQs are empty: up to the last clock reading */
	uint64_t first_ticks, last_ticks; /* the first and the last clock reading */
	uint64_t step_ticks, step_polls;  /* from the one before to the last one */
	uint64_t ticks, pauses;           /* before this pause */
	uint64_t least_ticks;             /* the shortest empty poll; UINT64_MAX: unknown */
};

/* Begin: the loop polls CQS completion queues in turn. */
void idle_start(struct idle_time *i, unsigned cqs);

/*
 * A poll was empty; FRESH: the loop has done something since the last empty one. Returns whether to
 * read the clock and call idle_timed(); a loop that has read the clock anyway can always call it.
 */
bool idle_empty(struct idle_time *i, bool fresh);
void idle_timed(struct idle_time *i, uint64_t ticks);

/* The run ended before the current pause: forget the pause. */
void idle_end(struct idle_time *i);

/* The idle share of RUN_TICKS; NaN: not measured. */
double idle_share(const struct idle_time *i, uint64_t run_ticks);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * meter: what a worker's loop writes. They are an array:
 * functions for all workers of this end take the first.
 */
#pragma once

#include "base/peak.h"
#include "base/turns.h"
#include "loop/paced.h"
#include "loop/round.h"
#include "measure/measure.h"

struct meter {
	struct endpoint *ep;
	struct worker *worker;
	struct hist *hist; /* latency, at the end that measures it */
	uint64_t *samples; /* with -U or -H */
	struct peak peak;
	/* for the current round: */
	struct round round, arrivals; /* arrivals: the receiving half of a bidirectional round */
	struct paced paced;           /* with --rate_limit, and a load's */
	uint64_t lost;                /* of the messages that the peer sent */
	struct account account;       /* of its thread, around the loop */
	struct turns turns;           /* while it spins */
};

/* The calling thread, T's, begins to spin: turns_begin(). */
int meter_turns(struct meter *t);

/*
 * Set SPAN, in ticks, from the first start to the last end of every STEP-th worker from the FIRST
 * on. Returns false if nothing was timed.
 */
bool meter_span(const struct meter *all, unsigned first, unsigned step, uint64_t span[2]);

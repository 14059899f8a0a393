/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * paced: a stream by a schedule. Burst j of a strand is due at its start + j bursts / rate,
 * whatever became of those before: an open loop. It is posted when it is due, never before, QP
 * after QP in turn; where the send queue is full then, it is late, and the schedule does not wait
 * for it.
 *
 * The clock is read before every post, so this is a loop of its own; the unpaced one (stream.h)
 * knows nothing of it. Every post asks for a completion: how many share one is of no matter here,
 * and the last one of a run must not lie unseen.
 */
#ifndef RDMARK_LOOP_PACED_H
#define RDMARK_LOOP_PACED_H

#include "loop/stream.h"

#define PACED_LATE_NS 1000 /* a message posted later than that after it was due counts as late */

struct paced {
	unsigned __int128 step; /* from one message to the next, in ticks / 2^64 */
	uint64_t late_ticks;
	unsigned burst; /* messages that are due at once, a whole number of posts */
	/* results */
	uint64_t late;         /* messages posted late */
	uint64_t latest_ticks; /* the most that one was late by */
};

/*
 * A schedule of MESSAGES_PER_S, in bursts of BURST, for posts of CHAIN requests. C is calibrated.
 * The results are cleared.
 */
void paced_init(struct paced *p, double messages_per_s, unsigned burst, unsigned chain,
		const struct clock *c);

/*
 * Run the sender S, whose round has a schedule: its rings are made for a completion with each post
 * (the round's cq_mod is its post_list). Returns 0 or -1 with the fault raised.
 */
int paced_send(struct stream *s);

#endif

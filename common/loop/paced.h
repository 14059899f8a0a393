/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * paced: a schedule for posting messages at a fixed rate, an open loop. Burst j of a worker is due
 * at start + j * burst / rate, whatever happened to the earlier ones. It is posted when it is due,
 * never before, on one QP after the other. If the send queue is full then, the burst is late, and
 * the schedule does not wait for it.
 *
 * Each burst includes the pause after it, the last one too: a run ends at the scheduled end of its
 * last burst, or with its last completion if that is later. So the measured rate is never above the
 * scheduled one, however few bursts there are.
 *
 * With a schedule a stream (stream.h) reads the clock, and posts all that is due then. It asks for
 * a completion often enough that those of the last messages are not far away when it is told to
 * stop: it goes on by the schedule until there is one. The open loop of a ping-pong uses a schedule
 * with bursts of one message.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "loop/post.h"

struct clock;

#define PACED_LATE_NS 1000 /* a message counts as late if it is posted later than this */

struct paced {
	unsigned __int128 step; /* from one message to the next, in ticks / 2^64 */
	uint64_t late_ticks;
	unsigned burst;               /* messages per burst, a whole number of posts */
	unsigned __int128 burst_step; /* from one burst to the next */
	bool burst_is_post;
	unsigned __int128 due; /* a stream's next message's burst, in ticks / 2^64 */
	uint64_t left;         /* messages of that burst */
	/* results */
	uint64_t late;         /* messages posted late */
	uint64_t latest_ticks; /* maximum lateness */
};

/*
 * Set a schedule of MESSAGES_PER_S in bursts of BURST, for posts of CHAIN requests. C must be
 * calibrated. The results are cleared.
 */
void paced_init(struct paced *p, double messages_per_s, unsigned burst, unsigned chain,
		const struct clock *c);

/* Record that MESSAGES were posted LATE ticks after they were due. Hot. */
static ALWAYS_INLINE void paced_was_late(struct paced *p, uint64_t late, uint64_t messages)
{
	if (late > p->latest_ticks)
		p->latest_ticks = late;
	p->late += late > p->late_ticks ? messages : 0;
}

/* Begin a stream's schedule at NOW. */
static inline void paced_start(struct paced *p, uint64_t now)
{
	p->due = (unsigned __int128)now << 64;
	p->left = p->burst;
}

/* As paced_take(), burst by burst. */
uint64_t paced_take_bursts(struct paced *p, uint64_t now, uint64_t most);

/*
 * Go on by all messages that are due by NOW, at most MOST, whole posts of them. Returns how many:
 * they count as posted now. Hot: most often none is due, or all of them are late, and the next one.
 */
static ALWAYS_INLINE uint64_t paced_take(struct paced *p, uint64_t now, uint64_t most)
{
	uint64_t late = now - (uint64_t)(p->due >> 64);

	if ((int64_t)late < 0)
		return 0;
	if (p->burst_is_post && (uint64_t)((p->due + p->step * most) >> 64) + p->late_ticks < now) {
		p->due += p->step * most;
		p->late += most;
		p->latest_ticks = late > p->latest_ticks ? late : p->latest_ticks;
		return most;
	}
	return paced_take_bursts(p, now, most);
}

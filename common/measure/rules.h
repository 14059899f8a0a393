/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what is due at a given time of a round: telling the peer that this end is alive, the end
 * of the round, a timeout without progress or without an answer, a line of output. Pure functions.
 * Times are nanoseconds of CLOCK_MONOTONIC.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of the round. */
struct rules {
	bool live; /* there is a live line */
	uint64_t timeout_ns;
	uint64_t peer_timeout_ns; /* of the peer, so that it hears from this end in time */
	uint64_t duration_ns;     /* end the round after this time; 0: not (any more) */
	uint64_t interval_ns;     /* of the reports; 0: none */
	uint64_t expected_ns;     /* expected duration of the round; 0: unknown */
	uint64_t quiet_ns; /* no progress for this time is a standstill, or a lost message; 0:
			      none */
	uint64_t until_ns; /* the connection ends at this time; 0: never */
};

/* The times of the last events. */
struct rules_times {
	uint64_t start_ns; /* start of the loops */
	uint64_t heard_ns, said_ns;
	uint64_t moved_ns;         /* a message completed */
	uint64_t stall_checked_ns; /* for a standstill */
	uint64_t reported_ns, live_line_ns;
	uint64_t interval_base_ns; /* scheduled end of the last interval: a multiple of
				      interval_ns after the start */
	uint64_t asked_end_ns;     /* a signal: the peer was asked to end the round; 0: not */
};

/* What is due: bits. */
enum {
	DUE_ALIVE = 1,
	DUE_FINISH = 2,
	DUE_SILENT = 4,      /* no message from the peer for too long */
	DUE_STUCK = 8,       /* no message completed for too long */
	DUE_STANDSTILL = 16, /* check for loops that stand still */
	DUE_REPORT = 32,
	DUE_LIVE = 64,
	DUE_LEAVE = 128 /* the peer was asked to end the round, and has not for too long */
};

/*
 * Return what is due at NOW_NS. DONE: the peer may be silent, since it is done, or there is no
 * round. PASSIVE: no loop runs here, so there is no progress to expect. A silent peer explains a
 * lack of progress, so DUE_STUCK is not returned with DUE_SILENT; nor is either with DUE_LEAVE.
 */
unsigned rules_due(const struct rules *r, const struct rules_times *t, uint64_t now_ns, bool done,
		   bool passive);

/*
 * Record a report at NOW_NS. The next one is due at a multiple of the interval, even if this one
 * was late.
 */
void rules_reported(const struct rules *r, struct rules_times *t, uint64_t now_ns);

/*
 * At the end of the round, at NOW_NS: true if the time since the last report is a whole interval,
 * within 1 %.
 */
bool rules_whole(const struct rules *r, const struct rules_times *t, uint64_t now_ns);

/* The time from NOW_NS until something may be due. */
uint64_t rules_until_next(const struct rules *r, const struct rules_times *t, uint64_t now_ns);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timetable: rounds as slots of time, all of one length, from one start. The clock of the host is
 * the barrier between rounds: no message is needed. Times are nanoseconds since 1970.
 *
 * A host whose clock is wrong disturbs the pairs of other rounds. So each run says how far the
 * other end's clock is from this one's, and the judge names the host.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct timetable {
	uint64_t start_ns, slot_ns;
	uint32_t rounds;
	unsigned parts; /* of a slot: a run in each */
};

/* The round at NOW_NS: -1 before the start, `rounds` after the end. */
int64_t timetable_round(const struct timetable *t, uint64_t now_ns);

/* When PART of ROUND begins; `rounds` and 0: when all is over. */
uint64_t timetable_begin(const struct timetable *t, uint32_t round, unsigned part);

/* How long a part is; and when, in it, a run is asked to end with what it has. */
uint64_t timetable_part_ns(const struct timetable *t);
uint64_t timetable_cut_ns(const struct timetable *t);

/* True if a clock that is AHEAD_S seconds off breaks the rounds: by more than a quarter of a slot.
 */
bool timetable_off(const struct timetable *t, double ahead_s);

/* By how much a peer's clock is ahead that read THEIRS_NS between EARLIEST_NS and HERE_NS of this
 * one; 0 if that lies between: then a wait explains the difference. */
double timetable_ahead_s(int64_t theirs_ns, int64_t here_ns, int64_t earliest_ns);

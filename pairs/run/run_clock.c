// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The time of a run: this host's clock, unless others say that it is wrong. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/terminal.h"
#include "run.h"

uint64_t run_now_ns(const struct run *r)
{
	return clock_utc_ns() + (uint64_t)r->time.correction_ns;
}

void run_hear_clock(struct run *r, const struct timetable_vote *v)
{
	const char *self = r->players.hosts.host[r->players.self].name;

	if (!timetable_vote(&r->time, v))
		return;
	if (!r->time.correction_ns) {
		terminal_note(stderr, "%s: this host's clock is right again, as others say", self);
		return;
	}
	r->late_cause = "clock";
	terminal_note(stderr,
		      "%s: this host's clock is %.3f s %s, as others say; its slots follow theirs",
		      self, fabs((double)r->time.correction_ns / 1e9),
		      r->time.correction_ns > 0 ? "behind" : "ahead");
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which program a turn measures with, and in which direction. */
#include "run.h"

const struct program_line *run_line(const struct run *r, bool victim)
{
	return victim ? &r->victim : &r->line;
}

bool run_reversed(const struct run *r, bool victim, unsigned part)
{
	const struct program_line *l = run_line(r, victim);

	return l->both_ways && (part == 1 || (schedule_is_incast(&r->schedule) && l->to_client));
}

int run_line_victim(struct run *r)
{
	if (r->schedule.kind != SCHEDULE_VICTIM)
		return 0;
	if (r->line.latency || !r->line.duration_ns) {
		fault_raise(&r->fault, FAULT_USAGE, 0, "a victim of %s%s", r->line.program,
			    r->line.latency ? "" : " without -D");
		return fault_fix(&r->fault, "measure a bandwidth for a time: write_bw -D 0.5");
	}
	program_line_victim(&r->victim, &r->line);
	return 0;
}

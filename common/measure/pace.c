// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/pace.h"

/* Set in REC the rate of T's schedule, and how many messages were posted late. */
void pace_measure(const struct meter *t, struct record *rec)
{
	const struct measure *ms = t->ms;
	const struct paced *p = t->round.paced;

	if (!ms->test->latency)
		rec->pace.limit_gbps =
			rate_gbps(ms->options->experiment.rate_limit, rec->message_bytes) /
			ms->ep->workers;
	rec->pace.late_messages = p->late;
	rec->pace.late_max_us = clock_ticks_to_ns(ms->clock, (double)p->latest_ticks) / 1e3;
}

/* Add BY, which ran at the same time, to SUM: limits and late messages add up. */
void pace_add(struct record *sum, const struct record *by)
{
	sum->pace.limit_gbps += by->pace.limit_gbps;
	sum->pace.late_messages += by->pace.late_messages;
	if (by->pace.late_max_us > sum->pace.late_max_us)
		sum->pace.late_max_us = by->pace.late_max_us;
}

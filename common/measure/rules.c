// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/rules.h"

#define ALIVE_NS UINT64_C(1000000000)
#define LIVE_NS  UINT64_C(500000000)

/*
 * The interval of "alive" messages: a quarter of the shorter timeout of both ends, at most a
 * second.
 */
static uint64_t alive_period_ns(const struct rules *r)
{
	uint64_t ns = r->timeout_ns < r->peer_timeout_ns ? r->timeout_ns : r->peer_timeout_ns;

	return ns / 4 < ALIVE_NS ? ns / 4 : ALIVE_NS;
}

/* True if PERIOD_NS has passed since SINCE_NS; never for a period of 0. */
static bool has_passed(uint64_t now_ns, uint64_t since_ns, uint64_t period_ns)
{
	return period_ns && now_ns >= since_ns && now_ns - since_ns >= period_ns;
}

/*
 * When the next report is due. A rest of the round of less than a tenth of an interval belongs to
 * the interval before it, which is then reported when the round ends, or one interval later.
 */
static uint64_t report_ns(const struct rules *r, const struct rules_times *t)
{
	uint64_t next_ns = t->interval_base_ns + r->interval_ns,
		 end_ns = t->start_ns + r->expected_ns;

	if (r->expected_ns && next_ns + r->interval_ns / 10 >= end_ns &&
	    next_ns < end_ns + r->interval_ns)
		next_ns += r->interval_ns;
	return next_ns;
}

void rules_reported(const struct rules *r, struct rules_times *t, uint64_t now_ns)
{
	t->reported_ns = now_ns;
	/* After a late report the next one is due in half an interval or more, never at once. */
	if (r->interval_ns && now_ns > t->interval_base_ns)
		t->interval_base_ns += (now_ns - t->interval_base_ns + r->interval_ns / 2) /
				       r->interval_ns * r->interval_ns;
}

bool rules_whole(const struct rules *r, const struct rules_times *t, uint64_t now_ns)
{
	return now_ns + r->interval_ns / 100 >= t->interval_base_ns + r->interval_ns;
}

unsigned rules_due(const struct rules *r, const struct rules_times *t, uint64_t now_ns, bool done,
		   bool passive)
{
	unsigned due = 0;

	if (now_ns - t->said_ns >= alive_period_ns(r))
		due |= DUE_ALIVE;
	if (r->alive_only)
		return due;
	if (has_passed(now_ns, t->start_ns, r->duration_ns))
		due |= DUE_FINISH;
	if (t->asked_end_ns && has_passed(now_ns, t->asked_end_ns, r->timeout_ns))
		due |= DUE_LEAVE;
	else if (!done && has_passed(now_ns, t->heard_ns, r->timeout_ns))
		due |= DUE_SILENT;
	else if (!passive && has_passed(now_ns, t->moved_ns, r->timeout_ns))
		due |= DUE_STUCK;
	if (has_passed(now_ns, t->stall_checked_ns, r->quiet_ns))
		due |= DUE_STANDSTILL;
	if (r->interval_ns && now_ns >= report_ns(r, t))
		due |= DUE_REPORT;
	if (r->live && has_passed(now_ns, t->live_line_ns, LIVE_NS))
		due |= DUE_LIVE;
	return due;
}

/* The earlier of NEXT_NS and SINCE_NS + PERIOD_NS; a period of 0 does not count. */
static uint64_t earlier_of(uint64_t next_ns, uint64_t since_ns, uint64_t period_ns)
{
	return period_ns && since_ns + period_ns < next_ns ? since_ns + period_ns : next_ns;
}

uint64_t rules_until_next(const struct rules *r, const struct rules_times *t, uint64_t now_ns)
{
	uint64_t next_ns = t->said_ns + alive_period_ns(r);

	if (!r->alive_only) {
		if (t->start_ns + r->duration_ns > now_ns)
			next_ns = earlier_of(next_ns, t->start_ns, r->duration_ns);
		if (r->until_ns && r->until_ns < next_ns)
			next_ns = r->until_ns;
		next_ns = earlier_of(next_ns, t->stall_checked_ns, r->quiet_ns);
		if (r->interval_ns && report_ns(r, t) < next_ns)
			next_ns = report_ns(r, t);
		next_ns = earlier_of(next_ns, t->live_line_ns, r->live ? LIVE_NS : 0);
	}
	return next_ns > now_ns ? next_ns - now_ns : 0;
}

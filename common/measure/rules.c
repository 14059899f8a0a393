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

/* True if PERIOD_NS, which may be endless, has passed since SINCE_NS. */
static bool has_passed(uint64_t now_ns, uint64_t since_ns, uint64_t period_ns)
{
	return now_ns >= since_ns && now_ns - since_ns >= period_ns;
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

/* What is due by the clock alone, and when. */
struct deadline {
	unsigned what;
	uint64_t at_ns;
};

/* List in TO, which has room for 5, what R and T say. Returns how many there are. */
static unsigned deadlines(const struct rules *r, const struct rules_times *t, struct deadline *to)
{
	unsigned n = 0;

	to[n++] = (struct deadline){DUE_ALIVE, t->said_ns + alive_period_ns(r)};
	if (r->duration_ns)
		to[n++] = (struct deadline){DUE_FINISH, t->start_ns + r->duration_ns};
	if (r->quiet_ns)
		to[n++] = (struct deadline){DUE_STANDSTILL, t->stall_checked_ns + r->quiet_ns};
	if (r->interval_ns)
		to[n++] = (struct deadline){DUE_REPORT, report_ns(r, t)};
	if (r->live)
		to[n++] = (struct deadline){DUE_LIVE, t->live_line_ns + LIVE_NS};
	return n;
}

unsigned rules_due(const struct rules *r, const struct rules_times *t, uint64_t now_ns, bool done,
		   bool passive)
{
	struct deadline all[5];
	unsigned due = 0;

	for (unsigned n = deadlines(r, t, all); n--;)
		due |= now_ns >= all[n].at_ns ? all[n].what : 0;
	if (t->asked_end_ns && has_passed(now_ns, t->asked_end_ns, r->timeout_ns))
		due |= DUE_LEAVE;
	else if (!done && has_passed(now_ns, t->heard_ns, r->timeout_ns))
		due |= DUE_SILENT;
	else if (!passive && has_passed(now_ns, t->moved_ns, r->timeout_ns))
		due |= DUE_STUCK;
	return due;
}

/* The timeouts are longer than the period of "alive", so no wait is for one of them. */
uint64_t rules_until_next(const struct rules *r, const struct rules_times *t, uint64_t now_ns)
{
	uint64_t next_ns = r->until_ns ? r->until_ns : UINT64_MAX;
	struct deadline all[5];

	for (unsigned n = deadlines(r, t, all); n--;)
		if (all[n].at_ns < next_ns)
			next_ns = all[n].at_ns;
	return next_ns > now_ns ? next_ns - now_ns : 0;
}

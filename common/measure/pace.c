// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/pace.h"

#include "base/text.h"
#include "base/units.h"
#include "report/unit.h"

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

/* Note how well WHO kept its schedule, and the load: the table has no columns for them. */
static void note_pace(const struct measurement *meas, const struct record *rec, const char *who)
{
	const struct measure *ms = meas->ms;
	struct units_text size = units_size(rec->message_bytes);
	struct units_text late = units_about_ns(rec->pace.late_max_us * 1e3);
	unsigned long long messages = rec->messages;
	unsigned long long rate = ms->options->experiment.latency_rate;
	bool gbits = ms->options->output.gbits;
	char kept[128] = "none";

	if (rec->pace.late_messages)
		snprintf(kept, sizeof(kept), "%llu", (unsigned long long)rec->pace.late_messages);
	text_add(kept, sizeof(kept), " of %llu messages posted late", messages);
	if (rec->pace.late_messages)
		text_add(kept, sizeof(kept), ", by up to %s", late.text);
	if (rec->pace.limit_gbps > 0)
		report_note(ms->report, "%s: %s: %s of %s; %s", who, size.text,
			    unit_number(gbits, rec->bandwidth_gbps).text,
			    unit_rate(gbits, rec->pace.limit_gbps).text, kept);
	if (ms->test->latency && rate)
		report_note(ms->report, "%s: %.0f of %llu messages/s; %s", size.text,
			    rec->messages_per_s, rate, kept);
	if (rec->load_gbps > 0)
		report_note(ms->report, "%s: during a load of %s", size.text,
			    unit_rate(true, rec->load_gbps).text); /* the unit of --load */
}

void pace_note(const struct measurement *meas)
{
	bool server = meas->ms->ep->server, leads = meas->attr.reverse == server;

	/* Only an end that sends has a schedule. */
	if (meas->measured && (leads || meas->attr.both))
		note_pace(meas, &meas->mine, server ? "server" : "client");
	if (meas->theirs_measured && (!leads || meas->attr.both))
		note_pace(meas, &meas->theirs, server ? "client" : "server");
}

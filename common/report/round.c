// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is shown of a round: its rows, and notes that the table has no column for. */
#include <inttypes.h>

#include "base/text.h"
#include "base/units.h"
#include "measure/meter.h"
#include "plan/test.h"
#include "proto/verified.h"
#include "report/report.h"

/* That the round was interrupted, and how much of it was measured. */
static void note_interrupted(const struct report *r, const struct measurement *meas)
{
	const struct link *l = meas->ms->link;
	const struct record *rec = meas->mine.measured ? &meas->mine.record : &meas->theirs.record;
	const char *whose = link_interrupted_by(l, r->about.server);

	if (l->limit_ns)
		report_warning(r, "ended after %s, the --max-duration of the server",
			       units_ns(l->limit_ns).text);
	if (!l->interrupted || r->about.options->experiment.run_infinitely)
		return;
	if (meas->attr.duration_ns)
		report_note(r, "interrupted%s after %.1f of %.10g s", whose, rec->seconds,
			    (double)meas->attr.duration_ns / 1e9);
	else if (rec->messages < meas->messages_expected)
		report_note(r, "interrupted%s after %" PRIu64 " of %" PRIu64 " messages", whose,
			    rec->messages, meas->messages_expected);
}

/* What was lost of the messages of the end BY, as REC says. */
static void note_loss(const struct report *r, const struct measurement *meas,
		      const struct record *rec, const char *by)
{
	const struct measure *ms = meas->ms;
	bool gbits = r->about.options->output.gbits;
	struct units_text size = units_size(meas->attr.message_bytes);
	double link_gbps = rec == &meas->mine.record ? endpoint_rate_gbps(ms->ep) : 0;
	char more[80] = "";

	if (!rec->lost)
		return;
	if (link_gbps > 0 && rec->sent_gbps > link_gbps)
		snprintf(more, sizeof(more), " (more than the link's %g Gb/s)", link_gbps);
	if (r->about.test->latency)
		report_note(r,
			    "%" PRIu64 " of %" PRIu64 " round trips of %s took %.0f ms or more and "
			    "gave no sample (lost or late); %" PRIu64 " messages were resent",
			    rec->lost, rec->messages, size.text,
			    clock_ticks_to_ns(ms->clock, (double)ms->meter[0].round.quiet_ticks) /
				    1e6,
			    rec->resent);
	else
		report_warning(r,
			       "%" PRIu64 " of %" PRIu64 " messages of %s from the %s were lost: "
			       "sent %s%s, arrived %s",
			       rec->lost, rec->messages, size.text, by,
			       unit_rate(gbits, rec->sent_gbps).text, more,
			       unit_number(gbits, rec->bandwidth_gbps).text);
}

/* How well the end BY kept its schedule, and the load. */
static void note_pace(const struct report *r, const struct record *rec, const char *by)
{
	uint64_t rate = r->about.options->experiment.latency_rate;
	bool gbits = r->about.options->output.gbits;
	struct units_text size = units_size(rec->message_bytes);
	char kept[128] = "none", late[48] = "";

	if (rec->late_messages) {
		snprintf(kept, sizeof(kept), "%" PRIu64, rec->late_messages);
		snprintf(late, sizeof(late), ", by up to %s",
			 units_about_ns(rec->late_max_us * 1e3).text);
	}
	text_add(kept, sizeof(kept), " of %" PRIu64 " messages posted late%s", rec->messages, late);
	if (rec->rate_limit_gbps > 0)
		report_note(r, "%s: %s: %s of %s; %s", by, size.text,
			    unit_number(gbits, rec->bandwidth_gbps).text,
			    unit_rate(gbits, rec->rate_limit_gbps).text, kept);
	if (r->about.test->latency && rate)
		report_note(r, "%s: %.0f of %" PRIu64 " messages/s; %s", size.text,
			    rec->messages_per_s, rate, kept);
}

void report_round(struct report *r, const struct measurement *meas, const struct result *result)
{
	bool server = r->about.server, leads = meas->attr.reverse == server;
	const struct found *of[] = {&meas->mine, &meas->theirs};
	const char *by[] = {result_end_name(server), result_end_name(!server)};
	/* of the ends that send, which lose messages and have a schedule */
	bool sends[] = {leads || meas->attr.both, !leads || meas->attr.both};
	uint64_t messages, answered = 0;
	struct verified sum = verify_tally(meas, RESULT_BOTH_WAYS);
	char text[256];

	if (r->trial)
		return;
	if (!result) { /* a server without a record, whose client failed */
		for (unsigned i = 0; i < meas->ms->ep->workers; i++)
			answered += meas->ms->meter[i].round.result.messages;
		report_note(r, "%" PRIu64 " messages of %s were answered", answered,
			    units_size(meas->attr.message_bytes).text);
		return;
	}
	if (sum.messages) {
		messages = of[!of[0]->measured]->record.messages;
		if (meas->attr.both)
			messages = of[0]->record.messages + of[1]->record.messages;
		report_note(r, "verified: %s",
			    verified_format(&sum, messages * meas->attr.message_bytes, text,
					    sizeof(text)));
	}
	report_result(r, result);
	note_interrupted(r, meas);
	for (int i = 0; i < 2; i++)
		if (sends[i])
			note_loss(r, meas, &of[i]->record, by[i]);
	for (int i = 0; i < 2; i++)
		if (sends[i] && of[i]->measured)
			note_pace(r, &of[i]->record, by[i]);
}

void report_repeated(struct report *r, const struct result *median, json_t *summary,
		     const char *text)
{
	char point[160];

	report_shown(r, median);
	if (document_keeps(r->about.options))
		json_array_append(r->run.summaries, varied_json(r, summary));
	json_decref(summary);
	report_note(r, "%s%s", result_point(r->about.options, point, sizeof(point)), text);
}

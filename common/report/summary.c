// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Notes on a size: the summary of its runs, its worst interval, disturbances and stalls. */
#include <inttypes.h>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/percentile.h"
#include "report/forms.h"
#include "base/unit.h"

#define MATTERS 2 /* a corrected percentile of this many times the measured one is noted */
#define FELT    1 /* percent of the run in stalls that are told although they are few */

/* REC's bandwidth as text: "4391.37 MiB/s" or "no rate". */
static struct units_text rate_text(const struct report *r, const struct record *rec)
{
	return record_has_rate(rec) ? unit_rate(r->about.options->output.gbits, rec->bandwidth_gbps)
				    : (struct units_text){"no rate"};
}

const char *report_outcome(const struct report *r, char *buf, size_t size)
{
	const struct record *last = &r->run.last;

	if (!last->messages) {
		snprintf(buf, size, "served");
		return buf;
	}
	if (r->about.latency)
		snprintf(buf, size, "%s, %.2f us on average", units_size(last->message_bytes).text,
			 last->latency.mean_us);
	else
		snprintf(buf, size, "%s, %s", units_size(last->message_bytes).text,
			 rate_text(r, last).text);
	/* The client can show either unit. */
	if (!r->about.latency && record_has_rate(last) && !r->about.options->output.gbits)
		text_add(buf, size, " (%s)", unit_rate(true, last->bandwidth_gbps).text);
	if (r->about.options->sweep.axes && r->run.rows > 1)
		text_add(buf, size, ", the last of %zu rows", r->run.rows);
	else if (r->run.sizes > 1)
		text_add(buf, size, ", the last of %zu sizes", r->run.sizes);
	return buf;
}

void summary_failed(const struct report *r, const struct result_row *row)
{
	char name[192];

	row_name(r, row, name, sizeof(name));
	if (r->about.latency)
		report_note(r, "%s: %.2f usec on average before the failure", name,
			    row->record->latency.mean_us);
	else
		report_note(r, "%s: %s before the failure", name, rate_text(r, row->record).text);
}

void summary_worst(const struct report *r, const struct result_row *row)
{
	const struct record *rec = row->record;
	char name[192];

	if (document_to_stdout(r->about.options->output.json) || r->about.lines ||
	    row->thread >= 0 || row->device ||
	    row->by != (r->about.server ? RESULT_SERVER : RESULT_CLIENT))
		return;
	row_name(r, row, name, sizeof(name));
	if (rec->intervals.count > 1)
		terminal_note(
			stderr, "%s: worst of %" PRIu64 " intervals: %s", name,
			rec->intervals.count,
			unit_rate(r->about.options->output.gbits, rec->intervals.worst_gbps).text);
	else if (rec->intervals.worst_us > 0)
		terminal_note(stderr, "%s: worst interval: %.2f usec on average", name,
			      rec->intervals.worst_us);
}

void summary_disturbed(const struct report *r, const struct result_row *row)
{
	char text[1024], name[192];

	if (result_is_disturbed(row))
		report_note(r, "%s: disturbed%s: %s", row_name(r, row, name, sizeof(name)),
			    r->table ? " (!)" : "", result_disturbance(row, text, sizeof(text)));
}

/* The lowest percentile that the correction for stalls raises MATTERS-fold; NULL: none. */
static const struct percentile *stalled_percentile(const struct record *rec)
{
	for (const struct percentile *p = percentiles(); p->name; p++)
		if (record_value(rec, record_find(p->corrected)) >
		    MATTERS * record_value(rec, record_find(p->field)))
			return p;
	return NULL;
}

/* Decimals for at least three digits. */
static int decimals_of_us(double us)
{
	return us < 10 ? 2 : us < 100 ? 1 : 0;
}

void summary_stalls(const struct report *r, const struct result_row *row)
{
	const struct record *rec = row->record;
	const struct percentile *p = rec->stalls ? stalled_percentile(rec) : NULL;
	char instead[40] = "", name[192];
	double corrected_us, sampled;

	if (!p && rec->stalls && rec->stalls < PERCENTILE_BEYOND && rec->stall_percent >= FELT)
		report_note(
			r,
			"%s: %" PRIu64 " stall%s, the longest %s, took %.1f %% of the run: too "
			"few to correct the percentiles for",
			row_name(r, row, name, sizeof(name)), rec->stalls,
			rec->stalls == 1 ? "" : "s",
			units_about_ns((r->about.halved ? 2e3 : 1e3) * rec->latency.max_us).text,
			rec->stall_percent);
	if (!p)
		return;
	corrected_us = record_value(rec, record_find(p->corrected));
	sampled = record_value(rec, record_find(p->field));
	if (percentile_known(rec, p->field))
		snprintf(instead, sizeof(instead), ", not %.*f", decimals_of_us(sampled), sampled);
	report_note(r,
		    "%s: stalls took %.1f %% of the run (%" PRIu64 " round trip%s took 10 x the "
		    "median or more, the longest %s): corrected for them, %s is %.*f us%s; "
		    "for a steady sender, use the corrected one",
		    row_name(r, row, name, sizeof(name)), rec->stall_percent, rec->stalls,
		    rec->stalls == 1 ? "" : "s",
		    units_about_ns((r->about.halved ? 2e3 : 1e3) * rec->latency.max_us).text,
		    p->words, decimals_of_us(corrected_us), corrected_us, instead);
}

/* True if A and B have the same value at KEY, or both none. */
static bool is_same(const json_t *a, const json_t *b, const char *key)
{
	const json_t *one = json_object_get(a, key), *other = json_object_get(b, key);

	return (!one && !other) || json_equal(one, other);
}

bool report_is_shown(const json_t *document, const json_t *result)
{
	const json_t *run = json_object_get(result, "run"), *one, *median;
	size_t i;

	json_array_foreach (json_object_get(document, "summaries"), i, one) {
		median = json_object_get(one, "median_run");
		if (run && median && is_same(result, one, "message_bytes") &&
		    is_same(result, one, "varied"))
			return json_equal(run, median);
	}
	return true;
}

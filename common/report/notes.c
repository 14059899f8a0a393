// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/percentile.h"
#include "report/report.h"
#include "stat/interval.h"

#define MATTERS 2  /* a corrected percentile of this many times the measured one is noted */
#define FELT    1  /* percent of the run in stalls that are told although they are few */
#define LONGER  10 /* times a run that was too short */

/* In a shorter run one interruption of 1 ms, which every kernel has, costs more than 1 %. */
#define SHORT_S 0.1

/* "-t 16: 64 KiB, client_to_server"; the direction only if rows have one. Returns BUF. */
static const char *row_name(const struct report *r, const struct result_row *row, char *buf,
			    size_t size)
{
	const struct options *o = r->about.options;

	result_point(o, buf, size);
	text_add(buf, size, "%s", units_size(row->record->message_bytes).text);
	if (o->output.both_rows && o->experiment.bidirectional)
		text_add(buf, size, ", %s", result_direction_name(row->direction));
	return buf;
}

/* REC's bandwidth as text: "4391.37 MiB/s" or "no rate". */
static struct units_text rate_text(const struct report *r, const struct record *rec)
{
	return record_has_rate(rec) ? unit_rate(r->about.options->output.gbits, rec->bandwidth_gbps)
				    : (struct units_text){"no rate"};
}

/* "3.21 usec on average", or the bandwidth. */
static struct units_text average_text(const struct report *r, const struct record *rec)
{
	struct units_text average;

	if (!r->about.test->latency)
		return rate_text(r, rec);
	snprintf(average.text, sizeof(average.text), "%.2f usec on average", rec->latency.mean_us);
	return average;
}

const char *report_outcome(const struct report *r, char *buf, size_t size)
{
	const struct record *last = &r->run.last;

	snprintf(buf, size, "%s", last->messages ? units_size(last->message_bytes).text : "served");
	if (!last->messages)
		return buf;
	if (r->about.test->latency)
		text_add(buf, size, ", %.2f us on average", last->latency.mean_us);
	else
		text_add(buf, size, ", %s", rate_text(r, last).text);
	/* The client can show either unit. */
	if (!r->about.test->latency && record_has_rate(last) && !r->about.options->output.gbits)
		text_add(buf, size, " (%s)", unit_rate(true, last->bandwidth_gbps).text);
	if (r->about.options->sweep.axes && r->run.rows > 1)
		text_add(buf, size, ", the last of %zu rows", r->run.rows);
	else if (r->run.sizes > 1)
		text_add(buf, size, ", the last of %zu sizes", r->run.sizes);
	return buf;
}

void notes_failed(const struct report *r, const struct result_row *row)
{
	char name[192];

	report_note(r, "%s: %s before the failure", row_name(r, row, name, sizeof(name)),
		    average_text(r, row->record).text);
}

void notes_worst(const struct report *r, const struct result_row *row)
{
	const struct record *rec = row->record;
	bool gbits = r->about.options->output.gbits;
	char name[192];

	if (document_to_stdout(r->about.options->output.json) || r->about.lines ||
	    row->thread >= 0 || row->device ||
	    row->by != (r->about.server ? RESULT_SERVER : RESULT_CLIENT))
		return;
	row_name(r, row, name, sizeof(name));
	if (rec->intervals.count > 1)
		terminal_note(stderr, "%s: worst of %" PRIu64 " intervals: %s", name,
			      rec->intervals.count,
			      unit_rate(gbits, rec->intervals.worst_gbps).text);
	else if (rec->intervals.worst_us > 0)
		terminal_note(stderr, "%s: worst interval: %.2f usec on average", name,
			      rec->intervals.worst_us);
}

static void note_disturbed(const struct report *r, const struct result_row *row)
{
	char text[1024], name[192];

	if (result_is_disturbed(row))
		report_note(r, "%s: disturbed%s: %s", row_name(r, row, name, sizeof(name)),
			    r->form->table ? " (!)" : "",
			    result_disturbance(row, text, sizeof(text)));
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

/* "12.3", "4.56": at least three digits, and at most two behind the point. */
static struct units_text us_text(double us)
{
	struct units_text text;

	snprintf(text.text, sizeof(text.text), "%.*f", us < 10 ? 2 : us < 100 ? 1 : 0, us);
	return text;
}

static void note_stalls(const struct report *r, const struct result_row *row)
{
	const struct record *rec = row->record;
	const struct percentile *p = rec->stalls ? stalled_percentile(rec) : NULL;
	const char *many = rec->stalls == 1 ? "" : "s";
	struct units_text longest =
		units_about_ns((r->about.test->operation.halved ? 2e3 : 1e3) * rec->latency.max_us);
	char instead[40] = "", name[192];

	row_name(r, row, name, sizeof(name));
	if (!p && rec->stalls && rec->stalls < PERCENTILE_BEYOND && rec->stall_percent >= FELT)
		report_note(r,
			    "%s: %" PRIu64 " stall%s, the longest %s, took %.1f %% of the run: too "
			    "few to correct the percentiles for",
			    name, rec->stalls, many, longest.text, rec->stall_percent);
	if (!p)
		return;
	if (percentile_known(rec, p->field))
		snprintf(instead, sizeof(instead), ", not %s",
			 us_text(record_value(rec, record_find(p->field))).text);
	report_note(r,
		    "%s: stalls took %.1f %% of the run (%" PRIu64 " round trip%s took 10 x the "
		    "median or more, the longest %s): corrected for them, %s is %s us%s; "
		    "for a steady sender, use the corrected one",
		    name, rec->stall_percent, rec->stalls, many, longest.text, p->words,
		    us_text(record_value(rec, record_find(p->corrected))).text, instead);
}

static void add_interval(struct report *r, const struct result_row *row)
{
	struct intervals_shown *in = &r->notes.interval;
	const struct plus_minus *p = &row->record->plus_minus;

	if (!p->slices)
		return;
	/* fmin() ignores a NaN, which is an unknown interval. */
	in->least_percent = in->rows ? fmin(in->least_percent, p->percent) : p->percent;
	/* An unknown interval counts as the widest. */
	if (!in->rows || isnan(p->percent) || p->percent > in->worst.plus_minus.percent) {
		in->worst = *row->record;
		row_name(r, row, in->worst_name, sizeof(in->worst_name));
	}
	in->rows++;
}

/* "0.87", "12": two digits; an interval as wide as the value says that there is no telling. */
static struct units_text percent_text(double percent)
{
	int whole = percent >= 1 ? (int)log10(percent) + 1 : percent >= 0.1 ? 0 : -1;
	struct units_text text = {"more than 100"};

	if (percent <= 100)
		snprintf(text.text, sizeof(text.text), "%.*f", whole < 2 ? 2 - whole : 0, percent);
	return text;
}

/* What is said instead of an interval. */
static const char *unknown_text(const struct record *rec)
{
	return rec->plus_minus.unknown == INTERVAL_PHASES
		       ? "±, the uncertainty of the average: not known: it varies in long phases"
	       : rec->plus_minus.unknown == INTERVAL_EVENTS
		       ? "±, the uncertainty of the average: not known: one or two events make most "
			 "of what varies"
		       : "too short for ±, the uncertainty of the average";
}

static void note_interval(const struct report *r, const struct record *rec)
{
	double percent = rec->plus_minus.percent;

	if (isnan(percent)) /* a run of slow messages may have been long already */
		report_note(r, "%s; use -D %.0f or longer", unknown_text(rec),
			    fmax(1, ceil(LONGER * rec->seconds)));
	else
		report_note(
			r, "%s ± %s %% (%g %%, %" PRIu64 " slices)%s", average_text(r, rec).text,
			percent_text(percent).text, INTERVAL_CONFIDENCE, rec->plus_minus.slices,
			percent > 100 ? ": it varied too much during the run for an average" : "");
}

static void print_intervals(const struct report *r)
{
	const struct intervals_shown *in = &r->notes.interval;
	double worst = in->worst.plus_minus.percent;

	if (in->rows == 1)
		note_interval(r, &in->worst);
	else if (in->rows && isnan(worst))
		report_note(r, "%s, at %s and possibly others; use -D 1 or longer",
			    unknown_text(&in->worst), in->worst_name);
	else if (in->rows)
		report_note(r, "averages ± %s to %s %% (%g %%), the widest at %s",
			    percent_text(in->least_percent).text, percent_text(worst).text,
			    INTERVAL_CONFIDENCE, in->worst_name);
}

static void add_amount(struct amount *a, const struct result *result)
{
	const struct record *rec = result->shown[0] ? result->shown[0]->record : NULL;

	if (!rec || !rec->messages || rec->interrupted)
		return;
	/* All runs of a size count together. */
	if (rec->run <= 1 || !a->sizes) {
		if (a->sizes && (a->sizes == 1 || a->size_s < a->shortest_s))
			a->shortest_s = a->size_s;
		a->size_s = 0;
		a->sizes++;
	}
	a->size_s += rec->seconds;
	if (!a->fewest.messages || percentile_samples(rec) < percentile_samples(&a->fewest))
		a->fewest = *rec;
}

/* Add the option with which percentile P gets enough samples. REC has too few. */
static void add_remedy(const struct report *r, const struct record *rec, const struct percentile *p,
		       char *buf, size_t size)
{
	uint64_t needs = percentile_needs(p), have = percentile_samples(rec);
	uint64_t each = rec->qps ? rec->qps : 1;

	if (!experiment_endless(&r->about.options->experiment))
		text_add(buf, size, "-n %" PRIu64, (needs + each - 1) / each);
	else if (have)
		text_add(buf, size, "-D %.0f", ceil(rec->seconds * (double)needs / (double)have));
	else
		text_add(buf, size, "a longer run");
}

/* Explain the '-' in the table: too few samples for a percentile. */
static void note_missing_percentiles(const struct report *r)
{
	const struct record *rec = &r->notes.enough.fewest;
	struct columns all = columns_of(r, rec, false);
	const struct percentile *last = NULL;
	size_t absent = 0;
	char names[160] = "", more[48] = "";

	for (const struct column *c = all.column; c < all.column + all.count; c++) {
		const struct percentile *p = percentile_of(c->field);

		if (!p || percentile_known(rec, p->field))
			continue;
		if (last)
			text_add(names, sizeof(names), "%s%s", absent > 1 ? ", " : "", last->words);
		last = p;
		absent++;
	}
	if (!last)
		return;
	text_add(names, sizeof(names), "%s%s", absent > 1 ? " and " : "", last->words);
	add_remedy(r, rec, last, more, sizeof(more));
	report_note(r, "%s not shown: %" PRIu64 " samples are too few; use %s", names,
		    percentile_samples(rec), more);
}

/* Client: advise a longer run if a size was measured for less than SHORT_S. */
static void note_short_run(const struct report *r)
{
	const struct amount *a = &r->notes.enough;
	double s = a->sizes > 1 ? fmin(a->shortest_s, a->size_s) : a->size_s;
	struct units_text measured = units_about_ns(s * 1e9);

	if (r->about.server || !(s > 0 && s < SHORT_S))
		return;
	if (a->sizes > 1)
		report_note(r, "only %s measured for one of %u rows; use -D 1 for a second each",
			    measured.text, a->sizes);
	else
		report_note(r, "only %s measured; use -D 1 for a second", measured.text);
}

void notes_shown(const struct report *r, const struct result_row *row)
{
	note_disturbed(r, row);
	note_stalls(r, row);
}

void notes_add(struct report *r, const struct result *result)
{
	for (size_t i = 0; i < 2 && result->shown[i] && !result->one_of_runs; i++)
		add_interval(r, result->shown[i]);
	add_amount(&r->notes.enough, result);
	explained_add(&r->notes, result);
}

void notes_print(struct report *r)
{
	print_intervals(r);
	if (r->notes.enough.sizes && r->form->table && r->about.test->latency)
		note_missing_percentiles(r);
	note_short_run(r);
	explained_print(r);
	notes_forget(r);
}

void notes_forget(struct report *r)
{
	free(r->notes.why);
	memset(&r->notes, 0, sizeof(r->notes));
}

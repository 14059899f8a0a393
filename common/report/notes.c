// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "explain/limit.h"
#include "finding/finding.h"
#include "plan/test.h"
#include "proto/evidence.h"
#include "report/report.h"
#include "stat/interval.h"

#define LONGER 10 /* times a run that was too short */

/* A run of seconds that need not be longer; and of those in which a rate is none. */
#define LONG_S  10
#define BRIEF_S 0.01

/* In a shorter run one interruption of 1 ms, which every kernel has, costs more than 1 %. */
#define SHORT_S 0.1

/* "-t 16: 64 KiB, client to server"; the direction only if rows have one. Returns BUF. */
static const char *row_name(const struct report *r, const struct result_row *row, char *buf,
			    size_t size)
{
	const struct options *o = r->about.options;

	result_point(o, buf, size);
	text_add(buf, size, "%s", units_size(row->record->message_bytes).text);
	if (o->output.both_rows && o->experiment.bidirectional)
		text_add(buf, size, ", %s", result_direction_words(row->direction));
	return buf;
}

/* REC's bandwidth as text: "4391.37 MiB/s" or "no rate". */
static struct units_text rate_text(const struct report *r, const struct record *rec)
{
	return record_has_rate(rec) ? unit_rate(r->about.options->output.gbits, rec->bandwidth_gbps)
				    : (struct units_text){"no rate"};
}

/* "3.21 us on average", or the bandwidth. */
static struct units_text average_text(const struct report *r, const struct record *rec)
{
	struct units_text average = rate_text(r, rec);

	if (r->about.test->latency)
		snprintf(average.text, sizeof(average.text), "%.2f us on average",
			 rec->latency_mean_us);
	return average;
}

const char *report_outcome(const struct report *r, char *buf, size_t size)
{
	const struct record *last = &r->run.last;

	snprintf(buf, size, "%s", last->messages ? units_size(last->message_bytes).text : "served");
	if (!last->messages)
		return buf;
	text_add(buf, size, ", %s", average_text(r, last).text);
	/* The client can show either unit. */
	if (!r->about.test->latency && record_has_rate(last) && !r->about.options->output.gbits)
		text_add(buf, size, " (%s)", unit_rate(true, last->bandwidth_gbps).text);
	if (r->about.options->sweep.axes && r->run.rows > 1)
		text_add(buf, size, ", the last of %zu rows", r->run.rows);
	else if (r->notes.enough.sizes > 1)
		text_add(buf, size, ", the last of %u sizes", r->notes.enough.sizes);
	return buf;
}

void notes_failed(const struct report *r, const struct result_row *row)
{
	char name[192];

	row_name(r, row, name, sizeof(name));
	if (row->record->seconds < BRIEF_S)
		report_note(r, "%s: %" PRIu64 " message%s before the failure", name,
			    row->record->messages, row->record->messages == 1 ? "" : "s");
	else
		report_note(r, "%s: %s before the failure", name,
			    average_text(r, row->record).text);
}

void notes_worst(const struct report *r, const struct result_row *row)
{
	const struct record *rec = row->record;
	bool gbits = r->about.options->output.gbits;
	char name[192];

	if (document_to_stdout(r->about.options->output.json) ||
	    r->about.options->local.persistent || row->thread >= 0 || row->device ||
	    row->by != (r->about.server ? RESULT_SERVER : RESULT_CLIENT))
		return;
	row_name(r, row, name, sizeof(name));
	if (rec->interval_count > 1)
		terminal_note(stderr, "%s: worst of %" PRIu64 " intervals: %s", name,
			      rec->interval_count,
			      unit_rate(gbits, rec->worst_interval_gbps).text);
	else if (rec->worst_interval_us > 0)
		terminal_note(stderr, "%s: worst interval: %.2f us on average", name,
			      rec->worst_interval_us);
}

static void note_disturbed(const struct report *r, const struct result_row *row)
{
	char text[1024], name[192];

	if (result_is_disturbed(row))
		report_note(r, "%s: %sdisturbed%s: %s", row_name(r, row, name, sizeof(name)),
			    result_may_be_disturbed(row) ? "may be " : "",
			    r->form->table ? " (!)" : "",
			    result_disturbance(row, text, sizeof(text)));
}

/* A percentile counts a stall as one sample: where stalls took long, it hides them. */
static void note_stalls(const struct report *r, const struct result_row *row)
{
	const struct record *rec = row->record;
	struct units_text longest =
		units_about_ns((r->about.test->operation.halved ? 2e3 : 1e3) * rec->latency_max_us);
	char name[192];

	if (rec->stall_percent < STALLS_FELT)
		return;
	report_note(r,
		    "%s: stalls took %.1f %% of the run (%" PRIu64 " round trip%s took 10 x the "
		    "median or more, the longest %s), and percentiles count each once; for a "
		    "steady sender, use --latency_rate",
		    row_name(r, row, name, sizeof(name)), rec->stall_percent, rec->stalls,
		    rec->stalls == 1 ? "" : "s", longest.text);
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

/* True if REC's interval is unknown because the run was too short. */
static bool too_short(const struct record *rec)
{
	return isnan(rec->plus_minus.percent) && rec->plus_minus.unknown != INTERVAL_PHASES &&
	       rec->plus_minus.unknown != INTERVAL_EVENTS;
}

/* Say why the average of REC, the row NAME of ROWS rows, has no interval; what to do unless
 * ADVISED. */
static void note_unknown(const struct report *r, const struct record *rec, const char *name,
			 unsigned rows, bool advised)
{
	char why[128], use[32] = ""; /* what varies in so long a run varies in a longer one */

	if (too_short(rec)) /* note_too_short() says so */
		return;
	if (rec->seconds < LONG_S && !advised)
		snprintf(use, sizeof(use), "; use -D %.0f", fmax(1, round(LONGER * rec->seconds)));
	finding_words(why, sizeof(why),
		      finding_text(rec->plus_minus.unknown == INTERVAL_EVENTS ? UNSURE_EVENTS
									      : UNSURE_PHASES),
		      &(struct finding_facts){
			      .value = {FINDING_WORD("what", r->about.test->latency ? "latency"
										    : "rate")}});
	report_note(r, "± unknown%s%s: %s%s", rows > 1 ? " at " : "", rows > 1 ? name : "", why,
		    use);
}

/* "9270 MiB/s" or "3.2 us on average": REC's average, to the second digit of its ± PERCENT. */
static struct units_text rounded_text(const struct report *r, const struct record *rec,
				      double percent)
{
	struct units_text text;
	bool latency = r->about.test->latency, gbits = r->about.options->output.gbits;
	double value = latency ? rec->latency_mean_us
		       : gbits ? rec->bandwidth_gbps
			       : rec->bandwidth_gbps * 1e9 / 8 / 1048576;
	double unit = pow(10, fmax(-2, floor(log10(value * percent / 100)) - 1));

	snprintf(text.text, sizeof(text.text), "%.*f %s",
		 unit < 0.1 ? 2
		 : unit < 1 ? 1
			    : 0,
		 round(value / unit) * unit,
		 latency ? "us on average"
		 : gbits ? "Gb/s"
			 : "MiB/s");
	return text;
}

static void note_interval(const struct report *r, const struct record *rec)
{
	double percent = rec->plus_minus.percent;

	if (percent > 100)
		report_note(r, "the %s varied too much to give one average: ± more than 100 %%",
			    r->about.test->latency ? "latency" : "rate");
	else
		report_note(r, "%s ± %s %% (%g %%, %" PRIu64 " slices)",
			    rounded_text(r, rec, percent).text, unit_percent(percent).text,
			    INTERVAL_CONFIDENCE, rec->plus_minus.slices);
}

static void print_intervals(const struct report *r, bool advised)
{
	const struct intervals_shown *in = &r->notes.interval;
	double worst = in->worst.plus_minus.percent;

	if (in->rows && isnan(worst))
		note_unknown(r, &in->worst, in->worst_name, in->rows, advised);
	else if (in->rows == 1)
		note_interval(r, &in->worst);
	else if (in->rows)
		report_note(r, "averages ± %s to %s %% (%g %%), the widest at %s",
			    unit_percent(in->least_percent).text, unit_percent(worst).text,
			    INTERVAL_CONFIDENCE, in->worst_name);
}

/*
 * The share of its rate that RESULT's row lacks because its sender's clock runs while the pipe
 * fills: n messages take n - 1 gaps and the time of a lone one. 0: unknown, as with a full window,
 * whose messages complete together from the first on, and with a schedule, which has its own end.
 */
static double lost_to_fill(const struct result *result)
{
	const struct result_row *row = result->shown[0];
	const struct evidence *e = result->evidence ? &result->evidence[row->by] : NULL;
	double n = (double)row->record->messages, lost;

	if (!e || !row->explained || row->explained->limit.finding.is.code == LIMIT_WINDOW ||
	    e->schedule_share >= 0 || e->completion_us < e->alone_us || n < 2 ||
	    row->direction == RESULT_BOTH_WAYS)
		return 0;
	lost = 1 - n / (n - 1) * (1 - e->alone_us / 1e6 / row->record->seconds);
	return lost < 1 ? lost : 0;
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
	a->lost = fmax(a->lost, lost_to_fill(result));
	if (!a->fewest.messages || percentile_samples(rec) < percentile_samples(&a->fewest))
		a->fewest = *rec;
}

/* For how long the size was measured that was measured for the shortest time. */
static double shortest_s(const struct amount *a)
{
	return a->sizes > 1 ? fmin(a->shortest_s, a->size_s) : a->size_s;
}

/*
 * Append the names of the table's percentiles that REC has too few samples for to the list BUF.
 * Return how many times the samples are needed, for the rarest of them; 0: none is missing.
 */
static double add_missing_percentiles(const struct report *r, const struct record *rec, char *buf,
				      size_t size)
{
	struct columns all = columns_of(r, rec, false);
	double times = 0, samples = (double)percentile_samples(rec);

	if (!r->form->table || !r->about.test->latency)
		return 0; /* its columns are no percentiles */
	for (const struct column *c = all.column; c < all.column + all.count; c++) {
		enum percentile p = record_percentile(record_find(c->field));
		char name[PERCENTILE_NAME];

		if (percentile_known(rec, record_find(c->field)))
			continue;
		text_add(buf, size, "%s%s", buf[0] ? ", " : "",
			 p == PERCENTILE_P50 ? "the median" : percentile_name(p, name));
		times = fmax(times, samples > 0 ? (double)percentile_needs(p) / samples : LONGER);
	}
	return times;
}

/* S, of which no more than one digit is known. */
static double round_up(double s)
{
	double unit = pow(10, floor(log10(s)));

	return ceil(s / unit) * unit;
}

/*
 * Client: say, once for all rows, that the run was too short, for what, and what would do. Returns
 * true if it was.
 */
static bool note_too_short(const struct report *r)
{
	const struct amount *a = &r->notes.enough;
	const struct intervals_shown *in = &r->notes.interval;
	double s = shortest_s(a), times, longer = 1, use_s;
	bool unsure = in->rows && too_short(&in->worst);
	bool brief = s > 0 && s < SHORT_S && !r->about.test->calls;
	char lacks[160] = "", had[160] = "", low[64] = "", use[64];

	if (r->about.server || !a->sizes)
		return false;
	text_add(lacks, sizeof(lacks), "%s", unsure ? "± (uncertainty)" : "");
	times = add_missing_percentiles(r, &a->fewest, lacks, sizeof(lacks));
	if (!unsure && !brief && times == 0)
		return false;
	if (in->rows && isnan(in->worst.plus_minus.percent))
		longer = LONGER * in->worst.seconds;
	if (unsure && in->rows > 1)
		text_add(had, sizeof(had), "%s: ", in->worst_name);
	else if (a->sizes > 1)
		text_add(had, sizeof(had), "one row: ");
	text_add(had, sizeof(had), "%s",
		 units_about_ns(1e9 * (unsure ? in->worst.seconds : s)).text);
	if (times > 0)
		text_add(had, sizeof(had), ", %" PRIu64 " samples", percentile_samples(&a->fewest));
	if (a->lost >= 0.005)
		snprintf(low, sizeof(low), ", and %s %.0f %% low", a->sizes > 1 ? "up to" : "about",
			 100 * a->lost);
	use_s = round_up(fmax(1, fmax(longer, times * a->fewest.seconds)));
	snprintf(use, sizeof(use), "-D %.0f", use_s);
	if (a->sizes > 1 && !r->about.test->calls) /* whose rows are of one time */
		text_add(use, sizeof(use), ", %s for all rows",
			 units_about_ns(1e9 * use_s * (double)a->sizes).text);
	report_note(r, "too short (%s) for %s%s; use %s", had,
		    lacks[0] ? lacks : "an average that repeats", low, use);
	return true;
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
	print_intervals(r, note_too_short(r));
	explained_print(r, shortest_s(&r->notes.enough) < SHORT_S);
	notes_forget(r);
}

void notes_forget(struct report *r)
{
	free(r->notes.why);
	memset(&r->notes, 0, sizeof(r->notes));
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tables. Ours has perftest's columns in their order, which many scripts parse. perftest's own
 * is the same to the blank, since some scripts cut its lines at fixed columns.
 */
#include "report/report.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stat/series.h"
#include "base/terminal.h"

#define MARK      " !" /* after a disturbed row */
#define LABEL_GAP "   "

/* True if rows end with their direction. */
static bool rows_labelled(const struct report *r)
{
	const struct options *o = r->about.options;

	return r->table && o->output.both_rows && o->experiment.bidirectional;
}

/* True if rows end with their time: with --run_infinitely on a terminal, which no script parses. */
static bool rows_timed(const struct report *r)
{
	return r->table_on_terminal && r->about.options->experiment.run_infinitely &&
	       !r->about.latency;
}

/* The heads, without those of labels and times. */
static const char *table_heads(const struct report *r, char *buf, size_t size)
{
	const char *unit = r->about.options->output.gbits ? "Gb" : "MiB";

	if (r->about.latency && r->perftest && r->about.options->experiment.duration_ns)
		return " #bytes        #iterations       t_avg[usec]    tps average";
	if (r->about.latency)
		return " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    "
		       "t_avg[usec]    t_stdev[usec]   99% percentile[usec]   "
		       "99.9% percentile[usec] ";
	snprintf(buf, size,
		 " #bytes     #iterations    BW peak[%s/sec]    BW average[%s/sec]   "
		 "MsgRate[Mpps]%s",
		 unit, unit, r->about.options->output.cpu_util ? "    CPU_Util[%]" : "");
	return buf;
}

static void put_header(const struct report *r, FILE *out)
{
	char text[160];

	varied_columns(r, true, out);
	if (r->narrow)
		narrow_header(r, out);
	else
		fprintf(out, "%s", table_heads(r, text, sizeof(text)));
	fprintf(out, "%s%s\n", rows_labelled(r) ? LABEL_GAP "direction" : "",
		rows_timed(r) ? LABEL_GAP "time[s]" : "");
}

void table_fit(struct report *r)
{
	unsigned columns = terminal_columns(STDOUT_FILENO);
	unsigned around = (unsigned)strlen(MARK) + varied_width(r);
	char text[160];

	if (!r->table || !columns || options_given(r->about.options, "format"))
		return;
	r->table_on_terminal = true;
	if (rows_timed(r))
		around += (unsigned)strlen(LABEL_GAP "all 31622400.0");
	if (rows_labelled(r))
		around += (unsigned)strlen(LABEL_GAP "client_to_server");
	if (strlen(table_heads(r, text, sizeof(text))) + around > columns)
		narrow_choose(r, columns, around);
}

/* Print REC's columns, without label, time, mark and newline. */
static void put_row(const struct report *r, const struct record *rec, FILE *out)
{
	struct columns all = table_columns(r, rec, r->perftest);
	char text[64];

	if (!r->only)
		varied_columns(r, false, out);
	if (r->narrow) {
		narrow_row(r, rec, out);
		return;
	}
	for (const struct column *c = all.column; c < all.column + all.count; c++)
		fprintf(out, "%s%-*s", r->perftest ? c->perftest.gap : c->ours.gap,
			r->perftest ? c->perftest.width : c->ours.width,
			table_text(r, rec, c, text, sizeof(text)));
}

static void put_samples(const struct report *r, const double *samples_us, uint64_t n, FILE *out)
{
	double *sorted = malloc(n * sizeof(*sorted) + 1);

	fprintf(out, "#, usec\n");
	if (!sorted)
		return;
	memcpy(sorted, samples_us, n * sizeof(*sorted));
	if (!r->about.options->output.unsorted)
		series_sort(sorted, n);
	for (uint64_t i = 0; i < n; i++)
		fprintf(out, "%" PRIu64 ", %.6g\n", i + 1, sorted[i]);
	free(sorted);
}

/* With -b perftest prints a separate table for each end below the first one. */
static void end_table(const struct report *r, const char *whose, const struct result_row *end,
		      FILE *out)
{
	perftest_rule(out);
	fprintf(out, "\n %s results: \n", whose);
	perftest_rule(out);
	put_header(r, out);
	put_row(r, end->record, out);
	fprintf(out, "\n");
}

struct record perftest_record(const struct result *result, const struct result_row *shown)
{
	struct record rec = *shown->record;

	if (shown->by == RESULT_BOTH && result->local)
		rec.messages = result->local->record->messages;
	return rec;
}

bool perftest_splits(const struct report *r, const struct result *result)
{
	const struct options *o = r->about.options;

	return o->output.both_rows && !o->experiment.sweep && result->local && result->remote;
}

/*
 * True if --output requests a rate that REC does not have. A parser of perftest's form gets a
 * number.
 */
static bool lacks_number(const struct report *r, const struct record *rec)
{
	const struct output_options *o = &r->about.options->output;

	return r->only && o->only != ONLY_LATENCY && o->format != FORMAT_PERFTEST &&
	       !record_has_rate(rec);
}

void table_put(struct report *r, const struct result *result, const struct result_row *shown,
	       FILE *out)
{
	struct record rec = r->perftest ? perftest_record(result, shown) : *shown->record;

	r->last_cpu_percent = result->cpu_percent;
	if (!(r->table || r->perftest || r->only) || lacks_number(r, &rec) ||
	    !report_may_print(r, 1 + (result->samples_us ? rec.messages - rec.lost : 0)))
		return;
	if (!r->only && !r->header_done)
		put_header(r, out);
	if (r->perftest && result->samples_us) {
		put_samples(r, result->samples_us, rec.messages - rec.lost, out);
		perftest_rule(out);
		put_header(r, out);
	}
	put_row(r, &rec, out);
	if (rows_labelled(r) && result->shown[0]) /* an interval has no known direction */
		fprintf(out, LABEL_GAP "%s", result_direction_name(shown->direction));
	if (rows_timed(r))
		fprintf(out, LABEL_GAP "%s%.1f", r->row_ns ? "" : "all ",
			r->row_ns ? (double)r->row_ns / 1e9 : rec.seconds);
	/* The mark comes last, so that all other fields keep their positions. */
	fprintf(out, "%s\n", r->table && result_is_disturbed(shown) ? MARK : "");
	if (r->table && result->samples_us)
		put_samples(r, result->samples_us, rec.messages - rec.lost, out);
	if (r->perftest && perftest_splits(r, result)) {
		end_table(r, "Local", result->local, out);
		end_table(r, "Remote", result->remote, out);
	}
	fflush(out);
	if (r->table_has_intervals && !r->row_ns && !rows_timed(r))
		report_note(r, "the last row covers the whole run, %.1f s", rec.seconds);
}

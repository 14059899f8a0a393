// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Our table. It has perftest's columns in their order, which many scripts parse. On a terminal that
 * is too narrow for them it has fewer, under short heads: scripts read a pipe or a file.
 */
#include "report/report.h"

#include <string.h>
#include <unistd.h>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "plan/test.h"

#define MARK         " !" /* after a disturbed row */
#define LABEL_GAP    "   "
#define SIZE_COLUMNS 12 /* " 1023.99 KiB" */

/* A column after the size, on a narrow terminal. */
struct narrow {
	const char *head;
	struct column column;
	int width;
};

/* clang-format off */
static const struct narrow narrow_latency[] = {
	{"median[us]",  {"latency_p50_us",      AS_IS,     2}, 12},
	{"avg[us]",     {"latency_mean_us",     AS_IS,     2}, 11},
	{"p99[us]",     {"latency_p99_us",      AS_IS,     2}, 11},
	{"p99.9[us]",   {"latency_p99_9_us",    AS_IS,     2}, 11},
	{"max[us]",     {"latency_max_us",      AS_IS,     2}, 11},
	{NULL},
};
static const struct narrow narrow_bandwidth[] = {
	{"peak",        {"bandwidth_peak_gbps", BANDWIDTH, 2}, 13}, /* and its unit */
	{"average",     {"bandwidth_gbps",      BANDWIDTH, 2}, 16},
	{"Mpps",        {"messages_per_s",      MILLIONS,  6}, 13},
	{"CPU[%]",      {NULL,                  AS_IS,     2},  9}, /* with --cpu_util */
	{NULL},
};
/* clang-format on */

/* True if rows end with their direction. */
static bool rows_labelled(const struct report *r)
{
	const struct options *o = r->about.options;

	return o->output.both_rows && o->experiment.bidirectional;
}

/* Choose the columns if stdout is a terminal. */
static void fit(struct report *r)
{
	unsigned columns = terminal_columns(STDOUT_FILENO);
	unsigned around = (unsigned)strlen(MARK) + varied_width(r);
	struct table *t = &r->table;
	char text[160];

	t->has_intervals = false;
	if (rows_labelled(r))
		around += (unsigned)strlen(LABEL_GAP "client_to_server");
	t->narrow = columns && !options_given(r->about.options, "format") &&
		    !r->about.test->calls &&
		    strlen(columns_heads(r, text, sizeof(text))) + around > columns;
}

/* Put REC's columns; NULL: their heads. */
static void put_narrow(const struct report *r, const struct record *rec, FILE *out)
{
	const struct narrow *n = r->about.test->latency ? narrow_latency : narrow_bandwidth;
	char text[64];

	fprintf(out, " %-*s", SIZE_COLUMNS - 1, rec ? units_size(rec->message_bytes).text : "size");
	for (; n->head; n++) {
		if (!n->column.field && !r->about.options->output.cpu_util)
			continue;
		snprintf(text, sizeof(text), "%s", n->head);
		if (n->column.unit == BANDWIDTH)
			text_add(text, sizeof(text), "[%s]",
				 unit_name(r->about.options->output.gbits));
		if (rec)
			column_text(r, rec, &n->column, text, sizeof(text));
		fprintf(out, "%*s", n->width, text);
	}
}

static void put_header(struct report *r, FILE *out)
{
	char text[160];

	fit(r);
	varied_columns(r, true, out);
	if (r->table.narrow)
		put_narrow(r, NULL, out);
	else
		fprintf(out, "%s", columns_heads(r, text, sizeof(text)));
	fprintf(out, "%s\n", rows_labelled(r) ? LABEL_GAP "direction" : "");
}

static void table_row(struct report *r, const struct result *result, const struct result_row *shown,
		      FILE *out)
{
	const struct record *rec = shown->record;
	struct table *t = &r->table;
	bool interval = t->interval;

	if (!r->header_done)
		put_header(r, out);
	r->header_done = true;
	varied_columns(r, false, out);
	if (t->narrow)
		put_narrow(r, rec, out);
	else
		columns_put(r, rec, out);
	if (rows_labelled(r) && !interval) /* which has no known direction */
		fprintf(out, LABEL_GAP "%s", result_direction_name(shown->direction));
	/* The mark comes last, so that all other fields keep their positions. */
	terminal_put(out, TERMINAL_YELLOW, result_is_disturbed(shown) ? MARK : "");
	fputc('\n', out);
	if (result->samples_us)
		columns_samples(r, result, shown, out);
	if (t->has_intervals && !interval) {
		fflush(out);
		report_note(r, "the last row covers the whole run, %.1f s", rec->seconds);
	}
	t->has_intervals |= interval;
}

static const struct form form_table = {
	.table = true,
	.connected = banner_print,
	.row = table_row,
};

const struct form *table_form(void)
{
	return &form_table;
}

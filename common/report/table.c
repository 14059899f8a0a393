// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Our table. It has perftest's columns in their order, which many scripts parse. On a terminal that
 * is too narrow for them it has fewer, under short heads: scripts read a pipe or a file.
 */
#include "report/report.h"

#include <string.h>
#include <unistd.h>

#include "base/terminal.h"
#include "plan/test.h"

#define MARK         " !" /* after a disturbed row */
#define LABEL_GAP    "   "
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
	char text[COLUMNS_ROW];

	t->has_intervals = t->narrow = false;
	if (rows_labelled(r))
		around += (unsigned)strlen(LABEL_GAP "client_to_server");
	t->narrow = columns && !options_given(r->about.options, "format") &&
		    !r->about.test->calls &&
		    strlen(columns_row(r, NULL, text, sizeof(text))) + around > columns;
}

static void put_header(struct report *r, FILE *out)
{
	char text[COLUMNS_ROW];

	fit(r);
	varied_columns(r, true, out);
	fprintf(out, "%s%s\n", columns_row(r, NULL, text, sizeof(text)),
		rows_labelled(r) ? LABEL_GAP "direction" : "");
}

static void table_row(struct report *r, const struct result *result, const struct result_row *shown,
		      FILE *out)
{
	const struct record *rec = shown->record;
	struct table *t = &r->table;
	bool interval = t->interval;
	char text[COLUMNS_ROW];

	if (!r->header_done)
		put_header(r, out);
	r->header_done = true;
	varied_columns(r, false, out);
	fprintf(out, "%s", columns_row(r, rec, text, sizeof(text)));
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

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Print which experiment of a sweep a row belongs to, in the table, the CSV and the document. */
#include <string.h>

#include "cli/sweep.h"
#include "report/report.h"

#define COLUMN_LEAST 8

/* True if a varied option needs a column: the message size always has one. */
static bool has_column(const struct option_row *row)
{
	return row->field != offsetof(struct options, experiment.size_bytes);
}

static unsigned option_width(const struct options *o, const struct sweep_axis *a)
{
	size_t n = strlen(a->row->name), most = n < COLUMN_LEAST ? COLUMN_LEAST : n;

	for (unsigned i = 0; a->row->kind == OPTION_LIST && i < a->count; i++) {
		n = strcspn(o->local.gpu.list + a->value[i], ",");
		most = n < most ? most : n;
	}
	return (unsigned)most;
}

unsigned varied_width(const struct report *r)
{
	const struct sweep *s = &r->about.options->sweep;
	unsigned sum = 0;

	for (unsigned i = 0; i < s->axes; i++)
		if (has_column(s->axis[i].row))
			sum += option_width(r->about.options, &s->axis[i]) + 3;
	return sum;
}

void varied_columns(const struct report *r, bool header, FILE *out)
{
	const struct options *o = r->about.options;
	char text[64];

	for (unsigned i = 0; i < o->sweep.axes; i++) {
		const struct option_row *row = o->sweep.axis[i].row;

		if (has_column(row))
			fprintf(out, " %-*s  ", (int)option_width(o, &o->sweep.axis[i]),
				header ? row->name : sweep_value(o, row, text, sizeof(text)));
	}
}

void varied_csv(const struct report *r, FILE *out)
{
	const struct sweep *s = &r->about.options->sweep;
	char text[64];

	for (unsigned i = 0; i < s->axes; i++)
		fprintf(out, "%s%s=%s", i ? " " : "", s->axis[i].row->name,
			sweep_value(r->about.options, s->axis[i].row, text, sizeof(text)));
}

json_t *varied_json(const struct report *r, json_t *to)
{
	json_t *varied = experiment_varied(r->about.options);

	if (varied)
		json_object_set_new(to, "varied", varied);
	return to;
}

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

static const char *varied_value(const struct report *r, const struct option_row *row, char *buf,
				size_t size)
{
	uint64_t *value = options_number((struct options *)(uintptr_t)r->about.options, row);

	return sweep_word(row, *value, buf, size);
}

static unsigned option_width(const struct option_row *row)
{
	size_t n = strlen(row->name);

	return n < COLUMN_LEAST ? COLUMN_LEAST : (unsigned)n;
}

unsigned varied_width(const struct report *r)
{
	const struct sweep *s = &r->about.options->sweep;
	unsigned sum = 0;

	for (unsigned i = 0; i < s->axes; i++)
		if (has_column(s->axis[i].row))
			sum += option_width(s->axis[i].row) + 3;
	return sum;
}

void varied_columns(const struct report *r, bool header, FILE *out)
{
	const struct sweep *s = &r->about.options->sweep;
	char text[64];

	for (unsigned i = 0; i < s->axes; i++) {
		const struct option_row *row = s->axis[i].row;

		if (has_column(row))
			fprintf(out, " %-*s  ", (int)option_width(row),
				header ? row->name : varied_value(r, row, text, sizeof(text)));
	}
}

void varied_csv(const struct report *r, FILE *out)
{
	const struct sweep *s = &r->about.options->sweep;
	char text[64];

	for (unsigned i = 0; i < s->axes; i++)
		fprintf(out, "%s%s=%s", i ? " " : "", s->axis[i].row->name,
			varied_value(r, s->axis[i].row, text, sizeof(text)));
}

json_t *varied_json(const struct report *r, json_t *to)
{
	json_t *varied = experiment_varied(r->about.options);

	if (varied)
		json_object_set_new(to, "varied", varied);
	return to;
}

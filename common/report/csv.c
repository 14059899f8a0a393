// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/forms.h"

void csv_header(FILE *out)
{
	size_t n;
	const struct record_field *field = record_fields(&n);

	fprintf(out, "test,measured_by");
	for (size_t i = 0; i < n; i++)
		fprintf(out, ",%s", field[i].name);
	fprintf(out, "\n");
}

void csv_row(const struct report *r, const struct record *rec, const char *measured_by, FILE *out)
{
	size_t n;
	const struct record_field *field = record_fields(&n);
	char text[40];

	fprintf(out, "%s,%s", r->about.test, measured_by);
	for (size_t i = 0; i < n; i++)
		fprintf(out, ",%s", record_format(rec, &field[i], text, sizeof(text)));
	fprintf(out, "\n");
}

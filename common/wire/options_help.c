// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* options_help(): what --help prints. */
#include "wire/options.h"

#include <string.h>

static void help_row(FILE *out, const struct option_row *row, const struct options *defaults)
{
	char left[64], value[32] = "";
	size_t n;

	n = (size_t)snprintf(left, sizeof(left), row->letter ? "-%c, " : "    ", row->letter);
	n += (size_t)snprintf(left + n, sizeof(left) - n, "--%s", row->name);
	if (row->kind == OPTION_FILE || row->kind == OPTION_INDEX)
		snprintf(left + n, sizeof(left) - n, "[=<%s>]", row->value);
	else if (row->value)
		snprintf(left + n, sizeof(left) - n, "=<%s>", row->value);
	if (row->kind != OPTION_FLAG && row->kind != OPTION_TEXT && row->kind != OPTION_FILE) {
		uint64_t v = *options_number((struct options *)defaults, row);

		if (v || row->kind == OPTION_NUMBER)
			options_format_value(row, v, value, sizeof(value));
	}
	fprintf(out, "  %-34s %s", left, row->help);
	fprintf(out, value[0] && strcmp(value, "auto") != 0 ? " (%s)\n" : "\n", value);
}

void options_help(FILE *out, const char *program, const char *summary,
		  const struct options *defaults)
{
	static const char *const title[] = {"Experiment (the client decides, the server adopts)",
					    "This end", "Output"};
	size_t rows;
	const struct option_row *table = options_table(&rows);

	fprintf(out, "%s: %s\n\n", program, summary);
	fprintf(out, "  %s [OPTION...]          serve one client\n", program);
	fprintf(out, "  %s [OPTION...] HOST     be the client of the server on HOST\n", program);
	for (unsigned scope = SCOPE_EXPERIMENT; scope <= SCOPE_OUTPUT; scope++) {
		fprintf(out, "\n%s:\n", title[scope]);
		for (size_t i = 0; i < rows; i++)
			if (table[i].scope == scope && options_has(&table[i], defaults->test))
				help_row(out, &table[i], defaults);
	}
	fprintf(out,
		"\nSizes take k m g (1024-based), times take ms s m h. See %s(1) and rdmark(7).\n",
		program);
}

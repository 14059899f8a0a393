// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table on a terminal that is too narrow for it: the columns that fit, under short heads. No
 * script parses it: scripts read a pipe or a file, or use --format.
 */
#include "report/report.h"
#include "report/table.h"

#include <inttypes.h>

#include "base/text.h"
#include "base/units.h"
#include "base/unit.h"

#define SIZE_COLUMNS 12 /* " 1023.99 KiB" */
#define LEAST        40 /* terminal columns for any table at all */

/* A column after the size. If not all fit, those of the highest rank are omitted first. */
struct narrow {
	const char *head;
	struct column column;
	int width;
	unsigned rank;
};

/* clang-format off */
static const struct narrow latency[] = {
	{"messages",    {"messages",            AS_IS,     0}, 10, 4},
	{"min[us]",     {"latency_min_us",      AS_IS,     2}, 11, 5},
	{"median[us]",  {"latency_p50_us",      AS_IS,     2}, 12, 0},
	{"avg[us]",     {"latency_mean_us",     AS_IS,     2}, 11, 2},
	{"stdev[us]",   {"latency_stdev_us",    AS_IS,     2}, 11, 6},
	{"p99[us]",     {"latency_p99_us",      AS_IS,     2}, 11, 0},
	{"p99.9[us]",   {"latency_p99_9_us",    AS_IS,     2}, 11, 3},
	{"max[us]",     {"latency_max_us",      AS_IS,     2}, 11, 1},
	{NULL},
};
static const struct narrow bandwidth[] = {
	{"messages",    {"messages",            AS_IS,     0}, 11, 3},
	{"peak",        {"bandwidth_peak_gbps", BANDWIDTH, 2}, 13, 2}, /* and its unit */
	{"average",     {"bandwidth_gbps",      BANDWIDTH, 2}, 16, 0},
	{"Mpps",        {"messages_per_s",      MILLIONS,  6}, 13, 1},
	{"CPU[%]",      {NULL,                  AS_IS,     2},  9, 4}, /* with --cpu_util */
	{NULL},
};
#define RANKS 6
/* clang-format on */

/* The column after N (NULL: the first one) with at most RANK; NULL: there are no more. */
static const struct narrow *next_column(const struct report *r, const struct narrow *n,
					unsigned rank)
{
	n = n ? n + 1 : r->about.latency ? latency : bandwidth;
	while (n->head && (n->rank > rank ||
			   (!n->column.field && !r->about.options->output.cpu_util)))
		n++;
	return n->head ? n : NULL;
}

void narrow_choose(struct report *r, unsigned columns, unsigned around)
{
	unsigned width = 0;

	r->narrow = columns >= LEAST;
	for (r->narrow_rank = RANKS; r->narrow && r->narrow_rank; r->narrow_rank--) {
		width = SIZE_COLUMNS + around;
		for (const struct narrow *n = NULL; (n = next_column(r, n, r->narrow_rank));)
			width += (unsigned)n->width;
		if (width <= columns)
			return;
	}
}

void narrow_header(const struct report *r, FILE *out)
{
	char head[32];

	fprintf(out, " %-*s", SIZE_COLUMNS - 1, "size");
	for (const struct narrow *n = NULL; (n = next_column(r, n, r->narrow_rank));) {
		snprintf(head, sizeof(head), "%s", n->head);
		if (n->column.unit == BANDWIDTH)
			text_add(head, sizeof(head), "[%s]",
				 unit_name(r->about.options->output.gbits));
		fprintf(out, "%*s", n->width, head);
	}
}

void narrow_row(const struct report *r, const struct record *rec, FILE *out)
{
	char text[64];

	fprintf(out, " %-*s", SIZE_COLUMNS - 1, units_size(rec->message_bytes).text);
	for (const struct narrow *n = NULL; (n = next_column(r, n, r->narrow_rank));)
		fprintf(out, "%*s", n->width,
			table_text(r, rec, &n->column, text, sizeof(text)));
}

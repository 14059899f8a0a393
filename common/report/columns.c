// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The columns of the tables and of perftest's JSON document, and their values. */
#include "report/report.h"
#include "report/table.h"

#include "base/text.h"
#include "base/units.h"
#include "cli/percentile.h"

/* Below this our tables print rates with more digits; perftest's does only in Gb/s. */
#define SMALL          0.1
#define SMALL_DECIMALS 6

/* clang-format off */
static const struct column latency[] = {
	/* field                unit  decimals  in ours       in perftest's         in its JSON */
	{"message_bytes",       AS_IS,     0, {" ", 7},     {" ", 7},             "MsgSize"},
	{"messages",            AS_IS,     0, {"    ", 10}, {" ", 0},             "n_iterations"},
	{"latency_min_us",      AS_IS,     2, {" ", 11},    {"          ", 7},    "t_min"},
	{"latency_max_us",      AS_IS,     2, {"    ", 11}, {"        ", 7},      "t_max"},
	{"latency_p50_us",      AS_IS,     2, {"  ", 15},   {"      ", 7},        "t_typical"},
	{"latency_mean_us",     AS_IS,     2, {"    ", 11}, {"  \t       ", 7},   "t_avg"},
	{"latency_stdev_us",    AS_IS,     2, {"    ", 13}, {"     \t", 7},       "t_stdev"},
	{"latency_p99_us",      AS_IS,     2, {"   ", 20},  {"\t\t", 7},          "percentile_99"},
	{"latency_p99_9_us",    AS_IS,     2, {"   ", 0},   {" \t\t", 7},         "percentile_99.9"},
};

/* With --duration; only in perftest's format. */
static const struct column latency_timed[] = {
	{"message_bytes",       AS_IS,     0, {""},         {" ", 7},             "MsgSize"},
	{"messages",            AS_IS,     0, {""},         {"       ", 0},       "n_iterations"},
	{"latency_mean_us",     AS_IS,     2, {""},         {"            ", 7},  "t_avg"},
	{"messages_per_s",      AS_IS,     2, {""},         {"        ", 7},      "tps_average"},
};

static const struct column bandwidth[] = {
	{"message_bytes",       AS_IS,     0, {" ", 7},     {" ", 7},             "MsgSize"},
	{"messages",            AS_IS,     0, {"    ", 10}, {"    ", 10},         "n_iterations"},
	{"bandwidth_peak_gbps", BANDWIDTH, 2, {"     ", 16},{"       ", 7},       "BW_peak"},
	{"bandwidth_gbps",      BANDWIDTH, 2, {"    ", 19}, {"            ", 7},  "BW_average"},
	{"messages_per_s",      MILLIONS,  6, {"   ", 0},   {"\t\t     ", 7},     "MsgRate"},
	{NULL,                  AS_IS,     2, {"        "}, {"\t    ", 3},        "CPU_util"},
};

/* For rates below 0.1 Gb/s in Gb/s; only in perftest's format. */
static const struct column bandwidth_small[] = {
	{"message_bytes",       AS_IS,     0, {""},         {" ", 7},             "MsgSize"},
	{"messages",            AS_IS,     0, {""},         {"    ", 10},         "n_iterations"},
	{"bandwidth_peak_gbps", BANDWIDTH, 6, {""},         {"     ", 7},         "BW_peak"},
	{"bandwidth_gbps",      BANDWIDTH, 6, {""},         {"            ", 7},  "BW_average"},
	{"messages_per_s",      MILLIONS,  6, {""},         {"            ", 7},  "MsgRate"},
	{NULL,                  AS_IS,     2, {""},         {"\t    ", 3},        "CPU_util"},
};

/* With --output: one number. */
static const struct column only[] = {
	[ONLY_BANDWIDTH] =    {"bandwidth_gbps",  BANDWIDTH, 6, {""}, {""}, "bw_avg"},
	[ONLY_LATENCY] =      {"latency_mean_us", AS_IS,     6, {""}, {""}, "avg_lat"},
	[ONLY_MESSAGE_RATE] = {"messages_per_s",  MILLIONS,  6, {""}, {""}, "msgRate_avg"},
};
static const struct column only_timed =
	                      {"latency_mean_us", AS_IS,     6, {""}, {""}, "t_avg"};
/* clang-format on */

#define COLUMNS(table) (struct columns){table, sizeof(table) / sizeof((table)[0])}

struct columns table_columns(const struct report *r, const struct record *rec, bool perftest)
{
	const struct output_options *o = &r->about.options->output;
	bool timed = perftest && r->about.options->experiment.duration_ns;
	struct columns all;

	if (o->only == ONLY_LATENCY && timed)
		return (struct columns){&only_timed, 1};
	if (o->only)
		return (struct columns){&only[o->only], 1};
	if (r->about.latency)
		return timed ? COLUMNS(latency_timed) : COLUMNS(latency);
	all = perftest && o->gbits && rec->bandwidth_gbps < SMALL ? COLUMNS(bandwidth_small)
								  : COLUMNS(bandwidth);
	all.count -= !o->cpu_util;
	return all;
}

double table_value(const struct report *r, const struct record *rec, const struct column *c)
{
	double v = c->field ? record_value(rec, record_find(c->field)) : r->last_cpu_percent;

	if (c->unit == BANDWIDTH)
		return unit_of(r->about.options->output.gbits, v);
	return c->unit == MILLIONS ? v / 1e6 : v;
}

/* In our tables a rate that is not 0 never looks as if it were. */
static int decimals(const struct report *r, const struct column *c, double value)
{
	bool small = c->unit == BANDWIDTH && value > 0 && value < SMALL;

	return small && !r->perftest ? SMALL_DECIMALS : c->decimals;
}

const char *table_text(const struct report *r, const struct record *rec, const struct column *c,
		       char *buf, size_t size)
{
	double value = table_value(r, rec, c);
	bool known = (c->unit == AS_IS || record_has_rate(rec)) &&
		     (!c->field || percentile_known(rec, c->field));

	/* perftest always prints a number, and its readers rely on that; --output has no other text */
	if (r->perftest || r->only || known)
		snprintf(buf, size, "%.*f", decimals(r, c, value), value);
	else
		snprintf(buf, size, "-");
	return buf;
}

/*
 * The table on a terminal that is too narrow for the whole one: the columns that fit, under short
 * heads. No script parses it: scripts read a pipe or a file, or use --format.
 */
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
static const struct narrow narrow_latency[] = {
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
static const struct narrow narrow_bandwidth[] = {
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
	n = n ? n + 1 : r->about.latency ? narrow_latency : narrow_bandwidth;
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

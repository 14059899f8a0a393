// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The columns of the forms and of perftest's JSON document, and their values. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "plan/test.h"
#include "stat/series.h"

/* Below this our tables print rates with more digits; perftest's does only in Gb/s. */
#define SMALL          0.1
#define SMALL_DECIMALS 6

/* clang-format off */
static const struct column latency[] = {
	/* field                unit  decimals  in ours        in perftest's         in its JSON        head */
	{"message_bytes",       AS_IS,     0, {" ", -7},     {" ", -7},            "MsgSize",         " #bytes"},
	{"messages",            AS_IS,     0, {"    ", -10}, {" ", 0},             "n_iterations",    " #iterations"},
	{"latency_min_us",      AS_IS,     2, {" ", -11},    {"          ", -7},   "t_min",           "    t_min[usec]"},
	{"latency_max_us",      AS_IS,     2, {"    ", -11}, {"        ", -7},     "t_max",           "    t_max[usec]"},
	{"latency_p50_us",      AS_IS,     2, {"  ", -15},   {"      ", -7},       "t_typical",       "  t_typical[usec]"},
	{"latency_mean_us",     AS_IS,     2, {"    ", -11}, {"  \t       ", -7},  "t_avg",           "    t_avg[usec]"},
	{"latency_stdev_us",    AS_IS,     2, {"    ", -13}, {"     \t", -7},      "t_stdev",         "    t_stdev[usec]"},
	{"latency_p99_us",      AS_IS,     2, {"   ", -20},  {"\t\t", -7},         "percentile_99",   "   99% percentile[usec]"},
	{"latency_p99_9_us",    AS_IS,     2, {"   ", 0},    {" \t\t", -7},        "percentile_99.9", "   99.9% percentile[usec] "},
};

/* Of a test that times calls, with a size or without one. */
#define OF_CALLS \
	{"messages",            AS_IS,     0, {" ", -9},  .head = " #calls   "},  \
	{"step",                AS_IS,     0, {" ", -10}, .head = " call      "}, \
	{"latency_p50_us",      AS_IS,     2, {" ", -10}, .head = " median[us]"}, \
	{"latency_mean_us",     AS_IS,     2, {" ", -9},  .head = " avg[us]  "},  \
	{"latency_p99_us",      AS_IS,     2, {" ", -9},  .head = " p99[us]  "},  \
	{"latency_max_us",      AS_IS,     2, {" ", -9},  .head = " max[us]  "}
static const struct column calls[] = {
	{"message_bytes",       AS_IS,     0, {" ", -8},  .head = " #bytes  "},
	OF_CALLS,
	{"bandwidth_gbps",      BANDWIDTH, 2, {" ", 0},   .head = " ", .unit_end = "/s"},
};
static const struct column connections[] = {
	OF_CALLS,
	{"messages_per_s",      AS_IS,     1, {" ", 0},   .head = " calls/s"},
};

/* With --duration; only in perftest's format. */
static const struct column latency_timed[] = {
	{"message_bytes",       AS_IS,     0, {""},          {" ", -7},            "MsgSize",         " #bytes"},
	{"messages",            AS_IS,     0, {""},          {"       ", 0},       "n_iterations",    "        #iterations"},
	{"latency_mean_us",     AS_IS,     2, {""},          {"            ", -7}, "t_avg",           "       t_avg[usec]"},
	{"messages_per_s",      AS_IS,     2, {""},          {"        ", -7},     "tps_average",     "    tps average"},
};

static const struct column bandwidth[] = {
	{"message_bytes",       AS_IS,     0, {" ", -7},     {" ", -7},            "MsgSize",         " #bytes"},
	{"messages",            AS_IS,     0, {"    ", -10}, {"    ", -10},        "n_iterations",    "     #iterations"},
	{"bandwidth_peak_gbps", BANDWIDTH, 2, {"     ", -16},{"       ", -7},      "BW_peak",         "    BW peak[", "/sec]"},
	{"bandwidth_gbps",      BANDWIDTH, 2, {"    ", -19}, {"            ", -7}, "BW_average",      "    BW average[", "/sec]"},
	{"messages_per_s",      MILLIONS,  6, {"   ", 0},    {"\t\t     ", -7},    "MsgRate",         "   MsgRate[Mpps]"},
	{NULL,                  AS_IS,     2, {"        "},  {"\t    ", -3},       "CPU_util",        "    CPU_Util[%]"},
};

/* For rates below 0.1 Gb/s in Gb/s, below the heads of the others; only in perftest's format. */
static const struct column bandwidth_small[] = {
	{"message_bytes",       AS_IS,     0, {""},          {" ", -7},            "MsgSize"},
	{"messages",            AS_IS,     0, {""},          {"    ", -10},        "n_iterations"},
	{"bandwidth_peak_gbps", BANDWIDTH, 6, {""},          {"     ", -7},        "BW_peak"},
	{"bandwidth_gbps",      BANDWIDTH, 6, {""},          {"            ", -7}, "BW_average"},
	{"messages_per_s",      MILLIONS,  6, {""},          {"            ", -7}, "MsgRate"},
	{NULL,                  AS_IS,     2, {""},          {"\t    ", -3},       "CPU_util"},
};

/* On a narrow terminal. */
static const struct column narrow_latency[] = {
	{"message_bytes",       SIZE,      0, {" ", -11}, .head = "size"}, /* "1023.99 KiB" */
	{"latency_p50_us",      AS_IS,     2, {"", 12},   .head = "median[us]"},
	{"latency_mean_us",     AS_IS,     2, {"", 11},   .head = "avg[us]"},
	{"latency_p99_us",      AS_IS,     2, {"", 11},   .head = "p99[us]"},
	{"latency_p99_9_us",    AS_IS,     2, {"", 11},   .head = "p99.9[us]"},
	{"latency_max_us",      AS_IS,     2, {"", 11},   .head = "max[us]"},
};
static const struct column narrow_bandwidth[] = {
	{"message_bytes",       SIZE,      0, {" ", -11}, .head = "size"},
	{"bandwidth_peak_gbps", BANDWIDTH, 2, {"", 13},   .head = "peak[", .unit_end = "/s]"},
	{"bandwidth_gbps",      BANDWIDTH, 2, {"", 16},   .head = "average[", .unit_end = "/s]"},
	{"messages_per_s",      MILLIONS,  6, {"", 13},   .head = "Mpps"},
	{NULL,                  AS_IS,     2, {"", 9},    .head = "CPU[%]"},
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

#define COLUMNS(table)                                    \
	(struct columns)                                  \
	{                                                 \
		table, sizeof(table) / sizeof((table)[0]) \
	}

/* Of a bandwidth test, the last column is with --cpu_util alone. */
static struct columns with_cpu(const struct report *r, struct columns all)
{
	all.count -= !r->about.options->output.cpu_util;
	return all;
}

struct columns columns_of(const struct report *r, const struct record *rec, bool perftest)
{
	const struct output_options *o = &r->about.options->output;
	bool timed = perftest && r->about.options->experiment.duration_ns;
	bool narrow = r->table.narrow && !perftest;

	if (o->only)
		return (struct columns){
			o->only == ONLY_LATENCY && timed ? &only_timed : &only[o->only], 1};
	if (r->about.test->calls & TRAIT_CONNECTS)
		return COLUMNS(connections);
	if (r->about.test->calls)
		return COLUMNS(calls);
	if (r->about.test->latency)
		return narrow  ? COLUMNS(narrow_latency)
		       : timed ? COLUMNS(latency_timed)
			       : COLUMNS(latency);
	return with_cpu(r, narrow ? COLUMNS(narrow_bandwidth)
			   : perftest && o->gbits && rec && rec->bandwidth_gbps < SMALL
				   ? COLUMNS(bandwidth_small)
				   : COLUMNS(bandwidth));
}

/* The head of C with its unit. */
static const char *head_text(const struct report *r, const struct column *c, char *buf, size_t size)
{
	const char *unit = r->about.options->output.gbits ? "Gb" : "MiB";
	bool rate = c->unit == BANDWIDTH;

	snprintf(buf, size, "%s%s%s", c->head, rate ? unit : "", rate ? c->unit_end : "");
	return buf;
}

double column_value(const struct report *r, const struct record *rec, const struct column *c)
{
	double v = c->field ? record_value(rec, record_find(c->field)) : r->last_cpu_percent;

	if (c->unit == BANDWIDTH)
		return unit_of(r->about.options->output.gbits, v);
	return c->unit == MILLIONS ? v / 1e6 : v;
}

static const char *column_text(const struct report *r, const struct record *rec,
			       const struct column *c, char *buf, size_t size)
{
	double value = column_value(r, rec, c);
	bool known = (c->unit <= SIZE || record_has_rate(rec)) &&
		     (!c->field || percentile_known(rec, record_find(c->field))) &&
		     (value > 0 || !c->field || strcmp(c->field, "bandwidth_peak_gbps") != 0);
	bool perftest = r->form->perftest;
	/* In our tables a rate that is not 0 never looks as if it were. */
	bool small = !perftest && c->unit == BANDWIDTH && value > 0 && value < SMALL;

	/* perftest always prints a number, and its readers rely on that; --output has no other text
	 */
	if (c->unit == SIZE)
		snprintf(buf, size, "%s", units_size(rec->message_bytes).text);
	else if (c->field && strcmp(c->field, "step") == 0)
		record_format(rec, record_find(c->field), buf, size);
	else if (perftest || r->form->number || known)
		snprintf(buf, size, "%.*f", small ? SMALL_DECIMALS : c->decimals, value);
	else
		snprintf(buf, size, "-");
	return buf;
}

const char *columns_row(const struct report *r, const struct record *rec, char *buf, size_t size)
{
	bool perftest = r->form->perftest;
	struct columns all = columns_of(r, rec, perftest);
	bool whole = !rec && !r->table.narrow; /* the heads have their gaps */
	char text[64];

	buf[0] = '\0';
	for (const struct column *c = all.column; c < all.column + all.count; c++)
		text_add(buf, size, "%s%*s", whole ? "" : perftest ? c->perftest.gap : c->ours.gap,
			 whole ? 0 : perftest ? c->perftest.width : c->ours.width,
			 rec ? column_text(r, rec, c, text, sizeof(text))
			     : head_text(r, c, text, sizeof(text)));
	return buf;
}

void columns_samples(const struct report *r, const struct result *result,
		     const struct result_row *shown, FILE *out)
{
	uint64_t n = shown->record->messages - shown->record->lost;
	double *sorted = malloc(n * sizeof(*sorted) + 1);

	fprintf(out, "#, usec\n");
	if (!sorted)
		return;
	memcpy(sorted, result->samples_us, n * sizeof(*sorted));
	if (!r->about.options->output.unsorted)
		series_sort(sorted, n);
	for (uint64_t i = 0; i < n; i++)
		fprintf(out, "%" PRIu64 ", %.6g\n", i + 1, sorted[i]);
	free(sorted);
}

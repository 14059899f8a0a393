// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The columns of the forms and of perftest's JSON document, and their values. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "plan/test.h"
#include "stat/series.h"

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

/* Of a test that times calls. */
static const struct column calls[] = {
	{"message_bytes",       AS_IS,     0, {" ", 8}},
	{"messages",            AS_IS,     0, {" ", 9}},
	{"step",                AS_IS,     0, {" ", 10}},
	{"latency_p50_us",      AS_IS,     2, {" ", 10}},
	{"latency_mean_us",     AS_IS,     2, {" ", 9}},
	{"latency_p99_us",      AS_IS,     2, {" ", 9}},
	{"latency_max_us",      AS_IS,     2, {" ", 9}},
	{"bandwidth_gbps",      BANDWIDTH, 2, {" ", 0}},
};

/* The same, of one whose calls have no size. */
static const struct column connections[] = {
	{"messages",            AS_IS,     0, {" ", 9}},
	{"step",                AS_IS,     0, {" ", 10}},
	{"latency_p50_us",      AS_IS,     2, {" ", 10}},
	{"latency_mean_us",     AS_IS,     2, {" ", 9}},
	{"latency_p99_us",      AS_IS,     2, {" ", 9}},
	{"latency_max_us",      AS_IS,     2, {" ", 9}},
	{"messages_per_s",      AS_IS,     1, {" ", 0}},
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

#define COLUMNS(table)                                    \
	(struct columns)                                  \
	{                                                 \
		table, sizeof(table) / sizeof((table)[0]) \
	}

struct columns columns_of(const struct report *r, const struct record *rec, bool perftest)
{
	const struct output_options *o = &r->about.options->output;
	bool timed = perftest && r->about.options->experiment.duration_ns;
	struct columns all;

	if (o->only)
		return (struct columns){
			o->only == ONLY_LATENCY && timed ? &only_timed : &only[o->only], 1};
	if (r->about.test->calls & TRAIT_CONNECTS)
		return COLUMNS(connections);
	if (r->about.test->calls)
		return COLUMNS(calls);
	if (r->about.test->latency)
		return timed ? COLUMNS(latency_timed) : COLUMNS(latency);
	all = perftest && o->gbits && rec->bandwidth_gbps < SMALL ? COLUMNS(bandwidth_small)
								  : COLUMNS(bandwidth);
	all.count -= !o->cpu_util;
	return all;
}

const char *columns_heads(const struct report *r, char *buf, size_t size)
{
	const char *unit = r->about.options->output.gbits ? "Gb" : "MiB";

	if (r->about.test->calls & TRAIT_CONNECTS)
		return " #calls    call       median[us] avg[us]   p99[us]   max[us]   calls/s";
	if (r->about.test->calls) {
		snprintf(buf, size,
			 " #bytes   #calls    call       median[us] avg[us]   p99[us]   max[us]   %s/s",
			 unit);
		return buf;
	}
	if (r->about.test->latency && r->form->perftest && r->about.options->experiment.duration_ns)
		return " #bytes        #iterations       t_avg[usec]    tps average";
	if (r->about.test->latency)
		return " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    "
		       "t_avg[usec]    t_stdev[usec]   99% percentile[usec]   "
		       "99.9% percentile[usec] ";
	snprintf(buf, size,
		 " #bytes     #iterations    BW peak[%s/sec]    BW average[%s/sec]   "
		 "MsgRate[Mpps]%s",
		 unit, unit, r->about.options->output.cpu_util ? "    CPU_Util[%]" : "");
	return buf;
}

double column_value(const struct report *r, const struct record *rec, const struct column *c)
{
	double v = c->field ? record_value(rec, record_find(c->field)) : r->last_cpu_percent;

	if (c->unit == BANDWIDTH)
		return unit_of(r->about.options->output.gbits, v);
	return c->unit == MILLIONS ? v / 1e6 : v;
}

const char *column_text(const struct report *r, const struct record *rec, const struct column *c,
			char *buf, size_t size)
{
	double value = column_value(r, rec, c);
	bool known = (c->unit == AS_IS || record_has_rate(rec)) &&
		     (!c->field || percentile_known(rec, record_find(c->field))) &&
		     (value > 0 || !c->field || strcmp(c->field, "bandwidth_peak_gbps") != 0);
	bool perftest = r->form->perftest;
	/* In our tables a rate that is not 0 never looks as if it were. */
	bool small = !perftest && c->unit == BANDWIDTH && value > 0 && value < SMALL;

	/* perftest always prints a number, and its readers rely on that; --output has no other text
	 */
	if (c->field && strcmp(c->field, "step") == 0)
		record_format(rec, record_find(c->field), buf, size);
	else if (perftest || r->form->number || known)
		snprintf(buf, size, "%.*f", small ? SMALL_DECIMALS : c->decimals, value);
	else
		snprintf(buf, size, "-");
	return buf;
}

void columns_put(const struct report *r, const struct record *rec, FILE *out)
{
	bool perftest = r->form->perftest;
	struct columns all = columns_of(r, rec, perftest);
	char text[64];

	for (const struct column *c = all.column; c < all.column + all.count; c++)
		fprintf(out, "%s%-*s", perftest ? c->perftest.gap : c->ours.gap,
			perftest ? c->perftest.width : c->ours.width,
			column_text(r, rec, c, text, sizeof(text)));
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

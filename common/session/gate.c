// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/gate.h"

#include <string.h>

#include "base/units.h"

#define MIB_GBPS (1048576 * 8 / 1e9) /* MiB/s in Gb/s */

/* What --max-lat may name. */
static const struct {
	const char *name, *field;
} latencies[] = {
	{"mean", "latency_mean_us"},     {"min", "latency_min_us"}, {"p50", "latency_p50_us"},
	{"p90", "latency_p90_us"},       {"p99", "latency_p99_us"}, {"p99.9", "latency_p99_9_us"},
	{"p99.99", "latency_p99_99_us"}, {"max", "latency_max_us"}, {"stdev", "latency_stdev_us"},
};

static int refuse(const char *option, const char *text, struct fault *f)
{
	return fault_raise(f, FAULT_USAGE, 0, "option %s: '%.40s' is not possible", option, text);
}

static int add(struct gates *g, const struct gate *gate, struct fault *f)
{
	if (g->count == GATES_MAX) {
		fault_raise(f, FAULT_USAGE, 0, "option %s: too many thresholds", gate->option);
		return fault_fix(f, "at most %d", GATES_MAX);
	}
	g->gate[g->count++] = *gate;
	return 0;
}

static int read_min_bw(struct gates *g, const char *text, struct fault *f)
{
	struct gate gate = {
		.option = "--min-bw",
		.what = "bandwidth",
		.field = record_find("bandwidth_gbps"),
		.shown = 1,
		.unit = "Gb/s",
	};
	double bits_per_s;

	if (!text)
		return 0;
	if (units_parse_rate(text, &bits_per_s) || !(bits_per_s > 0)) {
		refuse(gate.option, text, f);
		return fault_fix(f, "a rate above 0: 90 (Gb/s), 90G, 500Mb/s, 12.5GB/s, 1200MiB/s");
	}
	gate.bound = bits_per_s / 1e9;
	return add(g, &gate, f);
}

static int read_min_msgrate(struct gates *g, const char *text, struct fault *f)
{
	struct gate gate = {
		.option = "--min-msgrate",
		.what = "message rate",
		.field = record_find("messages_per_s"),
		.shown = 1,
		.unit = "messages/s",
	};

	if (!text)
		return 0;
	if (units_parse_count(text, &gate.bound) || !(gate.bound > 0)) {
		refuse(gate.option, text, f);
		return fault_fix(f, "messages a second, above 0: 2500000, 2500k, 2.5M");
	}
	return add(g, &gate, f);
}

/* perftest's two, where 0 is no limit. */
static int read_limits(struct gates *g, const struct output_options *o, struct fault *f)
{
	struct gate bw = {
		.option = "-w/--limit_bw",
		.what = "bandwidth",
		.field = record_find("bandwidth_gbps"),
		.shown = o->gbits ? 1 : 1 / MIB_GBPS,
		.unit = o->gbits ? "Gb/s" : "MiB/s",
	};
	struct gate rate = {
		.option = "-y/--limit_msgrate",
		.what = "message rate",
		.field = record_find("messages_per_s"),
		.shown = 1e-6,
		.unit = "Mpps",
	};

	if (o->limit_bw && units_parse_decimal(o->limit_bw, &bw.bound)) {
		refuse(bw.option, o->limit_bw, f);
		return fault_fix(f, "a number, in MiB/s, or in Gb/s with --report_gbits; "
				    "--min-bw takes units");
	}
	if (o->limit_msgrate && units_parse_decimal(o->limit_msgrate, &rate.bound)) {
		refuse(rate.option, o->limit_msgrate, f);
		return fault_fix(f, "a number, in millions a second; --min-msgrate takes units");
	}
	bw.bound /= bw.shown;
	rate.bound /= rate.shown;
	return (bw.bound > 0 && add(g, &bw, f)) || (rate.bound > 0 && add(g, &rate, f)) ? -1 : 0;
}

/* "5" or "p99=5", which ends at a comma or with the text. */
static int read_one_latency(struct gates *g, const char *text, size_t size, struct fault *f)
{
	struct gate gate = {.option = "--max-lat", .ceiling = true, .shown = 1, .unit = "us"};
	const char *equals = memchr(text, '=', size);
	const char *value = equals ? equals + 1 : text;
	size_t digits = size - (size_t)(value - text), i;
	char number[32] = "";

	if (digits < sizeof(number))
		memcpy(number, value, digits);
	if (units_parse_decimal(number, &gate.bound) || !(gate.bound > 0))
		return -1;
	for (i = 0; equals && i < sizeof(latencies) / sizeof(latencies[0]); i++)
		if (strlen(latencies[i].name) == (size_t)(equals - text) &&
		    memcmp(latencies[i].name, text, (size_t)(equals - text)) == 0)
			break;
	if (i == sizeof(latencies) / sizeof(latencies[0]))
		return -1;
	gate.what = latencies[i].name;
	gate.field = record_find(latencies[i].field);
	return add(g, &gate, f);
}

static int read_max_lat(struct gates *g, const char *text, struct fault *f)
{
	for (const char *at = text, *next; at; at = next ? next + 1 : NULL) {
		next = strchr(at, ',');
		if (read_one_latency(g, at, next ? (size_t)(next - at) : strlen(at), f) == 0)
			continue;
		refuse("--max-lat", text, f);
		return fault_fix(f, "microseconds above 0 of the mean (5), or of min p50 p90 p99 "
				    "p99.9 p99.99 max mean stdev: p99=8,max=50");
	}
	return 0;
}

/* A latency test has no bandwidth and the other way round. */
static int check_kind(const struct options *o, bool latency, struct fault *f)
{
	const char *alien = latency && o->output.min_bw     ? "--min-bw"
			    : latency && o->output.limit_bw ? "-w/--limit_bw"
			    : !latency && o->output.max_lat ? "--max-lat"
							    : NULL;

	if (!alien)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "option %s: %s measures no %s", alien, o->test,
		    latency ? "bandwidth" : "latency");
	return fault_fix(f, latency ? "--max-lat or --min-msgrate" : "--min-bw or --min-msgrate");
}

int gates_read(struct gates *g, const struct options *o, bool latency, struct fault *f)
{
	memset(g, 0, sizeof(*g));
	if (check_kind(o, latency, f) || read_min_bw(g, o->output.min_bw, f) ||
	    read_max_lat(g, o->output.max_lat, f) || read_min_msgrate(g, o->output.min_msgrate, f))
		return -1;
	return read_limits(g, &o->output, f);
}

static bool misses(const struct gate *gate, const struct record *rec)
{
	double value = record_value(rec, gate->field);

	return gate->ceiling ? value > gate->bound : value < gate->bound;
}

/* Of the first gate that REC misses; its size is its name where there are several rows. */
static void describe(struct gates *g, const struct gate *gate, const struct record *rec,
		     const char *direction)
{
	char size[32];

	fault_phase(&g->first, "judging the results");
	fault_raise(&g->first, FAULT_THRESHOLD, 0, "%s, %s%s: %s %.6g %s, %s %.6g %s (%s)",
		    units_format_size(rec->message_bytes, size, sizeof(size)), direction,
		    rec->interrupted ? ", interrupted" : "", gate->what,
		    record_value(rec, gate->field) * gate->shown, gate->unit,
		    gate->ceiling ? "more than" : "less than", gate->bound * gate->shown,
		    gate->unit, gate->option);
}

void gates_judge(struct gates *g, const struct record *rec, const char *direction)
{
	g->judged++;
	for (unsigned i = 0; i < g->count; i++) {
		if (!misses(&g->gate[i], rec))
			continue;
		if (!g->missed++)
			describe(g, &g->gate[i], rec, direction);
		return;
	}
}

int gates_verdict(const struct gates *g, struct fault *f)
{
	if (!g->count || (g->judged && !g->missed))
		return 0;
	fault_phase(f, "judging the results");
	if (!g->judged)
		return fault_raise(f, FAULT_THRESHOLD, 0, "nothing was measured, and %s is given",
				   g->gate[0].option);
	*f = g->first;
	if (g->judged > 1)
		fault_cause(f, "%u of %u rows miss what was asked for; this is the first",
			    g->missed, g->judged);
	return fault_fix(f, "see rdmark(7), WHEN A NUMBER IS LOW");
}

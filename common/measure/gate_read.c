// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The thresholds of a command line. */
#include "measure/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "proto/fields.h"
#include "proto/record.h"

static int add_gate(struct gates *g, const struct gate *gate, struct fault *f)
{
	if (g->count == GATES_MAX) {
		fault_raise(f, FAULT_USAGE, 0, "option %s: too many thresholds", gate->option);
		return fault_fix(f, "give at most %d", GATES_MAX);
	}
	g->gate[g->count++] = *gate;
	return 0;
}

/* An option that sets a lower bound. */
struct lower_bound {
	struct gate gate;
	const char *field, *text; /* TEXT: the option's argument; NULL: not given */
	int (*parse)(const char *text, double *value); /* NULL: parse_min_bw() */
	double unit;       /* that it parses, in the field's */
	bool zero_is_none; /* 0 means no bound: perftest's two options */
	const char *fix;
};

/* Parse the rate TEXT, or the share of the link's, into GATE, and remember its unit. */
static int parse_min_bw(const char *text, struct gate *gate)
{
	size_t n = strlen(text);
	const char *letter;
	char *unit;

	gate->of_link = n && text[n - 1] == '%';
	if (gate->of_link)
		return units_parse_percent(text, &gate->bound);
	gate->typed = strtod(text, &unit);
	unit += strspn(unit, " ");
	letter = strpbrk(unit, "bB");
	snprintf(gate->unit, sizeof(gate->unit), "%.*s%s/s",
		 (int)(letter ? letter + 1 - unit : (ptrdiff_t)strlen(unit)), unit,
		 letter  ? ""
		 : *unit ? "b"
			 : "Gb");
	return units_parse_rate(text, &gate->bound);
}

/* Add the bound that option L sets, if it was given. */
static int parse_lower_bound(struct gates *g, const struct lower_bound *l, struct fault *f)
{
	struct gate gate = l->gate;

	if (!l->text)
		return 0;
	if ((l->parse ? l->parse(l->text, &gate.bound) : parse_min_bw(l->text, &gate)) ||
	    !(gate.bound > 0 || l->zero_is_none)) {
		options_invalid(gate.option, l->text, f);
		return fault_fix(f, "give %s", l->fix);
	}
	gate.field = record_find(l->field);
	gate.text = l->text;
	gate.bound *= gate.of_link ? 1 : l->unit;
	return gate.bound > 0 ? add_gate(g, &gate, f) : 0;
}

/* clang-format off */
static int parse_lower_bounds(struct gates *g, const struct output_options *o, struct fault *f)
{
	const struct lower_bound all[] = {
		{{"--min-bw", "bandwidth"}, "bandwidth_gbps", o->min_bw, NULL, 1e-9, false,
		 "a rate above 0, such as 90 (Gb/s), 90G, 500Mb/s, 12.5GB/s or 1200MiB/s; or a share of "
		 "the link's up to 100%, such as 90%"},
		{{"--min-msgrate", "message rate"}, "messages_per_s", o->min_msgrate,
		 units_parse_count, 1, false,
		 "messages per second above 0, such as 2500000, 2500k or 2.5M"},
		{{"-w/--limit_bw", "bandwidth", .summed = true}, "bandwidth_gbps",
		 o->limit_bw, units_parse_decimal, unit_to_gbps(o->gbits, 1), true,
		 "a number in MiB/s, or in Gb/s with --report_gbits; --min-bw accepts units"},
		{{"-y/--limit_msgrate", "message rate", .summed = true}, "messages_per_s",
		 o->limit_msgrate, units_parse_decimal, 1e6, true,
		 "a number in millions per second; --min-msgrate accepts units"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (parse_lower_bound(g, &all[i], f))
			return -1;
	return 0;
}
/* clang-format on */

/* Add the bound ITEM of --max-lat, "5" or "p99=5": NAME's is the field latency_NAME_us. */
static int parse_latency_bound(struct gates *g, char *item, struct fault *f)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.";
	struct gate gate = {"--max-lat", "mean", .ceiling = true};
	char *equals = strchr(item, '='), field[64];

	if (equals) {
		*equals = '\0';
		text_copy(gate.what, sizeof(gate.what), item);
	}
	snprintf(field, sizeof(field), "latency_%s_us", gate.what);
	for (char *dot = field; (dot = strchr(dot, '.'));)
		*dot = '_';
	gate.field = gate.what[strspn(gate.what, letters)] ? NULL : record_find(field);
	if (!gate.field || units_parse_us(equals ? equals + 1 : item, &gate.bound) ||
	    !(gate.bound > 0))
		return -1;
	return add_gate(g, &gate, f);
}

static int parse_max_lat(struct gates *g, const char *text, struct fault *f)
{
	const char *rest = text;
	char item[64], all[128] = "", name[PERCENTILE_NAME];

	while (text_next(&rest, item, sizeof(item))) {
		if (parse_latency_bound(g, item, f) == 0)
			continue;
		for (enum percentile p = 0; p < PERCENTILES; p++)
			text_add(all, sizeof(all), " %s", percentile_name(p, name));
		options_invalid("--max-lat", text, f);
		return fault_fix(f, "give microseconds above 0 for the mean, such as 5, or for min%s "
				    "max mean stdev, such as p99=8,max=50us", all);
	}
	return 0;
}

static int parse_max_loss(struct gates *g, const char *text, struct fault *f)
{
	struct gate gate = {"--max-loss", .ceiling = true, .share = true};

	if (!text)
		return 0;
	if (units_parse_percent(text, &gate.bound)) {
		options_invalid(gate.option, text, f);
		return fault_fix(
			f, "give percent of the messages up to 100, such as 0.1, or a share, such as 1/1000");
	}
	gate.field = record_find("lost");
	return add_gate(g, &gate, f);
}

/*
 * The number of samples that a row will have, *EACH per iteration; 0: unknown before the run (-D).
 */
static uint64_t planned_samples(const struct options *o, uint64_t *each)
{
	uint64_t devices = 1;

	for (const char *at = o->local.device; at && (at = strchr(at, ',')); at++)
		devices++;
	*each = o->experiment.threads * devices;
	return experiment_endless(&o->experiment) ? 0 : o->experiment.iters * *each;
}

/* Refuse a bound on a percentile for which this run will have too few samples. */
static int check_samples(const struct gates *g, const struct options *o, struct fault *f)
{
	uint64_t each, samples = planned_samples(o, &each);

	for (unsigned i = 0; i < g->count && samples && o->local.host; i++) {
		enum percentile p = record_percentile(g->gate[i].field);
		char name[PERCENTILE_NAME];

		if (p == PERCENTILES || samples >= percentile_needs(p))
			continue;
		fault_raise(f, FAULT_USAGE, 0, "%s: %llu samples are too few for %s",
			    g->gate[i].option, (unsigned long long)samples, percentile_name(p, name));
		return fault_fix(f, "use -n %llu or more: a percentile needs %d samples beyond it",
				 (unsigned long long)((percentile_needs(p) + each - 1) / each),
				 PERCENTILE_BEYOND);
	}
	return 0;
}

/* --output prints one number, so there must be one: a bound that any rate reaches. */
static int add_output(struct gates *g, const struct options *o, struct fault *f)
{
	struct gate gate = {.option = "--output", .summed = true}; /* as it is shown */

	if ((o->output.only != ONLY_BANDWIDTH && o->output.only != ONLY_MESSAGE_RATE) ||
	    o->output.format == FORMAT_PERFTEST)
		return 0;
	gate.field =
		record_find(o->output.only == ONLY_BANDWIDTH ? "bandwidth_gbps" : "messages_per_s");
	return add_gate(g, &gate, f);
}

int gates_read(struct gates *g, const struct options *o, struct fault *f)
{
	*g = (struct gates){.gbits = o->output.gbits};
	if (parse_max_lat(g, o->output.max_lat, f) || parse_lower_bounds(g, &o->output, f) ||
	    parse_max_loss(g, o->output.max_loss, f) || add_output(g, o, f) ||
	    check_samples(g, o, f))
		return -1;
	return 0;
}

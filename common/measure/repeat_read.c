// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The aim of repeated runs: read from the command line, and sent from the client to the server. */
#include <string.h>

#include "base/units.h"
#include "proto/fields.h"
#include "proto/message.h"
#include "measure/repeat.h"

#define LEAST_PPM        100    /* 0.01 % */
#define CONFIDENCE_LEAST 500000 /* 50 % */
#define CONFIDENCE_MOST  999000

/* Parse the SIZE characters "0.5" or "0.5%" at TEXT. Returns ppm; 0 if they are no percentage. */
static uint64_t parse_percent(const char *text, size_t size)
{
	char number[32] = "";
	double percent = 0;

	if (size && text[size - 1] == '%')
		size--;
	if (size < sizeof(number))
		memcpy(number, text, size);
	if (units_parse_decimal(number, &percent) || percent > 100)
		return 0;
	return (uint64_t)(percent * 1e4 + 0.5);
}

/* Parse "1" of --until-stable, or "95,1" of --confidence: 95 % sure within 1 % of the mean. */
static int parse_aim(struct repeat *r, const struct options *o, struct fault *f)
{
	const char *stable = o->output.until_stable, *text = stable ? stable : o->output.confidence;
	const char *comma = strchr(text, ',');

	r->until_stable = stable;
	if (stable) {
		r->confidence_ppm = (uint64_t)(INTERVAL_CONFIDENCE * 1e4);
		r->within_ppm = parse_percent(text, strlen(text));
	} else if (comma) {
		r->confidence_ppm = parse_percent(text, (size_t)(comma - text));
		r->within_ppm = parse_percent(comma + 1, strlen(comma + 1));
	}
	if (r->confidence_ppm >= CONFIDENCE_LEAST && r->confidence_ppm <= CONFIDENCE_MOST &&
	    r->within_ppm >= LEAST_PPM)
		return 0;
	options_invalid(stable ? "--until-stable" : "--confidence", text, f);
	return fault_fix(f,
			 stable ? "give a percentage from 0.01 to 100"
				: "give two percentages, such as 95,1: the confidence, from 50 "
				  "to 99.9, and the half-width of the interval, from 0.01 to 100");
}

/* Refuse options that contradict each other, and runs that would never end. */
static int check_repeat(const struct repeat *r, const struct options *o, struct fault *f)
{
	const char *aim = o->output.until_stable ? "--until-stable"
			  : o->output.confidence ? "--confidence"
						 : NULL;

	if (o->output.until_stable && o->output.confidence)
		return fault_usage(
			f, "omit one of the two: --until-stable 1 implies --confidence 95,1",
			"--until-stable cannot be used with --confidence");
	if (o->experiment.run_infinitely && (r->most || aim))
		return fault_usage(f, "omit --run_infinitely: the first run would never end",
				   "%s cannot be used with --run_infinitely",
				   r->most ? "--repeat" : aim);
	if (!aim || !r->most || r->most >= PLATEAU_LEAST)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "%s needs more runs than --repeat %llu", aim,
		    (unsigned long long)r->most);
	return fault_fix(f, "use --repeat %d or more, which sets the maximum number of runs",
			 PLATEAU_LEAST);
}

int repeat_read(struct repeat *r, const struct options *o, bool latency, struct fault *f)
{
	r->latency = latency;
	r->gbits = o->output.gbits;
	r->most = options_given(o, "repeat") ? o->output.repeat : 0;
	if (check_repeat(r, o, f))
		return -1;
	if ((o->output.until_stable || o->output.confidence) && parse_aim(r, o, f))
		return -1;
	if (r->within_ppm && !r->most)
		r->most = REPEAT_UNTIL_MAX;
	return 0;
}

#define ROW(member, ...) FIELD(struct repeat, member, .presence = FIELD_ALWAYS, __VA_ARGS__)
static const struct field aim_rows[] = {
	ROW(until_stable),
	ROW(within_ppm, .max = REPEAT_PPM),
	ROW(confidence_ppm, .max = CONFIDENCE_MOST),
};
static const struct fields aim_table = FIELDS(aim_rows, NULL);

void repeat_write_aim(const struct repeat *r, json_t *m)
{
	fields_write(&aim_table, r, m);
}

int repeat_read_aim(struct repeat *r, const json_t *m, struct fault *f)
{
	if (fields_read(&aim_table, r, m, f))
		return -1;
	return message_has(m, "confidence_ppm",
			   !r->within_ppm || r->confidence_ppm >= CONFIDENCE_LEAST, f);
}

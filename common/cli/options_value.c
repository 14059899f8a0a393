// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses, checks and formats the values of options. */
#include "cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/rate.h"
#include "base/text.h"
#include "base/units.h"
#include "host/pin.h"

uint64_t *options_number(struct options *o, const struct option_row *row)
{
	return (uint64_t *)((char *)o + row->field +
			    (row->kind == OPTION_LIST ? offsetof(struct option_list, at) : 0));
}

void options_use_rate_units(struct options *o)
{
	struct experiment *e = &o->experiment;

	e->rate_limit = rate_in(e->rate_limit, (enum rate_unit)e->rate_units);
}

int options_check_text(const struct option_row *row, const char *text, struct fault *f)
{
	char plain[256]; /* more than any ROW's most */
	json_t *utf8;
	bool good;

	if (!*text)
		return options_refuse_missing(row, f);
	if (!row->max)
		return 0;
	if (strlen(text) > row->max)
		return fault_usage(f, "shorten it", "--%s is longer than %" PRIu64 " bytes",
				   row->name, row->max);
	text_copy(plain, sizeof(plain), text);
	utf8 = json_string(text); /* NULL: it is none */
	good = utf8 && strcmp(plain, text) == 0;
	json_decref(utf8);
	return good ? 0
		    : fault_usage(f, "give plain text, in UTF-8",
				  "--%s has control characters, or bytes that are no UTF-8",
				  row->name);
}

static int parse_choice(const char *words, const char *text, uint64_t *value)
{
	const char *word;
	size_t n;

	for (uint64_t i = 0; (word = text_word(&words, '|', &n)); i++)
		if (strlen(text) == n && strncasecmp(word, text, n) == 0) {
			*value = i;
			return 0;
		}
	return -EINVAL;
}

static int parse_node(const char *text, uint64_t *value)
{
	if (strcasecmp(text, "auto") == 0)
		*value = (uint64_t)PIN_AUTO;
	else if (strcasecmp(text, "none") == 0)
		*value = (uint64_t)PIN_NONE;
	else
		return units_parse_u64(text, value);
	return 0;
}

static int parse_us(const char *text, uint64_t *value)
{
	double us;
	int rc = units_parse_us(text, &us);

	if (rc || us != floor(us))
		return rc ? rc : -EINVAL;
	*value = (uint64_t)us;
	return 0;
}

static int parse_kind(const struct option_row *row, const char *text, uint64_t *value)
{
	switch (row->kind) {
	case OPTION_SIZE:
		return units_parse_size(text, value);
	case OPTION_SECONDS:
		return units_parse_seconds(text, value);
	case OPTION_CHOICE:
		return parse_choice(row->value, text, value);
	case OPTION_NODE:
		return parse_node(text, value);
	case OPTION_RATE:
		return rate_parse(text, value);
	case OPTION_MICROSECONDS:
		return parse_us(text, value);
	default:
		return units_parse_u64(text, value);
	}
}

bool options_in_range(const struct option_row *row, uint64_t v)
{
	if (row->kind == OPTION_NODE && (int64_t)v < 0)
		return true;
	return v >= row->min && v <= row->max && !(row->power_of_two && (v & (v - 1)));
}

int options_invalid(const char *name, const char *text, struct fault *f)
{
	return fault_raise(f, FAULT_USAGE, 0, "invalid value '%.40s' for %s", text, name);
}

/* Set the fix to the values that ROW allows. Returns -1. */
static int advise_valid_values(const struct option_row *row, struct fault *f)
{
	static const struct {
		const char *what, *such_as;
	} kinds[] = {
		[OPTION_SIZE] = {"a size", ", such as 4096, 64k or 8MiB"},
		[OPTION_SECONDS] = {"a time", ", such as 10, 2.5, 500ms or 1m"},
	};
	bool has = row->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[row->kind].what;
	char low[32], high[32];

	if (row->power_of_two)
		return fault_fix(f, "give 256, 512, 1024, 2048 or 4096");
	if (row->group == GROUP_IGNORED)
		return fault_fix(f, "remove it: rdmark does not need it");
	switch (row->kind) {
	case OPTION_CHOICE:
		return fault_fix(f, "give one of %s", row->value);
	case OPTION_NODE:
		return fault_fix(f, "give auto, none or a node number");
	case OPTION_RATE:
		return fault_fix(f, "give a rate, such as 10, 2.5g, 800M or 1000p");
	default:
		options_format_value(row, row->min, low, sizeof(low));
		options_format_value(row, row->max, high, sizeof(high));
		return fault_fix(f, "give %s from %s to %s%s",
				 has ? kinds[row->kind].what : "a whole number", low,
				 row->max == OPTIONS_TIME_MAX_NS ? "366 days" : high,
				 has ? kinds[row->kind].such_as : "");
	}
}

int options_parse_value(const struct option_row *row, const char *text, uint64_t *value,
			struct fault *f)
{
	char name[64];
	uint64_t v;

	if (parse_kind(row, text, &v) == 0 && options_in_range(row, v)) {
		*value = v;
		return 0;
	}
	if (row->kind == OPTION_CHOICE && OPTION_IS(row, experiment.connection) &&
	    strcmp(text, "DC") == 0)
		fault_raise(f, FAULT_UNAVAILABLE, 0, "transport %s is not supported", text);
	else
		options_invalid(options_name(row, name, sizeof(name)), text, f);
	return advise_valid_values(row, f);
}

int options_store(const struct option_row *row, const char *text, void *into, struct fault *f)
{
	void *to = (char *)into + row->field;

	switch (row->kind) {
	case OPTION_FLAG:
		*(uint64_t *)to = 1;
		return 0;
	case OPTION_TEXT:
	case OPTION_FILE:
		*(const char **)to = text ? text : "-";
		return text ? options_check_text(row, text, f) : 0;
	case OPTION_LIST:
		*(struct option_list *)to = (struct option_list){.list = text};
		return options_check_text(row, text, f);
	default:
		return options_parse_value(row, text ? text : row->bare, to, f);
	}
}

const char *options_format_value(const struct option_row *row, uint64_t value, char *buf,
				 size_t size)
{
	const char *word;
	size_t n;

	if (value == EXPERIMENT_AUTO && row->kind != OPTION_NODE)
		snprintf(buf, size, "auto");
	else if (row->kind == OPTION_SECONDS)
		snprintf(buf, size, "%s", units_ns(value).text);
	else if (row->kind == OPTION_RATE)
		rate_format(value, buf, size);
	else if (row->kind == OPTION_SIZE)
		snprintf(buf, size, "%s", units_size(value).text);
	else if (row->kind == OPTION_FLAG)
		snprintf(buf, size, "%s", value ? "on" : "off");
	else if (row->kind == OPTION_NODE && (int64_t)value < 0)
		snprintf(buf, size, "%s", (int64_t)value == PIN_AUTO ? "auto" : "none");
	else if (row->kind == OPTION_CHOICE) {
		word = text_word_at(row->value, value, &n);
		snprintf(buf, size, "%.*s", (int)n, word);
	} else
		snprintf(buf, size, "%" PRIu64, value);
	return buf;
}

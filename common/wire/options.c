// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/rate.h"
#include "base/units.h"
#include "host/pin.h"

/* getopt_long() returns this plus the row's number for every option, letter or not. */
#define ROW_BASE 1000

void options_init(struct options *o, const struct experiment *defaults)
{
	memset(o, 0, sizeof(*o));
	o->experiment = *defaults;
	o->local.ib_port = EXPERIMENT_AUTO;
	o->local.port = 18515;
	o->local.gid_index = EXPERIMENT_AUTO;
	o->local.pkey_index = EXPERIMENT_AUTO;
	o->local.dlid = EXPERIMENT_AUTO;
	o->local.numa = (uint64_t)PIN_AUTO;
	o->local.timeout_ns = 10 * UNITS_NS_PER_S;
	o->local.connect_timeout_ns = 10 * UNITS_NS_PER_S;
	o->local.ready_fd = EXPERIMENT_AUTO;
	o->local.cuda = EXPERIMENT_AUTO;
	o->local.max_memory_bytes = o->local.max_duration_ns = EXPERIMENT_AUTO;
	o->local.max_qps = EXPERIMENT_AUTO;
	o->output.within_percent = 5;
	o->output.repeat = 1;
}

uint64_t *options_number(struct options *o, const struct option_row *row)
{
	return (uint64_t *)((char *)o + row->field);
}

/* "-s, --size" or "--size": how the errors call an option. */
static const char *row_name(const struct option_row *row, char *buf, size_t size)
{
	if (row->letter)
		snprintf(buf, size, "-%c/--%s", row->letter, row->name);
	else
		snprintf(buf, size, "--%s", row->name);
	return buf;
}

static int parse_choice(const char *words, const char *text, uint64_t *value)
{
	uint64_t index = 0;

	for (const char *w = words; w; w = strchr(w, '|'), w = w ? w + 1 : NULL, index++) {
		size_t len = strcspn(w, "|");

		if (strlen(text) == len && strncasecmp(w, text, len) == 0) {
			*value = index;
			return 0;
		}
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
	default:
		return units_parse_u64(text, value);
	}
}

bool options_in_range(const struct option_row *row, uint64_t v)
{
	if (row->kind == OPTION_NODE && (int64_t)v < 0)
		return true;
	if (row->field == offsetof(struct options, experiment.mtu_bytes) && (v & (v - 1)))
		return false;
	return v >= row->min && v <= row->max;
}

/* One of perftest's that rdmark does not do. */
static bool is_other_transport(const struct option_row *row, const char *text)
{
	return row->field == offsetof(struct options, experiment.connection) &&
	       (strcmp(text, "XRC") == 0 || strcmp(text, "DC") == 0 || strcmp(text, "SRD") == 0);
}

int options_parse_value(const struct option_row *row, const char *text, uint64_t *value,
			struct fault *f)
{
	char name[64], low[32], high[32];
	uint64_t v;
	int rc = parse_kind(row, text, &v);

	row_name(row, name, sizeof(name));
	if (!rc && options_in_range(row, v)) {
		*value = v;
		return 0;
	}
	if (is_other_transport(row, text)) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "transport %s", text);
		return fault_fix(f, "rdmark measures %s", row->value);
	}
	fault_raise(f, FAULT_USAGE, 0, "option %s: '%.40s' is not possible", name, text);
	if (row->kind == OPTION_CHOICE)
		return fault_fix(f, "one of %s", row->value);
	if (row->kind == OPTION_NODE)
		return fault_fix(f, "auto, none or a node number");
	if (rc == -EINVAL)
		fault_cause(f, row->kind == OPTION_SIZE
				       ? "It is not a size such as 4096, 64k or 8Mi"
			       : row->kind == OPTION_RATE
				       ? "It is not a rate such as 10, 2.5g, 800M or 1000p"
			       : row->kind == OPTION_SECONDS
				       ? "It is not a time such as 10, 2.5 or 500ms"
				       : "It is not a whole number");
	options_format_value(row, row->min, low, sizeof(low));
	options_format_value(row, row->max, high, sizeof(high));
	return fault_fix(f, "%s: from %s to %s", row->help, low, high);
}

const char *options_format_value(const struct option_row *row, uint64_t value, char *buf,
				 size_t size)
{
	const char *word = row->value;

	if (value == EXPERIMENT_AUTO && row->kind != OPTION_NODE)
		snprintf(buf, size, "auto");
	else if (row->kind == OPTION_SECONDS)
		units_format_ns(value, buf, size);
	else if (row->kind == OPTION_RATE)
		rate_format(value, buf, size);
	else if (row->kind == OPTION_SIZE)
		units_format_size(value, buf, size);
	else if (row->kind == OPTION_FLAG)
		snprintf(buf, size, "%s", value ? "on" : "off");
	else if (row->kind == OPTION_NODE && (int64_t)value < 0)
		snprintf(buf, size, "%s", (int64_t)value == PIN_AUTO ? "auto" : "none");
	else if (row->kind == OPTION_CHOICE) {
		for (; value && (word = strchr(word, '|')); value--)
			word++;
		snprintf(buf, size, "%.*s", word ? (int)strcspn(word, "|") : 0, word ? word : "");
	} else
		snprintf(buf, size, "%" PRIu64, value);
	return buf;
}

static int refuse_as_advised(const struct option_row *row, struct fault *f)
{
	char name[64];

	fault_raise(f, FAULT_USAGE, 0, "option %s of perftest: rdmark does not have it",
		    row_name(row, name, sizeof(name)));
	return fault_fix(f, "%s", row->help);
}

bool options_has(const struct option_row *row, const char *test)
{
	uint64_t place;

	return !row->only || !test || parse_choice(row->only, test, &place) == 0;
}

static int refuse_foreign(const struct options *o, const struct option_row *row, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "option --%s: %s does not have it", row->name, o->test);
	return fault_fix(f, "it is an option of %s", row->only);
}

/* One option that getopt found: store its value. */
static int take(struct options *o, const struct option_row *row, const char *text, struct fault *f)
{
	char name[64];

	if (!options_has(row, o->test))
		return refuse_foreign(o, row, f);
	switch (row->kind) {
	case OPTION_NONE:
		return refuse_as_advised(row, f);
	case OPTION_INDEX:
		return options_parse_value(row, text ? text : "0", options_number(o, row), f);
	case OPTION_FLAG:
		*options_number(o, row) = 1;
		return 0;
	case OPTION_TEXT:
	case OPTION_FILE:
		if (text && !*text) {
			fault_raise(f, FAULT_USAGE, 0, "option %s: the value is empty",
				    row_name(row, name, sizeof(name)));
			return fault_fix(f, "give %s", row->value);
		}
		*(const char **)((char *)o + row->field) = text ? text : "-";
		return 0;
	default:
		return options_parse_value(row, text, options_number(o, row), f);
	}
}

/* getopt's two tables, made from ours. */
struct getopt_tables {
	char letters[2 * OPTION_ROWS_MAX + 8];
	struct option longs[OPTION_ROWS_MAX + 1];
};

/* The row that ALIAS stands for; its VALUE, if it has one of its own, else unchanged. */
static const struct option_row *meant(const struct option_row *alias, const char **value)
{
	char name[64];

	if (alias->scope != SCOPE_ALIAS)
		return alias;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(alias->help, "="), alias->help);
	if (strchr(alias->help, '='))
		*value = strchr(alias->help, '=') + 1;
	return options_find(name);
}

/* What getopt shall return for row I: two names of the same thing are not ambiguous for it. */
static size_t outcome(const struct option_row *table, size_t i)
{
	const char *value = NULL;
	const struct option_row *row = meant(&table[i], &value);

	return value ? i : (size_t)(row - table);
}

static void make_tables(struct getopt_tables *t)
{
	size_t rows, n = 0, n_long = 0;
	const struct option_row *table = options_table(&rows);

	memset(t, 0, sizeof(*t));
	t->letters[n++] = ':'; /* ask for ':' on a missing value, '?' on an unknown option */
	for (size_t i = 0; i < rows; i++) {
		int has_arg = required_argument;

		if (table[i].kind == OPTION_FLAG || table[i].kind == OPTION_NONE)
			has_arg = no_argument;
		else if (table[i].kind == OPTION_FILE || table[i].kind == OPTION_INDEX)
			has_arg = optional_argument;
		/*
		 * Advice must not make the prefix of a real option ambiguous, so refuse() looks
		 * for it; for getopt an alias is one with the same outcome.
		 */
		if (table[i].scope != SCOPE_ADVICE)
			t->longs[n_long++] = (struct option){table[i].name, has_arg, NULL,
							     ROW_BASE + (int)outcome(table, i)};
		if (!table[i].letter)
			continue;
		t->letters[n++] = table[i].letter;
		if (has_arg == required_argument)
			t->letters[n++] = ':';
	}
}

static const struct option_row *row_of(int c)
{
	size_t rows;
	const struct option_row *table = options_table(&rows);

	if (c >= ROW_BASE)
		return &table[c - ROW_BASE];
	for (size_t i = 0; c && i < rows; i++)
		if (table[i].letter == c)
			return &table[i];
	return NULL;
}

/* The advice for a long option as it stood on the command line; NULL: it is no name of perftest's.
 */
static const struct option_row *advice_for(const char *text)
{
	size_t rows, len;
	const struct option_row *table = options_table(&rows), *found = NULL;

	if (strncmp(text, "--", 2) != 0)
		return NULL;
	text += 2;
	len = strcspn(text, "=");
	for (size_t i = 0; len && i < rows; i++) {
		if (strncmp(table[i].name, text, len) != 0)
			continue;
		if (table[i].scope == SCOPE_ADVICE && !table[i].name[len])
			return &table[i];
		/* A prefix of real options, too, is ambiguous and no matter for advice. */
		if (table[i].scope != SCOPE_ADVICE)
			return NULL;
		if (!found)
			found = &table[i];
	}
	return found;
}

static int refuse(int c, char **argv, struct fault *f)
{
	const struct option_row *row = row_of(optopt), *advice;
	const char *value = NULL;
	char name[64];

	row = row ? meant(row, &value) : NULL;
	advice = row ? NULL : advice_for(argv[optind - 1]);
	if (advice && !optopt)
		return refuse_as_advised(advice, f);

	if (c == ':' && row) {
		fault_raise(f, FAULT_USAGE, 0, "option %s: its value is missing",
			    row_name(row, name, sizeof(name)));
		return fault_fix(f, "give %s: %s", row->value, row->help);
	}
	if (row) /* a flag that was given "=value" */
		fault_raise(f, FAULT_USAGE, 0, "option %s takes no value",
			    row_name(row, name, sizeof(name)));
	else if (optopt)
		fault_raise(f, FAULT_USAGE, 0, "unknown option -%c", optopt);
	else
		fault_raise(f, FAULT_USAGE, 0, "unknown or ambiguous option %.60s",
			    argv[optind - 1]);
	return fault_fix(f, "see --help");
}

static int take_operands(struct options *o, int argc, char **argv, struct fault *f)
{
	if (optind < argc)
		o->local.host = argv[optind++];
	if (o->local.host && !*o->local.host)
		return fault_raise(f, FAULT_USAGE, 0, "the host name is empty");
	if (optind < argc) {
		fault_raise(f, FAULT_USAGE, 0, "one host is enough, there is a second: %.60s",
			    argv[optind]);
		return fault_fix(f,
				 "options that take a value want it right behind them; see --help");
	}
	return 0;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

int options_parse(struct options *o, int argc, char **argv, struct fault *f)
{
	struct getopt_tables t;
	size_t rows;
	const struct option_row *table = options_table(&rows);
	int c;

	fault_phase(f, "reading the command line");
	make_tables(&t);
	opterr = 0;
	optind = 0; /* start over: glibc's getopt keeps a position inside a bundle */
	while ((c = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		const struct option_row *row = c == '?' || c == ':' ? NULL : row_of(c);
		const char *value = optarg;

		if (!row)
			return refuse(c, argv, f);
		row = meant(row, &value);
		/* "--use_cuda 0" is in people's scripts, and no host is called by a bare number. */
		if (row->kind == OPTION_INDEX && !value && optind < argc && is_number(argv[optind]))
			value = argv[optind++];
		if (take(o, row, value, f))
			return -1;
		o->given[row - table] = true;
	}
	/* Only now is it known what a number without a unit means. */
	o->experiment.rate_limit =
		rate_in(o->experiment.rate_limit, (enum rate_unit)o->experiment.rate_units);
	o->experiment.load = rate_in(o->experiment.load, RATE_GBPS);
	return take_operands(o, argc, argv, f);
}

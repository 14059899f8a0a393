// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <string.h>

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
	o->output.explain = EXPLAIN_SHORT;
}

/*
 * True if TEXT is ROW's default value. An option that this test does not have is then accepted, so
 * that one script can run all tests.
 */
static bool is_default_value(struct options *o, const struct option_row *row, const char *text)
{
	struct fault ignored = {0};
	uint64_t v;

	if (row->own)
		return false;
	switch (row->kind) {
	case OPTION_NUMBER:
	case OPTION_SIZE:
	case OPTION_CHOICE:
		return options_parse_value(row, text, &v, &ignored) == 0 &&
		       v == *options_number(o, row);
	default:
		return false;
	}
}

/* Store the flow labels TEXT, of which there may be several. */
static int apply_labels(struct options *o, const struct option_row *row, const char *text,
			struct fault *f)
{
	struct flow_labels *l = &o->experiment.labels;
	uint64_t value[SWEEP_VALUES_MAX];
	int n = sweep_list(row, text, value, QP_FLOW_LABELS_MAX, f);

	if (n < 0)
		return -1;
	*options_number(o, row) = value[0];
	*l = (struct flow_labels){.count = n > 1 ? (unsigned)n : 0};
	for (unsigned i = 0; i < l->count; i++)
		l->value[i] = (uint32_t)value[i];
	return 0;
}

/* Make the count TEXT an axis of as many points. */
static int apply_count(struct options *o, const struct option_row *row, const char *text,
		       struct fault *f)
{
	char range[48];
	uint64_t count;

	sweep_forget(&o->sweep, row);
	if (options_parse_value(row, text, &count, f))
		return -1;
	*options_number(o, row) = 0;
	snprintf(range, sizeof(range), "1:%" PRIu64 ":+1", count);
	return count ? sweep_add(&o->sweep, row, range, f) : 0;
}

/* Store the value TEXT of an option that getopt found, or refuse it. Returns 0 or -1. */
static int apply_option(struct options *o, const struct option_row *row, const char *text,
		       struct fault *f)
{
	if (!options_applies(row, o->traits))
		return is_default_value(o, row, text) ? 0 : options_refuse(o, row, f);
	switch (row->kind) {
	case OPTION_NONE:
		return options_refuse_advised(row, f);
	case OPTION_INDEX:
		return options_parse_value(row, text ? text : "0", options_number(o, row), f);
	case OPTION_FLAG:
		*options_number(o, row) = 1;
		return 0;
	case OPTION_TEXT:
	case OPTION_FILE:
		if (text && !*text)
			return options_refuse_missing(row, f);
		*(const char **)((char *)o + row->field) = text ? text : "-";
		return 0;
	default:
		if (row->dealt)
			return apply_labels(o, row, text, f);
		if (row->counted)
			return apply_count(o, row, text, f);
		if (sweep_is(row, text))
			return sweep_add(&o->sweep, row, text, f);
		sweep_forget(&o->sweep, row);
		return options_parse_value(row, text, options_number(o, row), f);
	}
}

/* getopt's two tables, made from ours. */
struct getopt_tables {
	char letters[2 * OPTION_ROWS_MAX + 8];
	struct option longs[2 * OPTION_ROWS_MAX + 1];
	char other[OPTION_ROWS_MAX][40]; /* names with - where the table has _, and the reverse */
};

/*
 * The value that getopt returns for ROW; the same for two names of one option, which getopt then
 * accepts.
 */
static int getopt_value(const struct option_row *row)
{
	const char *value = NULL;
	const struct option_row *same = options_resolve_alias(row, &value);

	return ROW_BASE + (int)((value ? row : same) - options_table());
}

/* NAME with - for _ and _ for -; NULL: it has neither. */
static const char *other_spelling(const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s", name);
	for (char *c = buf; *c; c++)
		*c = *c == '-' ? '_' : *c == '_' ? '-' : *c;
	return strcmp(buf, name) == 0 ? NULL : buf;
}

static void make_tables(struct getopt_tables *t)
{
	size_t n = 0, n_long = 0;

	memset(t, 0, sizeof(*t));
	t->letters[n++] = ':'; /* ask for ':' on a missing value, '?' on an unknown option */
	for (const struct option_row *row = options_table(); row->name; row++) {
		char *other = t->other[row - options_table()];
		int has_arg = required_argument;

		if (row->kind == OPTION_FLAG || row->kind == OPTION_NONE)
			has_arg = no_argument;
		else if (row->kind == OPTION_FILE || row->kind == OPTION_INDEX)
			has_arg = optional_argument;
		/*
		 * perftest's options that rdmark lacks must not make the prefix of a real option
		 * ambiguous, so getopt does not get them: refuse_option() looks for them.
		 */
		for (const char *name = row->name; name && row->scope != SCOPE_ADVICE;
		     name = name == row->name
				    ? other_spelling(name, other, sizeof(t->other[0]))
				    : NULL)
			t->longs[n_long++] =
				(struct option){name, has_arg, NULL, getopt_value(row)};
		if (!row->letter)
			continue;
		t->letters[n++] = row->letter;
		if (has_arg == required_argument)
			t->letters[n++] = ':';
	}
}

static const struct option_row *option_row_of(int c)
{
	if (c >= ROW_BASE)
		return options_table() + (c - ROW_BASE);
	for (const struct option_row *row = options_table(); c && row->name; row++)
		if (row->letter == c)
			return row;
	return NULL;
}

/* Raise why getopt refused an option; C is its result: ':' if a value is missing. */
static int refuse_option(const struct options *o, int c, char **argv, struct fault *f)
{
	const struct option_row *row = option_row_of(optopt);
	const char *value = NULL;
	char name[64];

	if (!row && !optopt)
		return options_refuse_unknown(o, argv[optind - 1], f);
	if (!row) {
		fault_raise(f, FAULT_USAGE, 0, "unknown option -%c", optopt);
		return fault_fix(f, "see --help=all");
	}
	row = options_resolve_alias(row, &value);
	options_name(row, name, sizeof(name));
	if (c == ':')
		return options_refuse_missing(row, f);
	fault_raise(f, FAULT_USAGE, 0, "option %s takes no value", name);
	return fault_fix(f, "give --%s alone", row->name);
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* "host:18515" or "[::1]:18515", where *PORT is "18515"; an IPv6 address has no port. */
static bool has_port(const char *host, const char **port)
{
	const char *colon = host ? strrchr(host, ':') : NULL;

	if (!colon || colon == host || !is_number(colon + 1))
		return false;
	*port = colon + 1;
	return colon[-1] == ']' || strchr(host, ':') == colon;
}

static int read_operands(struct options *o, int argc, char **argv, struct fault *f)
{
	const char *port;

	if (optind < argc)
		o->local.host = argv[optind++];
	if (o->local.host && !*o->local.host)
		return fault_raise(f, FAULT_USAGE, 0, "the host name is empty");
	if (has_port(o->local.host, &port)) {
		fault_raise(f, FAULT_USAGE, 0, "host '%.100s' contains a port", o->local.host);
		return fault_fix(f, "give the port with -p: -p %s %.*s", port,
				 (int)(port - o->local.host) - 1, o->local.host);
	}
	if (optind < argc) {
		fault_raise(f, FAULT_USAGE, 0, "unexpected argument after the host: %.60s",
			    argv[optind]);
		return fault_fix(f,
				 "give one host; write the value of an option directly after the "
				 "option; see --help");
	}
	return 0;
}

/* A DSCP is another way to give the traffic class. */
static int use_dscp(struct options *o, struct fault *f)
{
	const struct option_row *tos = options_find("tos");
	bool *given = &o->given[tos - options_table()];

	if (!options_given(o, "dscp"))
		return 0;
	if (*given) {
		fault_raise(f, FAULT_USAGE, 0, "--dscp cannot be used with -T/--tos");
		return fault_fix(f, "omit one of the two: --dscp %" PRIu64 " is --tos %" PRIu64,
				 o->local.dscp, o->local.dscp << 2);
	}
	*given = true;
	o->experiment.tos = o->local.dscp << 2;
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct fault *f)
{
	struct getopt_tables t;
	int c;

	fault_phase(f, "reading the command line");
	make_tables(&t);
	opterr = 0;
	optind = 0; /* start over: glibc's getopt keeps a position inside a bundle */
	while ((c = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		const struct option_row *row = c == '?' || c == ':' ? NULL : option_row_of(c);
		const char *value = optarg;

		if (!row)
			return refuse_option(o, c, argv, f);
		row = options_resolve_alias(row, &value);
		/* "--use_cuda 0" is in people's scripts, and no host is called by a bare number. */
		if (row->kind == OPTION_INDEX && !value && optind < argc && is_number(argv[optind]))
			value = argv[optind++];
		if (apply_option(o, row, value, f))
			return -1;
		o->given[row - options_table()] = true;
	}
	if (use_dscp(o, f))
		return -1;
	sweep_set(o, 0);
	return read_operands(o, argc, argv, f);
}

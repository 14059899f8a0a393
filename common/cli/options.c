// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/options.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "host/pin.h"

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

/* Store the value TEXT (NULL: none) of ROW, or refuse it. Returns 0 or -1. */
static int apply_option(struct options *o, const struct option_row *row, const char *text,
			struct fault *f)
{
	if (!options_applies(row, o->traits))
		return is_default_value(o, row, text) ? 0 : options_refuse(o, row, f);
	switch (row->kind) {
	case OPTION_INDEX:
		return options_parse_value(row, text ? text : row->bare, options_number(o, row), f);
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

static int read_host(struct options *o, const char *host, const char *more, struct fault *f)
{
	const char *port;

	o->local.host = host;
	if (host && !*host)
		return fault_raise(f, FAULT_USAGE, 0, "the host name is empty");
	if (has_port(host, &port)) {
		fault_raise(f, FAULT_USAGE, 0, "host '%.100s' contains a port", host);
		return fault_fix(f, "give the port with -p: -p %s %.*s", port,
				 (int)(port - host) - 1, host);
	}
	if (!more)
		return 0;
	return fault_usage(
		f,
		"give one host; write the value of an option directly after the option; see --help",
		"unexpected argument after the host: %.60s", more);
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

/* The words of a command line, which NEXT counts as they are read. */
struct words {
	char **argv;
	int argc, next;
};

/* Use ROW with VALUE, which is in the same word; NULL: it is the next word, if ROW needs one. */
static int use_option(struct options *o, const struct option_row *row, const char *value,
		      struct words *w, struct fault *f)
{
	const char *next = w->next < w->argc ? w->argv[w->next] : NULL;
	bool flag = row->kind == OPTION_FLAG, index = row->kind == OPTION_INDEX;

	if (value && flag)
		return options_refuse_value(row, f);
	/* "--use_cuda 0" is in people's scripts, and no host is called by a bare number. */
	if (!value && !flag && row->kind != OPTION_FILE && (!index || (next && is_number(next)))) {
		if (!next)
			return options_refuse_missing(options_resolve_alias(row, &value), f);
		value = next;
		w->next++;
	}
	row = options_resolve_alias(row, &value);
	if (apply_option(o, row, value, f))
		return -1;
	o->given[row - options_table()] = true;
	return 0;
}

static int read_long(struct options *o, const char *word, struct words *w, struct fault *f)
{
	size_t size = strcspn(word + 2, "=");
	const struct option_row *row = options_match(word + 2, size);

	if (!row)
		return options_refuse_unknown(o, word, f);
	return use_option(o, row, word[2 + size] ? word + 2 + size + 1 : NULL, w, f);
}

/* A letter ends the word if it needs a value; the rest of the word is the value. */
static int read_letters(struct options *o, const char *word, struct words *w, struct fault *f)
{
	for (const char *c = word + 1; *c; c++) {
		const struct option_row *row = options_table();

		while (row->name && row->letter != *c)
			row++;
		if (!row->name)
			return options_refuse_letter(*c, f);
		if (row->kind != OPTION_FLAG && row->kind != OPTION_FILE)
			return use_option(o, row, c[1] ? c + 1 : NULL, w, f);
		if (use_option(o, row, NULL, w, f))
			return -1;
	}
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct fault *f)
{
	struct words w = {argv, argc, 1};
	const char *host = NULL, *more = NULL;
	bool ended = false; /* by "--": the other words are no options */

	fault_phase(f, "reading the command line");
	while (w.next < argc) {
		const char *word = argv[w.next++];

		if (!ended && strcmp(word, "--") == 0) {
			ended = true;
		} else if (!ended && word[0] == '-' && word[1]) {
			if (word[1] == '-' ? read_long(o, word, &w, f)
					   : read_letters(o, word, &w, f))
				return -1;
		} else if (!host) {
			host = word;
		} else if (!more) {
			more = word;
		}
	}
	if (use_dscp(o, f))
		return -1;
	sweep_set(o, 0);
	return read_host(o, host, more, f);
}

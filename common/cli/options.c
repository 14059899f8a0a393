// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/options.h"

#include <inttypes.h>
#include <string.h>

#include "base/phase.h"
#include "base/units.h"
#include "cli/sweep.h"
#include "host/pin.h"
#include "verbs/multicast.h"
#include "verbs/transports.h"

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
	o->local.max_memory_bytes = o->local.max_duration_ns = EXPERIMENT_AUTO;
	o->local.max_qps = EXPERIMENT_AUTO;
	o->output.within_percent = 5;
	o->output.repeat = 1;
	o->output.explain = 1;
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
	struct sweep_axis a = {.row = row};

	if (sweep_read(&a, text, f))
		return -1;
	*options_number(o, row) = a.value[0];
	*l = (struct flow_labels){.count = a.count > 1 ? a.count : 0};
	for (unsigned i = 0; i < l->count; i++)
		l->value[i] = (uint32_t)a.value[i];
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
	bool several;

	if (!options_applies(row, o->traits))
		return is_default_value(o, row, text) ? 0 : options_refuse(o, row, f);
	if (row->dealt)
		return apply_labels(o, row, text, f);
	if (row->counted)
		return apply_count(o, row, text, f);
	sweep_forget(&o->sweep, row);
	several = sweep_is(row, text);
	if ((!several || row->kind == OPTION_LIST) && options_store(row, text, o, f))
		return -1;
	return several ? sweep_add(&o->sweep, row, text, f) : 0;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* MORE: a further word; OPEN: the option without its value that HOST stands behind; NULL: none. */
static int read_host(struct options *o, const char *host, const char *more,
		     const struct option_row *open, struct fault *f)
{
	const char *colon = host ? strrchr(host, ':') : NULL;

	o->local.host = host;
	if (host && !*host)
		return fault_raise(f, FAULT_USAGE, 0, "the host name is empty");
	/* "host:18515" or "[::1]:18515"; an IPv6 address has no port. */
	if (colon && colon > host && is_number(colon + 1) &&
	    (colon[-1] == ']' || strchr(host, ':') == colon)) {
		fault_raise(f, FAULT_USAGE, 0, "host '%.100s' contains a port", host);
		return fault_fix(f, "give the port with -p: -p %s %.*s", colon + 1,
				 (int)(colon - host), host);
	}
	if (!more)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "unexpected argument after the host: %.60s", more);
	if (open)
		return fault_fix(f, "did you mean --%s=%.60s?", open->name, host);
	return fault_fix(f, "give one host; write the value of an option directly after the option; "
			    "see --help");
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

/* A multicast test sends datagrams, and the number of its QPs is that of -g. */
static int use_mcg(struct options *o, struct fault *f)
{
	struct experiment *e = &o->experiment;
	union ibv_gid group;

	if (e->mcg && !options_given(o, "connection"))
		e->connection = CONNECTION_UD;
	if (e->mcg && o->traits & TRAIT_BANDWIDTH && !options_given(o, "qp"))
		e->qps = e->mcg;
	if (!o->local.mgid || multicast_parse(o->local.mgid, &group) == 0)
		return 0;
	options_invalid("-M/--MGID", o->local.mgid, f);
	return fault_fix(f, "give a multicast address, such as 239.255.1.2 or ff15::1:2, or 16 "
			    "numbers from 0 to 255 with colons between them");
}

/*
 * The option that begins at W's next word, or letter of a word; *VALUE is what stands in the same
 * word. Returns NULL, and W stays, if ROWS have none of that name.
 */
static const struct option_row *next_row(const struct option_row *rows, struct option_words *w,
					 const char **value)
{
	const char *word = *w->next, *letter = w->letters;
	const struct option_row *row = rows;
	size_t size;

	if (!letter && word && word[0] == '-' && word[1] != '-')
		letter = word + 1;
	if (letter) {
		while (row->name && (!*letter || row->letter != *letter))
			row++;
		if (!row->name)
			return NULL;
		w->next += !w->letters;
		letter = letter[1] ? letter + 1 : NULL;
		/* A letter ends the word if it needs a value, which is the rest. */
		w->letters = row->kind == OPTION_FLAG || row->kind == OPTION_FILE ? letter : NULL;
		*value = w->letters ? NULL : letter;
		return row;
	}
	if (!word || strncmp(word, "--", 2) != 0)
		return NULL;
	size = strcspn(word + 2, "=");
	row = options_match(rows, word + 2, size);
	w->next += row != NULL;
	*value = word[2 + size] ? word + 2 + size + 1 : NULL;
	return row;
}

int options_next(const struct option_row *rows, struct option_words *w,
		 const struct option_row **row, const char **value, struct fault *f)
{
	const char *alias = NULL;
	bool flag, index;
	char name[64];

	*value = NULL;
	*row = next_row(rows, w, value);
	if (!*row)
		return 0;
	flag = (*row)->kind == OPTION_FLAG;
	index = (*row)->kind == OPTION_INDEX;
	if (*value && flag) {
		*row = options_resolve_alias(*row, &alias);
		fault_raise(f, FAULT_USAGE, 0, "option %s takes no value",
			    options_name(*row, name, sizeof(name)));
		return fault_fix(f, "give --%s alone", (*row)->name);
	}
	/* "--use_cuda 0" is in people's scripts, and no host is called by a bare number. */
	if (!*value && !flag && (*row)->kind != OPTION_FILE &&
	    (!index || (*w->next && is_number(*w->next)))) {
		if (!*w->next)
			return options_refuse_missing(options_resolve_alias(*row, value), f);
		*value = *w->next++;
	}
	*row = options_resolve_alias(*row, value);
	return 1;
}

int options_parse(struct options *o, char **argv, struct fault *f)
{
	struct option_words w = {.next = argv + 1};
	const char *host = NULL, *more = NULL, *value;
	const struct option_row *row, *last = NULL, *open = NULL;
	bool ended = false; /* by "--": the other words are no options */

	fault_phase(f, PHASE_COMMAND_LINE);
	while (*w.next || w.letters) {
		int rc = ended ? 0 : options_next(options_table(), &w, &row, &value, f);
		const char *word = *w.next;

		if (rc < 0 || (rc > 0 && apply_option(o, row, value, f)))
			return -1;
		if (rc > 0) {
			o->given[row - options_table()] = true;
			last = row->value && !value ? row : NULL;
			continue;
		}
		if (!ended && (w.letters || (word[0] == '-' && word[1] && strcmp(word, "--") != 0)))
			return options_refuse_unknown(
				o, w.letters ? (char[]){'-', *w.letters, '\0'} : word, f);
		w.next++;
		if (!ended && strcmp(word, "--") == 0)
			ended = true;
		else if (!host)
			open = last, host = word;
		else if (!more)
			more = word;
		last = NULL;
	}
	if (use_dscp(o, f) || use_mcg(o, f))
		return -1;
	sweep_set(o, 0);
	return read_host(o, host, more, open, f);
}

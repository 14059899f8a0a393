// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/experiment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rate.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/sweep.h"
#include "verbs/transport.h"

const struct transport *experiment_transport(const struct experiment *e)
{
	return transport_of(e->connection);
}

bool experiment_loses(const struct experiment *e)
{
	return !experiment_transport(e)->reliable;
}

/* The member of E that ROW, an option of the experiment, sets. */
static uint64_t *experiment_field(struct experiment *e, const struct option_row *row)
{
	return (uint64_t *)((char *)e + (row->field - offsetof(struct options, experiment)));
}

uint64_t experiment_value(const struct experiment *e, const struct option_row *row)
{
	return *experiment_field((struct experiment *)e, row);
}

bool experiment_same_qps(const struct experiment *a, const struct experiment *b)
{
	struct experiment other = *b;

	other.size_bytes = a->size_bytes;
	return memcmp(a, &other, sizeof(other)) == 0;
}

/* True if ROW belongs to the experiment of a test with TRAITS, if only by its default. */
static bool decided_by_client(const struct option_row *row, unsigned traits)
{
	return row->scope == SCOPE_EXPERIMENT && (!row->own || options_applies(row, traits));
}

/* The values of ROW, of which there are several, as an array; NULL: it has one. */
static json_t *values_json(const struct experiment *e, const struct option_row *row)
{
	json_t *to = row->dealt && e->labels.count ? json_array() : NULL;

	for (unsigned i = 0; to && i < e->labels.count; i++)
		json_array_append_new(to, json_integer(e->labels.value[i]));
	return to;
}

/*
 * Read the array FROM, the values of ROW, into E, if they are 2 to EXPERIMENT_LABELS_MAX in its
 * range. *FIRST is the first one, or FROM itself if it is no array.
 */
static bool read_values(struct experiment *e, const struct option_row *row, const json_t *from,
			const json_t **first)
{
	struct flow_labels l = {.count = json_array_size(from)};
	const json_t *one;
	size_t i;

	*first = from;
	if (!row->dealt)
		return true;
	e->labels = (struct flow_labels){.count = 0};
	if (!json_is_array(from))
		return true;
	if (json_array_size(from) < 2 || json_array_size(from) > EXPERIMENT_LABELS_MAX)
		return false;
	json_array_foreach (from, i, one) {
		if (!json_is_integer(one) || json_integer_value(one) < 0 ||
		    !options_in_range(row, (uint64_t)json_integer_value(one)))
			return false;
		l.value[i] = (uint32_t)json_integer_value(one);
	}
	*first = json_array_get(from, 0);
	e->labels = l;
	return true;
}

json_t *experiment_to_json(const struct experiment *e, unsigned traits)
{
	json_t *to = json_object();

	for (const struct option_row *row = options_table(); row->name; row++)
		/* "auto" is the key's absence */
		if (decided_by_client(row, traits) && experiment_value(e, row) != EXPERIMENT_AUTO) {
			json_t *values = values_json(e, row);

			json_object_set_new(
				to, row->name,
				values ? values
				       : json_integer((json_int_t)experiment_value(e, row)));
		}
	return to;
}

/* The document's key for ROW: "tx-depth" becomes "tx_depth", "mtu" becomes "mtu_bytes". */
static void document_key(const struct option_row *row, char *key, size_t size)
{
	const char *unit = "";

	if (row->kind == OPTION_SECONDS)
		unit = "_s";
	else if (row->value && strcmp(row->value, "BYTES") == 0)
		unit = "_bytes";
	else if (row->value && strcmp(row->value, "US") == 0)
		unit = "_us";
	else if (row->value && strcmp(row->value, "N/s") == 0)
		unit = "_per_s";
	snprintf(key, size, "%s%s", row->name, unit);
	for (; *key; key++)
		if (*key == '-')
			*key = '_';
}

static json_t *document_value(const struct option_row *row, uint64_t v)
{
	char text[32];

	if (v == EXPERIMENT_AUTO)
		return json_null();
	if (row->kind == OPTION_FLAG || (row->kind == OPTION_INDEX && v < 2))
		return json_boolean(v != 0);
	if (row->kind == OPTION_SECONDS)
		return v ? json_real((double)v / 1e9) : json_null();
	if (row->kind == OPTION_RATE && v == RATE_NONE)
		return json_null();
	if (row->kind == OPTION_CHOICE || row->kind == OPTION_RATE)
		return json_string(options_format_value(row, v, text, sizeof(text)));
	return json_integer((json_int_t)v);
}

static void describe_row(const struct experiment *e, const struct option_row *row, json_t *to)
{
	char key[64];

	document_key(row, key, sizeof(key));
	json_object_set_new(to, key, document_value(row, experiment_value(e, row)));
}

json_t *experiment_describe(const struct experiment *e, unsigned traits)
{
	json_t *to = json_object(), *values;

	for (const struct option_row *row = options_table(); row->name; row++) {
		if (!decided_by_client(row, traits))
			continue;
		describe_row(e, row, to);
		values = values_json(e, row);
		if (values)
			json_object_set_new(to, "flow_labels", values);
	}
	return to;
}

json_t *experiment_varied(const struct options *o)
{
	json_t *to = o->sweep.axes ? json_object() : NULL;
	char word[64];

	for (unsigned i = 0; i < o->sweep.axes; i++) {
		const struct option_row *row = o->sweep.axis[i].row;

		if (row->kind != OPTION_LIST)
			describe_row(&o->experiment, row, to);
		else
			json_object_set_new(to, row->name,
					    json_string(sweep_value(o, row, word, sizeof(word))));
	}
	return to;
}

int experiment_from_json(struct experiment *e, const json_t *from, unsigned traits, struct fault *f)
{
	for (const struct option_row *row = options_table(); row->name; row++) {
		const json_t *value = json_object_get(from, row->name);
		json_int_t v;
		bool off, valid;

		if (row->scope != SCOPE_EXPERIMENT || !value)
			continue;
		valid = read_values(e, row, value, &value);
		v = json_integer_value(value);
		/* 0 means "not asked for" where an option given must be more (duration). */
		off = v == 0 && OPTION_IS(row, experiment.duration_ns);
		if (!valid || !json_is_integer(value) || v < 0 ||
		    (!off && !options_in_range(row, (uint64_t)v)) ||
		    (!options_applies(row, traits) && (uint64_t)v != experiment_value(e, row))) {
			fault_raise(f, FAULT_PEER, 0, "the client's experiment has an invalid %s",
				    row->name);
			return fault_fix(f, "use the same version of rdmark on both ends");
		}
		*experiment_field(e, row) = (uint64_t)v;
	}
	return 0;
}

/* The value of ROW as on the command line; "none" where E has none: a 0 that the option does not
 * allow was not given. */
static const char *option_value(const struct option_row *row, const struct experiment *e, char *buf,
				size_t size)
{
	uint64_t value = experiment_value(e, row);
	bool overruled = (e->duration_ns && OPTION_IS(row, experiment.iters)) ||
			 (e->sweep && OPTION_IS(row, experiment.size_bytes));

	if ((!value && row->min) || overruled)
		return "none";
	options_format_value(row, value, buf, size);
	for (unsigned i = 1; row->dealt && i < e->labels.count; i++)
		text_add(buf, size, ",%" PRIu32, e->labels.value[i]);
	return buf;
}

/* True if ROW was given in MINE and is none of its values in THEIRS. */
static bool differs(const struct options *mine, const struct experiment *theirs,
		    const struct option_row *row)
{
	const struct sweep_axis *axis = sweep_axis(&mine->sweep, row);
	const struct flow_labels *a = &mine->experiment.labels, *b = &theirs->labels;
	uint64_t value;

	if (row->scope != SCOPE_EXPERIMENT || !mine->given[row - options_table()])
		return false;
	value = experiment_value(theirs, row);
	if (row->dealt && (a->count != b->count ||
			   memcmp(a->value, b->value, a->count * sizeof(a->value[0])) != 0))
		return true;
	return value != experiment_value(&mine->experiment, row) &&
	       !(axis && sweep_has(axis, value));
}

/* True if a server that was started as MINE gives way to the client in ROW. */
static bool gives_way(const struct options *mine, const struct option_row *row)
{
	return mine->drop_in &&
	       (OPTION_IS(row, experiment.size_bytes) || OPTION_IS(row, experiment.sweep) ||
		OPTION_IS(row, experiment.iters) || OPTION_IS(row, experiment.duration_ns));
}

int experiment_check(const struct options *mine, const struct experiment *theirs, char *decided,
		     size_t size, struct fault *f)
{
	decided[0] = '\0';
	for (const struct option_row *row = options_table(); row->name; row++) {
		char text[256], a[96], b[96];

		if (!differs(mine, theirs, row))
			continue;
		snprintf(text, sizeof(text), "--%s: server %s, client %s", row->name,
			 option_value(row, &mine->experiment, a, sizeof(a)),
			 option_value(row, theirs, b, sizeof(b)));
		if (!gives_way(mine, row))
			return fault_usage(f, "omit it on the server: the client decides",
					   "the two ends differ in %s", text);
		text_add(decided, size, "%s%s", decided[0] ? "; " : "", text);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/experiment.h"

#include <stdio.h>
#include <string.h>

#include "wire/options.h"

/* Rows of the table that belong to the experiment, with their field in E. */
static uint64_t *experiment_field(struct experiment *e, const struct option_row *row)
{
	return (uint64_t *)((char *)e + (row->field - offsetof(struct options, experiment)));
}

/* Is ROW part of what TEST decides? */
static bool belongs(const struct option_row *row, const char *test)
{
	return row->scope == SCOPE_EXPERIMENT && options_has(row, test);
}

json_t *experiment_to_json(const struct experiment *e, const char *test)
{
	size_t rows;
	const struct option_row *table = options_table(&rows);
	json_t *to = json_object();

	for (size_t i = 0; i < rows; i++) {
		if (!belongs(&table[i], test))
			continue;
		uint64_t v = *experiment_field((struct experiment *)e, &table[i]);

		/* "auto" is the key's absence */
		if (v != EXPERIMENT_AUTO)
			json_object_set_new(to, table[i].name, json_integer((json_int_t)v));
	}
	return to;
}

/* "tx-depth" to "tx_depth", "mtu" to "mtu_bytes". */
static void document_key(const struct option_row *row, char *key, size_t size)
{
	const char *unit = "";

	if (row->kind == OPTION_SECONDS)
		unit = "_s";
	else if (row->value && strcmp(row->value, "BYTES") == 0)
		unit = "_bytes";
	else if (row->value && strcmp(row->value, "US") == 0)
		unit = "_us";
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
	if (row->kind == OPTION_FLAG)
		return json_boolean(v != 0);
	if (row->kind == OPTION_SECONDS)
		return v ? json_real((double)v / 1e9) : json_null();
	if (row->kind == OPTION_CHOICE)
		return json_string(options_format_value(row, v, text, sizeof(text)));
	return json_integer((json_int_t)v);
}

json_t *experiment_describe(const struct experiment *e, const char *test)
{
	size_t rows;
	const struct option_row *table = options_table(&rows);
	json_t *to = json_object();
	char key[64];

	for (size_t i = 0; i < rows; i++) {
		if (!belongs(&table[i], test))
			continue;
		document_key(&table[i], key, sizeof(key));
		json_object_set_new(
			to, key,
			document_value(&table[i],
				       *experiment_field((struct experiment *)e, &table[i])));
	}
	return to;
}

int experiment_from_json(struct experiment *e, const json_t *from, struct fault *f)
{
	size_t rows;
	const struct option_row *table = options_table(&rows);

	for (size_t i = 0; i < rows; i++) {
		const struct option_row *row = &table[i];
		const json_t *value = json_object_get(from, row->name);
		json_int_t v = json_integer_value(value);
		bool off;

		if (row->scope != SCOPE_EXPERIMENT || !value)
			continue;
		/* 0 means "not asked for" where an option given must be more (duration). */
		off = v == 0 && row->field == offsetof(struct options, experiment.duration_ns);
		if (!json_is_integer(value) || v < 0 ||
		    (!off && !options_in_range(row, (uint64_t)v))) {
			fault_raise(f, FAULT_PEER, 0,
				    "the client's experiment has an impossible %s", row->name);
			return fault_fix(f, "use the same version of rdmark on both ends");
		}
		*experiment_field(e, row) = (uint64_t)v;
	}
	return 0;
}

int experiment_check(const struct options *mine, const struct experiment *theirs, struct fault *f)
{
	size_t rows;
	const struct option_row *table = options_table(&rows);

	for (size_t i = 0; i < rows; i++) {
		const struct option_row *row = &table[i];
		uint64_t here, there;
		char a[32], b[32];

		if (row->scope != SCOPE_EXPERIMENT || !mine->given[i])
			continue;
		here = *options_number((struct options *)mine, row);
		there = *experiment_field((struct experiment *)theirs, row);
		if (here == there)
			continue;
		fault_raise(f, FAULT_USAGE, 0, "the two ends differ in --%s: server %s, client %s",
			    row->name, options_format_value(row, here, a, sizeof(a)),
			    options_format_value(row, there, b, sizeof(b)));
		return fault_fix(f, "leave it out on the server: the client decides");
	}
	return 0;
}

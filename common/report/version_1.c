// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The results in documents of schema_version 1: one flat list. For each size or run: the row of the
 * client, of the server, the sum of both; then the threads and devices of the client, and of the
 * server.
 */
#include "report/forms.h"

/* A copy of ROW without the members that version 2 has added. */
static json_t *row_without_parts(const json_t *row)
{
	json_t *to = json_copy((json_t *)row);
	bool interrupted = json_is_true(json_object_get(row, "interrupted"));

	json_object_del(to, "by_end");
	json_object_del(to, "by_thread");
	json_object_del(to, "by_device");
	json_object_del(to, "flow_labels");
	json_object_del(to, "evidence");
	json_object_del(to, "snapshot");
	json_object_del(to, "limit");
	json_object_del(to, "diagnosis");
	json_object_del(to, "interrupted");
	if (interrupted)
		json_object_set_new(to, "interrupted", json_integer(1));
	return to;
}

static bool is_by(const json_t *row, const char *who)
{
	const char *by = json_string_value(json_object_get(row, "measured_by"));

	return by && strcmp(by, who) == 0;
}

static void add_rows_of(json_t *to, const json_t *parts, const char *who)
{
	const json_t *part;
	size_t i;

	json_array_foreach (parts, i, part)
		if (is_by(part, who))
			json_array_append_new(to, row_without_parts(part));
}

static void add_result(json_t *to, const json_t *result)
{
	static const char *const ends[] = {"client", "server"};

	for (int i = 0; i < 2; i++) {
		const json_t *by_end = json_object_get(result, "by_end");
		const json_t *own = is_by(result, ends[i]) ? result
							   : json_object_get(by_end, ends[i]);

		if (own)
			json_array_append_new(to, row_without_parts(own));
	}
	if (is_by(result, "both"))
		json_array_append_new(to, row_without_parts(result));
	for (int i = 0; i < 2; i++) {
		add_rows_of(to, json_object_get(result, "by_thread"), ends[i]);
		add_rows_of(to, json_object_get(result, "by_device"), ends[i]);
	}
}

json_t *version_1(const json_t *results)
{
	json_t *to = json_array(), *result;
	size_t i;

	json_array_foreach (results, i, result) {
		if (json_object_get(result, "cell"))
			json_array_append(to, result); /* gdr_bw's results have not changed */
		else
			add_result(to, result);
	}
	return to;
}

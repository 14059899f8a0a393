// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "proto/fields.h"
#include "proto/json_memory.h"
#include "report/document.h"

/* Read all of FILE, *USED bytes; the caller frees them. NULL with a fault. */
static char *read_file(const char *file, size_t *used, struct fault *f)
{
	FILE *in = fopen(file, "re");
	size_t room = 0;
	char *bytes = NULL;
	/* No document has a 0, and what is after one makes no document of it. */
	ssize_t n = in ? getdelim(&bytes, &room, '\0', in) : -1;

	if (!in || (n < 0 && !feof(in))) {
		fault_raise(f, FAULT_USAGE, errno, "reading %s", file);
		if (f->code == FAULT_USAGE)
			fault_fix(f, "name a file that --json=FILE has written");
		free(bytes);
		bytes = NULL;
	}
	*used = n > 0 ? (size_t)n : 0;
	if (in)
		fclose(in);
	return bytes;
}

/* Put ROW (stolen) together with the others of the same measurement and experiment. */
static void add_row(struct figures *fs, enum figures_side side, json_t *row)
{
	json_t *same = json_pack("[O, O]", json_object_get(row, "of"), json_object_get(row, "facts"));
	char *key = json_dumps(same, JSON_COMPACT | JSON_SORT_KEYS);

	if (!fs->groups)
		fs->groups = json_object();
	if (key && !json_object_get(fs->groups, key))
		json_object_set_new(fs->groups, key, json_pack("[[], []]"));
	json_array_append(json_array_get(json_object_get(fs->groups, key), side), row);
	free(key);
	json_decref(same);
	json_decref(row);
}

/* Add what each direction of RESULT did. Returns false if it is of one only. */
static bool add_directions(struct figures *fs, enum figures_side side, const json_t *document,
			   const json_t *result, size_t number)
{
	const json_t *one, *ends = json_object_get(result, "by_end");
	const char *end;

	if (strcmp(json_text_at(result, "direction"), "both") != 0 || !json_object_size(ends))
		return false;
	json_object_foreach((json_t *)ends, end, one)
	{
		json_t *with = json_copy((json_t *)one);

		json_object_set(with, "varied", json_object_get(result, "varied"));
		add_row(fs, side, row_new(document, with, number));
		json_decref(with);
	}
	return true;
}

void figures_add(struct figures *fs, enum figures_side side, const json_t *document, size_t number)
{
	const json_t *result;
	size_t i;

	json_array_foreach (json_object_get(document, "results"), i, result)
		if (json_is_object(result) && !add_directions(fs, side, document, result, number))
			add_row(fs, side, row_new(document, result, number));
}

/* Keep why O, the first document of SIDE that is not whole, is not. */
static void keep_failure(struct figures *fs, enum figures_side side, const json_t *o)
{
	const char *status = json_text_at(o, "status");
	const char *why = json_text_at(json_object_get(o, "error"), "message");

	if (document_is_whole(o) || !*status || *fs->failed[side])
		return;
	snprintf(fs->failed[side], sizeof(fs->failed[side]), "%.20s: %.20s%s%.300s",
		 json_text_at(o, "test"), status, *why ? ": " : "", why);
	text_disarm(fs->failed[side]);
}

static int not_a_document(const char *file, const char *why, struct fault *f)
{
	return fault_usage(f, "name a file that --json=FILE has written",
			   "%s is not a file of rdmark's documents: %s", file, why);
}

int figures_read(struct figures *fs, enum figures_side side, const char *file, struct fault *f)
{
	size_t size = 0, at = 0, documents = 0;
	uint64_t failures = json_memory_failures();
	char *bytes = read_file(file, &size, f);
	int rc = bytes ? 0 : -1;

	fs->file[side] = file;
	while (!rc && at < size && (at += strspn(bytes + at, " \t\r\n")) < size) {
		json_error_t error;
		json_t *o = json_memory_load(bytes + at, size - at, JSON_DISABLE_EOF_CHECK, &error);

		if (!o) {
			rc = not_a_document(file, error.text, f);
		} else if (json_is_string(json_object_get(o, "test")) &&
			   json_is_array(json_object_get(o, "results"))) {
			keep_failure(fs, side, o);
			figures_add(fs, side, o, documents++);
		} else if (!json_object_get(o, "interval")) {
			rc = not_a_document(file, "an object has no test or no results", f);
		}
		at += (size_t)error.position;
		json_decref(o);
	}
	free(bytes);
	if (json_memory_failures() != failures) { /* figures are missing, or read as others */
		fault_clear(f);
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "reading %s", file);
	}
	return rc || documents ? rc : not_a_document(file, "the file is empty", f);
}

/* The first difference of the facts BEFORE and AFTER. */
static void tell_fact(const json_t *before, const json_t *after, char *buf, size_t size)
{
	json_t *facts = json_copy((json_t *)before), *value;
	const char *key;

	json_object_update_missing(facts, (json_t *)after);
	json_object_foreach(facts, key, value)
	{
		json_t *x = json_object_get(before, key), *y = json_object_get(after, key);
		char *a = json_dumps(x, JSON_ENCODE_ANY), *b = json_dumps(y, JSON_ENCODE_ANY);

		if (!json_equal(x, y) && !buf[0])
			snprintf(buf, size, "%.40s: %.40s before, %.40s after", key, a ? a : "none",
				 b ? b : "none");
		free(a);
		free(b);
	}
	text_disarm(buf);
	json_decref(facts);
}

void figures_tell_difference(const struct figures *fs, char *buf, size_t size)
{
	const char *key, *other_key;
	json_t *rows, *other;

	buf[0] = '\0';
	json_object_foreach(fs->groups, key, rows)
	json_object_foreach(fs->groups, other_key, other)
	{
		const json_t *x = json_array_get(json_array_get(rows, FIGURES_BEFORE), 0);
		const json_t *y = json_array_get(json_array_get(other, FIGURES_AFTER), 0);

		if (x && y && !*buf && json_equal(json_object_get(x, "of"), json_object_get(y, "of")))
			tell_fact(json_object_get(x, "facts"), json_object_get(y, "facts"), buf,
				  size);
	}
}

void figures_release(struct figures *fs)
{
	free(fs->all);
	free(fs->judged);
	json_decref(fs->groups);
	memset(fs, 0, sizeof(*fs));
}

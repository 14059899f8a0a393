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

/* Add what each direction of RESULT did. Returns false if it is of one only. */
static bool add_directions(json_t *rows, const json_t *document, const json_t *result,
			   size_t number)
{
	const json_t *one, *ends = json_object_get(result, "by_end");
	const char *end;

	if (strcmp(json_text_at(result, "direction"), "both") != 0 || !json_object_size(ends))
		return false;
	json_object_foreach((json_t *)ends, end, one)
	{
		json_t *with = json_copy((json_t *)one);

		json_object_set(with, "varied", json_object_get(result, "varied"));
		json_array_append_new(rows, row_new(document, with, number));
		json_decref(with);
	}
	return true;
}

void figures_add(struct figures *fs, enum figures_side side, const json_t *document, size_t number)
{
	const json_t *result;
	size_t i;

	if (!fs->rows[side])
		fs->rows[side] = json_array();
	json_array_foreach (json_object_get(document, "results"), i, result)
		if (json_is_object(result) &&
		    !add_directions(fs->rows[side], document, result, number))
			json_array_append_new(fs->rows[side], row_new(document, result, number));
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

/* The facts of the row A, or else of B, in which the two differ; a new object. */
static json_t *differences(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "facts"), *y = json_object_get(b, "facts");
	json_t *to = json_copy((json_t *)x), *value;
	const char *key;
	void *next;

	json_object_update_missing(to, (json_t *)y);
	json_object_foreach_safe(to, next, key, value)
	{
		if (json_equal(json_object_get(x, key), json_object_get(y, key)))
			json_object_del(to, key);
	}
	return to;
}

static const char *test_of(const json_t *row)
{
	return json_text_at(json_object_get(row, "of"), "test");
}

/* The facts that tell rows of one test in one file apart: an object for each test, with those as
 * keys. */
static json_t *find_varied(const struct figures *fs)
{
	json_t *varied = json_object();

	for (int side = 0; side < FIGURES_SIDES; side++) {
		json_t *first = json_object(), *row;
		size_t i;

		json_array_foreach (fs->rows[side], i, row) {
			const char *test = test_of(row);
			const json_t *seen = json_object_get(first, test);
			json_t *differ = differences(row, seen ? seen : row);

			if (!seen)
				json_object_set(first, test, row);
			if (!json_object_get(varied, test))
				json_object_set_new(varied, test, json_object());
			json_object_update(json_object_get(varied, test), differ);
			json_decref(differ);
		}
		json_decref(first);
	}
	return varied;
}

/* Of ROW's facts those that VARIED has. */
static json_t *told_apart_by(const json_t *row, const json_t *varied)
{
	json_t *to = json_copy(json_object_get(row, "facts")), *value;
	const char *key;
	void *next;

	varied = json_object_get(varied, test_of(row));
	json_object_foreach_safe(to, next, key, value)
	{
		if (!json_object_get(varied, key))
			json_object_del(to, key);
	}
	return to;
}

/* Put rows of the same measurement together: of the same experiment, or with ANYWAY of any. */
static void group_rows(struct figures *fs, bool anyway)
{
	json_t *varied = find_varied(fs), *row;
	size_t i;

	fs->groups = json_object();
	for (int side = 0; side < FIGURES_SIDES; side++)
		json_array_foreach (fs->rows[side], i, row) {
			json_t *of = json_object_get(row, "of");
			json_t *facts = told_apart_by(row, varied);
			json_t *parts = json_pack("[O, O]", of,
						  anyway ? facts : json_object_get(row, "facts"));
			char *key = json_dumps(parts, JSON_COMPACT | JSON_SORT_KEYS);
			json_t *group = key ? json_object_get(fs->groups, key) : NULL;

			if (key && !group) {
				group = json_pack("{s:O, s:O, s:[[], []]}", "of", of, "varied",
						  facts, "rows");
				json_object_set_new(fs->groups, key, group);
			}
			json_array_append(json_array_get(json_object_get(group, "rows"), side),
					  row);
			free(key);
			json_decref(parts);
			json_decref(facts);
		}
	json_decref(varied);
}

/* Fact KEY of ROW as text; the caller frees it. NULL: it has none. */
static char *fact_text(const json_t *row, const char *key)
{
	return json_dumps(json_object_get(json_object_get(row, "facts"), key), JSON_ENCODE_ANY);
}

/* The first fact in which the rows BEFORE and AFTER differ: "tx_depth: 128 before, 1 after". */
static void tell_difference(const json_t *before, const json_t *after, char *buf, size_t size)
{
	json_t *differ = differences(before, after);
	const char *key = json_object_iter_key(json_object_iter(differ));
	char *a = key ? fact_text(before, key) : NULL, *b = key ? fact_text(after, key) : NULL;

	if (key)
		snprintf(buf, size, "%.40s: %.40s before, %.40s after", key, a ? a : "none",
			 b ? b : "none");
	text_disarm(buf);
	free(a);
	free(b);
	json_decref(differ);
}

/*
 * Tell how experiments differ: of a group with both sides, or of two groups with one side each that
 * are the same measurement else.
 */
static void find_different(struct figures *fs)
{
	json_t *others = json_object(), *group;
	const char *key;

	for (int side = 0; side < FIGURES_SIDES; side++)
		json_object_foreach(fs->groups, key, group)
		{
			const json_t *rows = json_object_get(group, "rows");
			json_t *before = json_array_get(json_array_get(rows, 0), 0);
			json_t *after = json_array_get(json_array_get(rows, 1), 0);
			char *of = json_dumps(json_object_get(group, "of"), JSON_SORT_KEYS);

			if (of && !after && side == FIGURES_BEFORE)
				json_object_set(others, of, before);
			if (of && !before && side == FIGURES_AFTER)
				before = json_object_get(others, of);
			if (before && after && !*fs->differ)
				tell_difference(before, after, fs->differ, sizeof(fs->differ));
			free(of);
		}
	json_decref(others);
}

void figures_match(struct figures *fs, bool anyway)
{
	group_rows(fs, anyway);
	find_different(fs);
}

void figures_release(struct figures *fs)
{
	free(fs->all);
	for (int side = 0; side < FIGURES_SIDES; side++)
		json_decref(fs->rows[side]);
	json_decref(fs->groups);
	memset(fs, 0, sizeof(*fs));
}

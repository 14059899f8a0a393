// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "row.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define DIGITS    9
#define ERROR_MIN 16 /* of an error that is cut */

/* Drop the last element of the array KEY. Returns false if there is none. */
static bool drop_last(json_t *m, const char *key)
{
	json_t *list = json_object_get(m, key);
	size_t n = json_array_size(list);

	return n && json_array_remove(list, n - 1) == 0;
}

static bool drop_finding(json_t *m)
{
	bool dropped = drop_last(m, "findings");

	if (dropped && !json_array_size(json_object_get(m, "findings")))
		json_object_del(m, "findings");
	return dropped;
}

/* Make the error at least EXCESS bytes shorter. Returns false if nothing would be left. */
static bool cut_error(json_t *m, size_t excess)
{
	static const char dots[] = "...";
	json_t *error = json_object_get(m, "error");
	size_t bytes = json_string_length(error), cut = excess + sizeof(dots);
	char text[ROW_BYTES];
	size_t most = sizeof(text) - sizeof(dots);

	if (bytes < cut + ERROR_MIN)
		return false;
	text_copy(text, bytes - cut < most ? bytes - cut : most, json_string_value(error));
	text_add(text, sizeof(text), "%s", dots);
	return json_string_set(error, text) == 0;
}

/* Take off M what matters least; EXCESS bytes are too many. Returns false if all of it matters. */
static bool shorten(json_t *m, size_t excess)
{
	return drop_finding(m) || json_object_del(m, "fix") == 0 || cut_error(m, excess) ||
	       drop_last(m, "options");
}

char *row_text(json_t *m)
{
	for (;;) {
		char *text = json_dumps(m, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
		size_t n = text ? strlen(text) : 0;

		if (n <= ROW_BYTES || !shorten(m, n - ROW_BYTES))
			return text;
		free(text);
	}
}

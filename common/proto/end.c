// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/end.h"

#include <string.h>

#include "base/text.h"
#include "proto/fields.h"

#define ROW(type, member, ...)       FIELD(struct end, member, __VA_ARGS__),
#define PART(type, key, member, ...) FIELD_AS(#key, struct end, member, __VA_ARGS__),
#define TEXT(bytes, member, ...)     FIELD(struct end, member, __VA_ARGS__),
static const struct field rows[] = {
#include "proto/end.def"
};

static const struct fields table = FIELDS(rows, "the peer's description of itself has an invalid");

#define MORE "..."

void end_add_argument(struct end *e, const char *text)
{
	size_t room = sizeof(e->argv.text) - e->argv.bytes, need = strlen(text) + 1;
	char *to = e->argv.text + e->argv.bytes;

	if (e->argv.full)
		return;
	e->argv.full = need + sizeof(MORE) > room;
	if (e->argv.full) {
		text = MORE;
		need = sizeof(MORE);
	}
	text_copy(to, need, text);
	e->argv.bytes += need;
}

/* Read the peer's command line, an array of texts, if there is one. Returns 0 or -1. */
static int read_argv(struct end *e, const json_t *from, struct fault *f)
{
	const json_t *argv = json_object_get(from, "argv"), *v;
	size_t i;

	if (argv && !json_is_array(argv))
		return fields_raise(&table, from, "argv", f);
	json_array_foreach (argv, i, v) {
		if (!json_is_string(v))
			return fields_raise(&table, from, "argv", f);
		end_add_argument(e, json_string_value(v));
	}
	return 0;
}

const struct fields *end_fields(void)
{
	return &table;
}

json_t *end_to_json(const struct end *e)
{
	json_t *to = fields_write(&table, e, json_object()), *argv = json_array();

	for (size_t at = 0; at < e->argv.bytes; at += strlen(e->argv.text + at) + 1)
		json_array_append_new(argv, json_text(e->argv.text + at));
	json_object_set_new(to, "argv", argv);
	return to;
}

int end_from_json(struct end *e, const json_t *from, struct fault *f)
{
	memset(e, 0, sizeof(*e));
	return fields_read(&table, e, from, f) || read_argv(e, from, f) ? -1 : 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Looks for rows of the option table, and names them. */
#include "cli/options.h"

#include <string.h>

#include "base/text.h"

const struct option_row *options_find(const char *name)
{
	for (const struct option_row *row = options_table(); row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

bool options_begins(const char *name, const char *word, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!name[i] || !text_same_letter(name[i], word[i]))
			return false;
	return true;
}

const struct option_row *options_match(const struct option_row *rows, const char *word, size_t size)
{
	const struct option_row *found = NULL, *option, *same = NULL;
	bool ambiguous = !size;

	for (const struct option_row *row = rows; row->name; row++) {
		const char *value = NULL;

		if (!options_begins(row->name, word, size))
			continue;
		if (!row->name[size])
			return row;
		if (row->whole)
			continue;
		option = options_resolve_alias(row, &value);
		option = value ? row : option; /* one that sets a value is an option of its own */
		ambiguous |= found && option != same;
		found = row;
		same = option;
	}
	return ambiguous ? NULL : found;
}

const struct option_row *options_resolve_alias(const struct option_row *row, const char **value)
{
	char name[64];

	if (row->scope != SCOPE_ALIAS)
		return row;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(row->help, "="), row->help);
	if (strchr(row->help, '='))
		*value = strchr(row->help, '=') + 1;
	return options_find(name);
}

bool options_given(const struct options *o, const char *name)
{
	const struct option_row *row = options_find(name);

	return row && o->given[row - options_table()];
}

const char *options_name(const struct option_row *row, char *buf, size_t size)
{
	if (row->letter)
		snprintf(buf, size, "-%c/--%s", row->letter, row->name);
	else
		snprintf(buf, size, "--%s", row->name);
	return buf;
}

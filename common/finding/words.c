// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The catalogue's words with the values of a finding in them. */
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "finding/finding.h"
#include "finding/thresholds.h"

/* Append a share of 0 to 1, in per cent. */
static void add_share(char *to, size_t size, double share)
{
	double percent = 100 * share;

	text_add(to, size,
		 percent < 0.1  ? "%.2g %%"
		 : percent < 10 ? "%.1f %%"
				: "%.0f %%",
		 percent);
}

static void add_number(char *to, size_t size, const struct finding_value *v)
{
	if (strcmp(v->unit, "share") == 0)
		add_share(to, size, v->number);
	else if (strcmp(v->unit, "B") == 0)
		text_add(to, size, "%s", units_size((uint64_t)v->number).text);
	else if (strcmp(v->unit, "Gb/s") == 0 && v->number >= 10 && v->number != floor(v->number))
		text_add(to, size, "%.1f Gb/s", v->number);
	else if (v->unit[0])
		text_add(to, size,
			 v->number >= 1e3 || v->number == floor(v->number) ? "%.0f %s" : "%.4g %s",
			 v->number, v->unit);
	else
		text_add(to, size, "%.0f", v->number);
}

/* Append what the N characters of NAME stand for. Returns false if that is unknown. */
static bool add_value(char *to, size_t size, const char *name, size_t n,
		      const struct finding_facts *facts)
{
	const struct finding_value *v = facts->value;

	if (n == 3 && memcmp(name, "end", n) == 0 && facts->end) {
		text_add(to, size, "%s", facts->end);
		return true;
	}
	if (n == 5 && memcmp(name, "share", n) == 0 && facts->share >= TIME_SAID) {
		add_share(to, size, facts->share);
		return true;
	}
	for (; v < facts->value + FINDING_VALUES && v->name; v++) {
		if (strlen(v->name) != n || memcmp(v->name, name, n) != 0)
			continue;
		if (v->word)
			text_add(to, size, "%s", v->word);
		else if (isfinite(v->number))
			add_number(to, size, v);
		return v->word || isfinite(v->number);
	}
	return false;
}

char *finding_words(char *to, size_t size, const char *template, const struct finding_facts *facts)
{
	size_t part = 0; /* where the part in brackets begins */
	bool known = true, optional = false;

	to[0] = '\0';
	for (const char *at = template; *at; at++) {
		const char *end = *at == '{' ? strchr(at, '}') : NULL;
		size_t plain = 1 + strcspn(at + 1, "[]{");

		if (*at == '[') {
			optional = known = true;
			part = strlen(to);
		} else if (*at == ']') {
			if (!known)
				to[part] = '\0';
			optional = false;
		} else if (end) {
			bool found = add_value(to, size, at + 1, (size_t)(end - at - 1), facts);

			known &= found;
			if (!found && !optional)
				text_add(to, size, "?");
			at = end;
		} else {
			text_add(to, size, "%.*s", (int)plain, at);
			at += plain - 1;
		}
	}
	return to;
}

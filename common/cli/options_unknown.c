// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Refuses options that do not exist or lack a value, and suggests what was meant. */
#include <string.h>

#include "base/text.h"
#include "cli/options.h"

#define NAMES_MAX  6 /* options in one hint */
#define SHORT_WORD 5

/* The first SIZE characters of WORD begin NAME. */
static bool begins_with(const char *name, const char *word, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!name[i] || !text_same_letter(name[i], word[i]))
			return false;
	return true;
}

int options_refuse_advised(const struct option_row *row, struct fault *f)
{
	char name[64];

	fault_raise(f, FAULT_USAGE, 0, "perftest's option %s is not supported",
		    options_name(row, name, sizeof(name)));
	if (!begins_with(row->help, "rdmark ", 7))
		return fault_fix(f, "%s", row->help);
	fault_cause(f, "%s", row->help); /* a fact, no order */
	return fault_fix(f, "use perftest for that, or omit the option");
}

int options_refuse_missing(const struct option_row *row, struct fault *f)
{
	static const struct {
		const char *value, *example;
	} examples[] = {
		{"DEV", "mlx5_0"},
		{"FILE", "/tmp/run"},
		{"FILE", "run.json"},
		{"IP", "192.0.2.1"},
		{"GPU", "0"},
		{"S", "10"},
		{"PCI", "0000:3b:00.0"},
		{"LIST", "port_xmit_wait"},
		{"BYTES", "64k"},
		{"PERCENT", "2"},
		{"LEVEL,PERCENT", "95,1"},
		{"RATE", "90"},
		{"[P=]US", "p99=8"},
		{"MPPS", "1.5"},
		{"N", "4"},
	};
	char name[64];

	fault_raise(f, FAULT_USAGE, 0, "option %s needs a value",
		    options_name(row, name, sizeof(name)));
	if (row->kind == OPTION_FILE && strcmp(row->value, "FILE") == 0)
		return fault_fix(f, "give one, for example --%s=run.%s", row->name, row->name);
	for (size_t i = 0; row->value && i < sizeof(examples) / sizeof(examples[0]); i++)
		if (strcmp(row->value, examples[i].value) == 0)
			return fault_fix(f, "give one, for example --%s=%s", row->name,
					 examples[i].example);
	return fault_fix(f, "give --%s=%s", row->name, row->value);
}

/* The option of perftest, unknown to rdmark, that WORD is or is a prefix of; NULL: none. */
static const struct option_row *advice_for(const char *word, size_t size)
{
	const struct option_row *found = NULL;

	for (const struct option_row *row = options_table(); row->name; row++) {
		if (!begins_with(row->name, word, size))
			continue;
		if (row->scope == SCOPE_ADVICE && !row->name[size])
			return row;
		/* A prefix of real options, too, is ambiguous: that is reported instead. */
		if (row->scope != SCOPE_ADVICE)
			return NULL;
		if (!found)
			found = row;
	}
	return found;
}

/* The first SIZE characters of WORD are a whole part of NAME: depth of tx-depth. */
static bool is_part(const char *name, const char *word, size_t size)
{
	for (const char *c = name; *c; c++)
		if (c > name && strchr("-_", c[-1]) && begins_with(c, word, size) &&
		    (!c[size] || strchr("-_", c[size])))
			return true;
	return false;
}

/* Names of options for a hint. */
struct names {
	char text[NAMES_MAX * (TEXT_WORD_MAX + 4)]; /* "--a, --b" */
	size_t used;
	unsigned count;
};

static void names_add(struct names *to, const char *name)
{
	if (to->count >= NAMES_MAX)
		return;
	to->used += (size_t)snprintf(to->text + to->used, sizeof(to->text) - to->used, "%s--%s",
				     to->count++ ? ", " : "", name);
}

/* True if the test of O has the option ROW, and it has an effect there. */
static bool is_offered(const struct options *o, const struct option_row *row)
{
	return row->scope <= SCOPE_OUTPUT && options_has_effect(row, o->traits);
}

/*
 * List the options of O's test that begin with WORD. An alias is listed only if the name of its own
 * option does not begin with WORD. Returns how many.
 */
static unsigned list_with_prefix(const struct options *o, const char *word, size_t size,
				 struct names *names)
{
	const char *ignored;

	for (const struct option_row *row = options_table(); row->name; row++) {
		const struct option_row *option = options_resolve_alias(row, &ignored);

		if (begins_with(row->name, word, size) && is_offered(o, option) &&
		    (option == row || !begins_with(option->name, word, size)))
			names_add(names, row->name);
	}
	return names->count;
}

/*
 * List the options of O's test at edit distance DISTANCE from WORD; DISTANCE 1 also lists names
 * that contain WORD as a whole part (depth: tx-depth). Returns how many.
 */
static unsigned list_similar(const struct options *o, const char *word, size_t size,
			     unsigned distance, struct names *names)
{
	for (const struct option_row *row = options_table(); row->name; row++)
		if (is_offered(o, row) && (text_distance(row->name, word, size) == distance ||
					   (distance == 1 && is_part(row->name, word, size))))
			names_add(names, row->name);
	return names->count;
}

int options_refuse_unknown(const struct options *o, const char *text, struct fault *f)
{
	const char *word = text + strspn(text, "-");
	size_t size = strcspn(word, "=");
	const struct option_row *advice = size ? advice_for(word, size) : NULL;
	struct names names = {0};

	if (advice)
		return options_refuse_advised(advice, f);
	if (size && list_with_prefix(o, word, size, &names)) {
		fault_raise(f, FAULT_USAGE, 0, "option %.60s is ambiguous", text);
		return fault_fix(f, "give one of %s", names.text);
	}
	fault_raise(f, FAULT_USAGE, 0, "unknown option %.60s", text);
	/* In a short word few letters make another one of it. */
	for (unsigned d = 1; d <= (size < SHORT_WORD ? 1 : 2); d++)
		if (list_similar(o, word, size, d, &names))
			return fault_fix(f, "did you mean %s?", names.text);
	return fault_fix(f, "see --help=all");
}

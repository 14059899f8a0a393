// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/options.h"

#define COLUMN 19 /* of what an option does */

int command_store(const struct option_row *row, const char *value, void *into, struct fault *f)
{
	bool rate = row->kind == COMMAND_RATE, bad;
	double *to = (double *)(void *)((char *)into + row->field);
	char name[64];

	if (row->kind < COMMAND_SECONDS)
		return options_store(row, value, into, f);
	if (rate)
		bad = units_parse_rate(value, to) || !(*to > 0);
	else
		bad = units_parse_decimal(value, to) || *to > (double)row->max;
	if (rate)
		*to /= 1e9;
	if (!bad)
		return 0;
	options_invalid(options_name(row, name, sizeof(name)), value, f);
	if (row->kind == COMMAND_SECONDS)
		return fault_fix(f, "give a number up to %" PRIu64, row->max);
	return fault_fix(f, rate ? "give Gb/s, such as 380" : "give a percentage, such as 5");
}

int command_refuse(const struct command *c, const char *text, struct fault *f)
{
	const char *word = text + strspn(text, "-");
	size_t size = strcspn(word, "=");

	if (*text != '-')
		fault_raise(f, FAULT_USAGE, 0, "unexpected argument '%.64s'", text);
	else
		fault_raise(f, FAULT_USAGE, 0, "'%.64s' is not an option of %s", text, c->name);
	if (options_instead(word, size))
		return fault_fix(f, "%s", options_instead(word, size));
	if (options_suggest(c->options, 0, word, size, f))
		return -1;
	return fault_fix(f, "`%s --help` shows its options", c->name);
}

static void print_help(const struct command *c)
{
	printf("usage: %s %s\n\n%s%s", c->name, c->synopsis, c->about ? c->about : "",
	       c->about ? "\n" : "");
	for (const struct option_row *o = c->options; o->name; o++) {
		const char *line = o->help;

		if (!line)
			continue;
		printf("  --%s%s%-*s ", o->name, o->value ? " " : "",
		       COLUMN - 4 - (int)strlen(o->name) - !!o->value, o->value ? o->value : "");
		for (size_t n; (n = strcspn(line, "\n")), line[n]; line += n + 1)
			printf("%.*s\n%*s", (int)n, line, COLUMN + 1, "");
		puts(line);
	}
	printf("  %-*s show this\n", COLUMN - 2, "--help");
	if (c->more)
		printf("\n%s", c->more);
}

bool command_helps(const struct command *c, const char *word)
{
	if (strcmp(word, "--help") != 0 && strcmp(word, "-h") != 0)
		return false;
	print_help(c);
	return true;
}

int command_read(const struct command *c, void *into, char **argv, char ***rest, struct fault *f)
{
	struct option_words w = {.next = argv};
	const struct option_row *row;
	char **operand = argv;
	const char *value;

	while (*w.next && strcmp(*w.next, "--") != 0) {
		char *word = *w.next;
		int rc = options_next(c->options, &w, &row, &value, f);

		if (rc < 0 || (rc > 0 && command_store(row, value, into, f)))
			return -1;
		if (rc > 0)
			continue;
		if (command_helps(c, word))
			return 1;
		if (!c->operands || (*word == '-' && word[1]))
			return command_refuse(c, word, f);
		*operand++ = word;
		w.next++;
	}
	*rest = *w.next ? w.next + 1 : w.next;
	for (; c->operands && **rest; ++*rest)
		*operand++ = **rest;
	if (c->operands)
		*operand = NULL;
	return 0;
}

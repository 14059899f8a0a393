// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/command.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

#define COLUMN 19 /* of what an option does */

/* The option of C whose name the SIZE characters at WORD are, or the only one that they begin. */
static const struct command_option *find(const struct command *c, const char *word, size_t size)
{
	const struct command_option *found = NULL;
	unsigned begin = 0;

	for (const struct command_option *o = c->options; o->name; o++) {
		if (strncmp(o->name, word, size) != 0)
			continue;
		if (!o->name[size])
			return o;
		found = o;
		begin++;
	}
	return begin == 1 ? found : NULL;
}

int command_next(const struct command *c, char ***argv, const struct command_option **row,
		 const char **value, struct fault *f)
{
	const char *word = **argv;
	size_t size = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
	const struct command_option *o = size ? find(c, word + 2, size) : NULL;
	bool has = o && word[2 + size];

	if (!o || (has && !o->value))
		return 0;
	*row = o;
	*value = has ? word + 2 + size + 1 : NULL;
	if (!o->value || has)
		return 1;
	if ((*argv)[1]) {
		*value = *++*argv;
		return 1;
	}
	fault_raise(f, FAULT_USAGE, 0, "--%s needs a value", o->name);
	return fault_fix(f, "give --%s=%s", o->name, o->value);
}

int command_store(const struct command_option *row, const char *value, void *into, struct fault *f)
{
	void *to = (char *)into + row->at;
	bool bad = false;

	switch (row->kind) {
	case COMMAND_FLAG:
		*(bool *)to = true;
		break;
	case COMMAND_TEXT:
		*(const char **)to = value;
		break;
	case COMMAND_COUNT:
		bad = units_parse_u64(value, to) || (double)*(uint64_t *)to > row->most;
		break;
	case COMMAND_TIME:
		bad = units_parse_seconds(value, to) || !*(uint64_t *)to;
		break;
	case COMMAND_SECONDS:
	case COMMAND_PERCENT:
		bad = units_parse_decimal(value, to) || *(double *)to > row->most;
		break;
	case COMMAND_RATE:
		bad = units_parse_rate(value, to) || !(*(double *)to > 0);
		*(double *)to /= 1e9;
		break;
	}
	if (!bad)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--%s: invalid value '%.64s'", row->name, value);
	if (row->kind == COMMAND_COUNT || row->kind == COMMAND_SECONDS)
		return fault_fix(f, "give a number up to %.0f", row->most);
	return fault_fix(f, row->kind == COMMAND_TIME   ? "give a time, such as 90 or 5m"
			    : row->kind == COMMAND_RATE ? "give Gb/s, such as 380"
							: "give a percentage, such as 5");
}

/* WORD is no option of C: say so, and which it may be meant for. Returns -1. */
static int refuse(const struct command *c, const char *word, struct fault *f)
{
	const struct command_option *near = NULL;
	size_t size = strcspn(word + 2, "="), least = 3; /* two letters may be wrong, */

	for (const struct command_option *o = c->options; size && o->name; o++) {
		size_t n = text_distance(o->name, word + 2, size);

		if (n < least && 2 * n < size && o->help) { /* but not half of them */
			least = n;
			near = o;
		}
	}
	if (*word == '-')
		fault_raise(f, FAULT_USAGE, 0, "'%.64s' is not an option of %s", word, c->name);
	else
		fault_raise(f, FAULT_USAGE, 0, "unexpected argument '%.64s'", word);
	if (near)
		return fault_fix(f, "did you mean --%s?", near->name);
	return fault_fix(f, "`%s --help` shows its options", c->name);
}

static void print_help(const struct command *c)
{
	printf("usage: %s %s\n\n%s%s", c->name, c->synopsis, c->about ? c->about : "",
	       c->about ? "\n" : "");
	for (const struct command_option *o = c->options; o->name; o++) {
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
	const struct command_option *row;
	char **operand = argv;
	const char *value;

	fault_phase(f, "reading the command line");
	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		int rc = command_next(c, &argv, &row, &value, f);

		if (rc == 0 && command_helps(c, *argv))
			return 1;
		if (rc == 0 && c->operands && (**argv != '-' || !(*argv)[1]))
			*operand++ = *argv;
		else if (rc == 0)
			return refuse(c, *argv, f);
		else if (rc < 0 || command_store(row, value, into, f))
			return -1;
	}
	*rest = *argv ? argv + 1 : argv;
	for (; c->operands && **rest; ++*rest)
		*operand++ = **rest;
	if (c->operands)
		*operand = NULL;
	return 0;
}

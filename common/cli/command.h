/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command: a command that is no test (rdmark list, rdmark-pairs run), with a table of options of
 * its own: from it follow what is read and --help.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "cli/options.h"

/*
 * A row: MOST is the most of a number, which begins at 0, or of bytes; a time is more than 0 and
 * has no other most. HELP NULL: not shown.
 */
#define COMMAND_OPTION(type, member, name, value, kind, most, help)                                \
	{                                                                                          \
		name, 0, kind, SCOPE_LOCAL, offsetof(struct type, member), kind == OPTION_SECONDS, \
			kind == OPTION_SECONDS ? OPTIONS_TIME_MAX_NS : (most), value, help         \
	}

struct command {
	const char *name;         /* "rdmark-pairs run" */
	const char *synopsis;     /* "--start EPOCH [OPTION...]" */
	const char *about, *more; /* paragraphs before and after the options; NULL: none */
	const struct option_row *options;
	bool operands; /* words that are no options are allowed */
};

/* Store VALUE in INTO. Returns 0, or -1 with FAULT_USAGE. */
int command_store(const struct option_row *row, const char *value, void *into, struct fault *f);

/*
 * Read ARGV into INTO. If C has operands, they are moved to the start of ARGV, also those after
 * "--", and NULL ends them; else *REST is what follows "--", or ARGV's end. Returns 0; 1: help was
 * asked for and printed; -1 with FAULT_USAGE.
 */
int command_read(const struct command *c, void *into, char **argv, char ***rest, struct fault *f);

/* TEXT is no option of C: raise that, and which it may be meant for. Returns -1. */
int command_refuse(const struct command *c, const char *text, struct fault *f);

/* True if WORD is --help or -h; C's help is then printed. */
bool command_helps(const struct command *c, const char *word);

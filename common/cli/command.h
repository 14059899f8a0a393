/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command: the options of a command that is no test (rdmark list, rdmark-pairs run), as a table:
 * from it follow the parser and --help. "--name=value", "--name value", and any beginning that only
 * one option has.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

enum command_kind {
	COMMAND_FLAG,    /* bool */
	COMMAND_TEXT,    /* const char *, lent by ARGV */
	COMMAND_COUNT,   /* uint64_t, up to `most` */
	COMMAND_TIME,    /* uint64_t, in ns; more than 0 */
	COMMAND_SECONDS, /* double, from 0 to `most` */
	COMMAND_RATE,    /* double, in Gb/s; more than 0 */
	COMMAND_PERCENT, /* double, up to `most` */
};

struct command_option {
	const char *name;  /* without "--"; NULL: the table ends */
	const char *value; /* "FILE"; NULL: a flag */
	enum command_kind kind;
	size_t at; /* offset of the member that gets it */
	double most;
	const char *help; /* its lines; NULL: not shown */
};

#define COMMAND_OPTION(type, member, name, value, kind, ...)                  \
	{                                                                     \
		name, value, kind, offsetof(struct type, member), __VA_ARGS__ \
	}

struct command {
	const char *name;         /* "rdmark-pairs run" */
	const char *synopsis;     /* "--start EPOCH [OPTION...]" */
	const char *about, *more; /* paragraphs before and after the options; NULL: none */
	const struct command_option *options;
	bool operands; /* words that are no options are allowed */
};

/*
 * If **ARGV begins an option of C, set *ROW and *VALUE (NULL: a flag), and move *ARGV to its last
 * word. Returns 1; 0: it is none of C's; -1 with FAULT_USAGE.
 */
int command_next(const struct command *c, char ***argv, const struct command_option **row,
		 const char **value, struct fault *f);

/* Store VALUE in INTO. Returns 0, or -1 with FAULT_USAGE. */
int command_store(const struct command_option *row, const char *value, void *into, struct fault *f);

/*
 * Read ARGV into INTO. If C has operands, they are moved to the start of ARGV, also those after "--",
 * and NULL ends them; else *REST is what follows "--", or ARGV's end. Returns 0; 1: help was asked for and printed; -1 with
 * FAULT_USAGE.
 */
int command_read(const struct command *c, void *into, char **argv, char ***rest, struct fault *f);

/* True if WORD is --help or -h; C's help is then printed. */
bool command_helps(const struct command *c, const char *word);

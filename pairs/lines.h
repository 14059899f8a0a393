/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lines: a file of words, line by line, for small files that people write. Within bounds, whatever
 * the file is; empty lines and what follows a # do not count.
 *
 * A file can travel in a command line to hosts that do not have it: as "lines:n1,n2+n3", which is
 * two lines, the first one of two words.
 */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

#define LINES_BYTES_MAX  (64 << 20)
#define LINES_WORDS_MAX  4096 /* in a line */
#define LINES_JOINED     "lines:"

struct lines {
	const char *file;
	char *text, *next;
	unsigned number;                 /* of the line last read, from 1 */
	char *word[LINES_WORDS_MAX + 1]; /* of that line, ended by NULL */
	unsigned words;
};

/* Read FILE, or the lines of "lines:…". Returns 0, or -1 with FAULT_USAGE or FAULT_LOCAL. */
int lines_open(struct lines *l, const char *file, struct fault *f);

/* Read the next line that has words. Returns 1; 0 at the end; -1 with FAULT_USAGE. */
int lines_next(struct lines *l, struct fault *f);

/* Raise the fault that the last line is not WANTED. Returns -1. */
int lines_refuse(const struct lines *l, const char *wanted, struct fault *f);

void lines_release(struct lines *l);

/* True if FILE is lines already, and names no file. */
bool lines_are_joined(const char *file);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* terminal: its width, text broken into lines of that width, and colours. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

/* The number of columns of the terminal at FD; 0: it is no terminal, or the width is unknown. */
unsigned terminal_columns(int fd);

/* The descriptor of OUT, also of a stdout or stderr that streams_open() has replaced; -1: none. */
int terminal_fd(FILE *out);

/*
 * Append TEXT to the string TO, which has SIZE bytes, in lines of at most COLUMNS (0: one line),
 * broken at blanks. A longer word gets a line of its own. Each line after the first starts with
 * INDENT blanks. If it does not fit, it is cut, and its last byte is the newline.
 */
void terminal_wrap(char *to, size_t size, const char *text, unsigned columns, unsigned indent);

/*
 * Write the note "PROGRAM: TEXT\n" (printf) to OUT in a single write, so that with 2>&1 no row of
 * stdout comes between; PROGRAM is what this one was started as. On a terminal it is wrapped, with
 * an indent. It needs no memory of the heap, and is cut after 4 KiB.
 */
void terminal_note(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void terminal_vnote(FILE *out, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/*
 * Write TEXT to OUT, in COLOUR if OUT is a terminal that has colours, and neither NO_COLOR nor
 * TERM=dumb says otherwise.
 */
enum terminal_colour {
	TERMINAL_RED = 31,
	TERMINAL_GREEN,
	TERMINAL_YELLOW
};
void terminal_put(FILE *out, enum terminal_colour colour, const char *text);

/* The same with the first word alone, if it is a verdict: "FAIL too slow", "warn: no GPU". */
void terminal_verdict(FILE *out, const char *text);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outlet: writes lines to a descriptor that may block, for a thread that must not block.
 *
 * A terminal stopped by Ctrl-S, or a pipe without a reader, can block write(2) for any time. Lines
 * that an outlet cannot write at once wait in its buffer, up to a limit. A line without room is
 * dropped as a whole and counted. No line is ever cut: the rest of a partly written line always
 * waits, and is written first.
 *
 * O_NONBLOCK belongs to the open file description, which other processes share, the user's shell
 * too. So the outlet opens a terminal or a pipe again through /proc/self/fd, and writes to a socket
 * with MSG_DONTWAIT; if neither is possible, it calls poll(2) before each write. A file on a disk
 * is written to directly.
 *
 * One thread at a time may use an outlet. Write to the same descriptor by other means only after
 * outlet_finish(), or the text may land within a line. A zeroed object discards all lines.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum outlet_kind {
	OUTLET_NONE,
	OUTLET_PLAIN,  /* a file; never blocks for long */
	OUTLET_OWN,    /* its own open file description, with O_NONBLOCK */
	OUTLET_SOCKET, /* MSG_DONTWAIT */
	OUTLET_POLLED
};

struct outlet {
	enum outlet_kind kind;
	int given, fd; /* the caller's descriptor; the one that is written to */
	size_t room;   /* bytes that may wait, plus the rest of a partly written line */
	char *waiting; /* owned */
	size_t used, size;
	uint64_t dropped; /* lines; the caller resets it to 0 */
	int errnum;       /* why every write fails; 0: they succeed */
};

/* Open an outlet for FD, with ROOM bytes for waiting lines. */
void outlet_open(struct outlet *o, int fd, size_t room);

/* Write a line of BYTES, or as much of it as is possible at once. Never blocks. */
void outlet_put(struct outlet *o, const char *line, size_t bytes);

/* Write all waiting lines. Blocks until they are written. */
void outlet_finish(struct outlet *o);

/* Flush OUT. Returns 0, or the errno of the failed write, now or earlier. */
int outlet_flush(FILE *out);

/* Discard the waiting lines, and close the outlet's own descriptor. Safe on a zeroed object. */
void outlet_close(struct outlet *o);

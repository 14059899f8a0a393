/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outlet: writes to a descriptor that may block, for a thread that must not block, or only until a
 * signal comes.
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
 * One thread at a time may use an outlet; several may, if it has a stream, whose lock is then its
 * own, and only the thread that opened it waits. Write to the same descriptor by other means only
 * after outlet_finish(), or the text may land within a line. A zeroed object discards all lines.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/stop.h"

#define OUTLET_ROOM (1u << 20) /* of what waits for the reader of a stream */

/* Between two looks at what nothing tells of: that a FIFO has a reader, or a lock is free. */
#define OUTLET_LOOK_NS UINT64_C(20000000)

enum outlet_kind {
	OUTLET_NONE,
	OUTLET_PLAIN,  /* a file; never blocks for long */
	OUTLET_OWN,    /* its own open file description, with O_NONBLOCK */
	OUTLET_SOCKET, /* MSG_DONTWAIT */
	OUTLET_POLLED
};

struct outlet {
	enum outlet_kind kind;
	int fd;        /* that is written to: the caller's, or the same opened again */
	size_t room;   /* bytes that may wait, plus the rest of a partly written line */
	char *waiting; /* owned */
	size_t used, size;
	uint64_t dropped;      /* lines; the caller resets it to 0 */
	int errnum;            /* why every write fails; 0: they succeed */
	struct stop *stop;     /* lent; its signal ends a wait; NULL: none */
	int left;              /* errno: a wait for its reader was given up, and no other begins */
	pthread_t thread;      /* that opened it, the only one that waits */
	FILE *stream;          /* NULL: it has none */
	pthread_mutex_t lock;  /* of what a stream of several threads writes */
	bool within, skipping; /* the stream is within a line, which is dropped */
};

/* Open an outlet for FD, with ROOM bytes for waiting lines. */
void outlet_open(struct outlet *o, int fd, size_t room);

/*
 * Open FILE for an outlet, with the flags HOW of open(2), and wait for the reader of a FIFO, until
 * a signal of STOP (NULL: none) comes. Returns 0 or an errno: EINTR and EAGAIN as of stop_output().
 */
int outlet_open_file(struct outlet *o, const char *file, int how, struct stop *stop);

/*
 * Write BYTES, after the waiting lines. Blocks until they are written, a signal of o->stop comes,
 * or writing fails. Returns 0 or an errno.
 */
int outlet_write(struct outlet *o, const char *text, size_t bytes);

/*
 * A stream, which the caller closes before O, that writes to O as outlet_write() does. With
 * o->stop->output_ns, and in other threads, it never waits, and keeps and drops lines as
 * outlet_put() does with a room of OUTLET_ROOM. NULL: no memory.
 */
FILE *outlet_stream(struct outlet *o);

/* Write a line of BYTES, or as much of it as is possible at once. Never blocks. */
void outlet_put(struct outlet *o, const char *line, size_t bytes);

/* Write all waiting lines. Blocks as outlet_write() does. Returns 0 or an errno. */
int outlet_finish(struct outlet *o);

/* Flush OUT. Returns 0, or the errno of the failed write, now or earlier. */
int outlet_flush(FILE *out);

/*
 * Discard the waiting lines, and close the outlet's own descriptor. Safe on a zeroed object.
 * Returns 0, or the errno of a failed close, which may be that of a write.
 */
int outlet_close(struct outlet *o);

/*
 * stdout and stderr of a program with a stop. While its signals are blocked, a write(2) that waits
 * for a reader would be deaf to them, so both streams write through outlets.
 */
struct streams {
	struct outlet out, err;
	FILE *was_out, *was_err; /* stdout and stderr before; NULL: not replaced */
};

/* Replace stdout and stderr, until streams_close(). STOP is lent. Without memory they stay. */
void streams_open(struct streams *s, struct stop *stop);

/* Write what is left, and put the former streams back. Safe on a zeroed object. */
void streams_close(struct streams *s);

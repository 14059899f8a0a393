/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * child: a program of the suite that this process starts and reads. Its standard output is read as
 * it comes, and its errors are kept in memory; it ends when this process does, whatever ends that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"

#define CHILD_SAID_MAX (4 << 20) /* what a program says beyond that is dropped */

struct child {
	pid_t pid;  /* 0: none runs */
	int fd;     /* its standard output, which does not block; -1: it has closed that */
	int errors; /* a file in memory */
	char *said;
	size_t said_n, said_room;
};

/* Start the program ARGV[0] of this folder, or of $PATH. Returns 0, or -1 with FAULT_LOCAL. */
int child_start(struct child *c, char *const *argv, struct fault *f);

/*
 * Read what it has said, ended by a 0. Returns 1: it goes on; 0: it has ended, and its status as
 * waitpid(2) gives it is in *STATUS. Never blocks: one whose output is at its end may need a little
 * longer to be gone.
 */
int child_read(struct child *c, int *status);

/* Write the last line of its errors to BUF, "" if there is none. Once, when it has ended. */
void child_last_error(struct child *c, char *buf, size_t size);

/* Forget the lines that it has said so far; what follows the last newline stays. */
void child_skip_lines(struct child *c);

/* Send SIGNAL to it, if it runs. */
void child_signal(const struct child *c, int signal);

/* Kill it, if it runs, and release what it said. Safe on a zeroed object. */
void child_release(struct child *c);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process: another program, which this one starts and waits for: one of the suite, which is in the
 * folder of this program or in $PATH, or a launcher.
 *
 * Its standard input is empty, no signal is blocked in it, and it gets a signal when this process
 * ends, whatever ends that. A pipe that nobody else writes to tells of its end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/stop.h"

struct process {
	pid_t pid;  /* 0: none runs */
	int out;    /* its standard output, which does not block; 0: not heard, or at its end */
	int end;    /* of a launcher, and of one that is not heard: at end of file when it, and all
		       that it has started, have ended; 0: none */
	int errors; /* its standard error, a file in memory; 0: that of this process */
	bool group; /* it has a process group of its own */
	bool lost;  /* not all that it said was kept */
	char *said; /* and is not forgotten yet, ended by a 0; NULL: nothing */
	size_t said_n, said_room;
};

struct process_attr {
	char *const *argv; /* argv[0] is the program's name, */
	bool launcher;     /* of no program of the suite; it has a process group of its own */
	bool heard;        /* its standard output is read here; else it shares that of this one */
	bool hushed;       /* its errors are kept: process_last_error() */
	int orphan;        /* the signal that it gets when this process ends */
};

/* The programs that measure, with a blank between two. Generated: build/gen/names.c. */
const char *process_programs(void);

/* True if NAME is one of them. */
bool process_measures(const char *name);

/* Become the program ARGV[0] of the suite. Returns only if that fails: -1, with FAULT_LOCAL. */
int process_become(char *const *argv, struct fault *f);

/*
 * Start it. Returns 0, or -1 with FAULT_LOCAL. If the program cannot be executed, the process says
 * so on its standard error, and ends with the status of that fault.
 */
int process_start(struct process *p, const struct process_attr *a, struct fault *f);

/* Send SIGNAL to it, if it runs, or to its group. */
void process_signal(const struct process *p, int signal);

/*
 * Read a piece of what it has said into p->said, if there is one. Returns 1: it goes on; 0: that
 * was all. Never blocks.
 */
int process_hear(struct process *p);

/* Forget the lines that it has said so far; what follows the last newline stays. */
void process_forget_lines(struct process *p);

/*
 * As process_hear(), but 0 when it has ended; its status as waitpid(2) gives it is in *STATUS. One
 * whose output is at its end may need a little longer to be gone.
 */
int process_poll(struct process *p, int *status);

/* Wait until it has ended, as it is about to. Returns its status as waitpid(2) gives it. */
int process_reap(struct process *p);

/*
 * Wait until it has ended, and hear all of it. Signals that STOP receives meanwhile are passed on
 * to it, and the third one kills it. Returns its status as waitpid(2) gives it, or -1 with
 * FAULT_LOCAL.
 */
int process_wait(struct process *p, struct stop *stop, struct fault *f);

/* The exit status that a shell shows for STATUS of waitpid(2): 128 and more for a signal. */
int process_exit_status(int status);

/* Write the last line of its errors to BUF, "" if there is none. */
void process_last_error(const struct process *p, char *buf, size_t size);

/* Kill it, if it runs, and release what it said. Safe on a zeroed object. */
void process_release(struct process *p);

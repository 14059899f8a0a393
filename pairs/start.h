/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * start: a new process for a program: its standard input is empty, no signal is blocked, and it
 * gets a signal when this process ends, whatever ends that.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct start {
	char *const *argv;
	const char *path; /* the file; NULL: argv[0], as the shell finds it */
	int errors;       /* its standard error; -1: that of this process */
	int held;         /* a descriptor that it keeps open until it ends; -1: none */
	int orphan;       /* the signal that it gets when this process ends */
	bool group;       /* it is in a process group of its own */
};

/*
 * Start it. *OUT is where its standard output is read. Returns its PID, or -1 with errno. If the
 * program cannot be executed, the process says so on its standard error, and ends with status 127.
 */
pid_t start_process(const struct start *s, int *out);

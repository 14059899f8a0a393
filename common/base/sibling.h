/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sibling: finds and runs the other programs of the suite.
 *
 * They are in the folder of this program. A pipe tells when a sibling has ended: only the sibling
 * has its write end, so it closes then, and waitpid(2) collects the exit status.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/stop.h"

struct sibling {
	pid_t pid;
	int fd; /* its standard output, if attr.heard; at end of file when it has ended */
};

struct sibling_attr {
	char *const *argv; /* the first one is the program's name */
	char *const *envp;
	bool heard; /* its standard output is read here; otherwise it shares that of this program */
};

/* The programs that measure, with a blank between two. Generated: build/gen/names.c. */
const char *sibling_names(void);

/* True if NAME is one of them. */
bool sibling_known(const char *name);

/* Write the path of NAME in this program's folder to PATH; false if there is no executable file. */
bool sibling_path(const char *name, char *path, size_t size);

/*
 * Start the program attr->argv[0] from this folder, or from $PATH if it is not there. Returns 0, or
 * -1 with FAULT_LOCAL.
 */
int sibling_start(struct sibling *b, const struct sibling_attr *attr, struct fault *f);

/*
 * Wait until it has ended. Signals that STOP receives meanwhile are passed on to it, and the third
 * one kills it. If its output is heard, *SAID is all of it, ended by a 0; the caller frees it (SAID
 * may be NULL otherwise). Returns its status as waitpid(2) gives it, or -1 with FAULT_LOCAL.
 */
int sibling_wait(struct sibling *b, struct stop *stop, char **said, struct fault *f);

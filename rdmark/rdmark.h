/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdmark: the command that users try first. It starts the other programs and reads their output; it
 * measures nothing itself.
 */
#pragma once

#include "base/fault.h"

#define RDMARK "rdmark"

/*
 * The commands. ARGV is the rest of the command line, ended by NULL. They print their fault and
 * return the exit status.
 */
int list_command(char **argv);
int compare_command(char **argv);

/* The tour with the host ARGV[0] and the options after it. */
int tour_command(char **argv);

/* Print the fault F. Returns its exit status. */
int rdmark_failed(const struct fault *f);

/*
 * Print the fault that COMMAND does not have ARGUMENT; USAGE is its synopsis. Returns the exit
 * status.
 */
int rdmark_unknown(const char *command, const char *argument, const char *usage);

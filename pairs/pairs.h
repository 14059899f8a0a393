/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdmark-pairs: measures pairs of a set of nodes, and names the nodes, rails and links that are
 * slow. A launcher (srun, mpirun, clush) starts one process on each node; the suite's programs
 * measure.
 */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "cli/command.h"

#define PAIRS "rdmark-pairs"

/* The options of run, which sweep passes on. */
const struct command *run_options_command(void);

/* The commands. ARGV is the rest of the command line. They return the exit status. */
int run_command(char **argv);
int sweep_command(char **argv);

struct run_times {
	double slot_s, lasts_s; /* with hosts that are not known: at most */
};

/*
 * What would `run` refuse with ARGV on every host? Checked here, before a launcher starts it there:
 * the options, the program's, and, of the hosts of --hosts, the schedule and the ports. With --dry-run
 * it says on standard output what the run would be. TIMES (NULL: of no interest) is how long it lasts.
 * Returns 0, or -1 with FAULT_USAGE or FAULT_LOCAL.
 */
int run_check(char **argv, struct run_times *times, struct fault *f);

/*
 * What would `judge` refuse with ARGV, whatever is in the files that it judges? It reads what it
 * compares with, and tries the places where it writes, which stay as they are. Reorders ARGV.
 * Returns 0, or -1 with FAULT_USAGE or FAULT_LOCAL.
 */
int judge_check(char **argv, struct fault *f);

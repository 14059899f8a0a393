/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdmark-pairs: measures every pair of a set of nodes, and names the nodes, rails and links that
 * are slow. A launcher (srun, mpirun, clush) starts one process on each node; the suite's programs
 * measure.
 */
#pragma once

#include "base/fault.h"

#define PAIRS "rdmark-pairs"

/* The commands. ARGV is the rest of the command line. They return the exit status. */
int run_command(char **argv);
int sweep_command(char **argv);

/* Print the fault F. Returns its exit status. */
int pairs_failed(const struct fault *f);

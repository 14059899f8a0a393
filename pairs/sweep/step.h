/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * step: one run of `rdmark-pairs run` on all nodes. Starts the launcher, appends the lines that the
 * nodes write to a file, and sees to it that the launcher ends when the schedule is over.
 */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "base/stop.h"

struct step {
	char **command; /* the launcher's command line */
	int out;        /* the file */
	double start_s; /* when the first slot begins, CLOCK_REALTIME */
	bool again;     /* say how many pairs it measures again, and for how long */
	/* Of the lines: */
	unsigned players, done; /* processes that have begun, and those that have ended */
	unsigned pairs, failed; /* runs, and those without a figure */
	double end_s;           /* when the last slot is over; 0: not known */
	bool overdue;           /* the launcher had to be ended */
};

/*
 * Run the step. At a signal the launcher is told to end, always with SIGTERM (at its first SIGINT
 * srun only says what runs), and the third one kills it; what the nodes write until then is in the
 * file. Returns 0 when all is over, however the launcher ended, or -1
 * with FAULT_LOCAL if it could not be started or the file not written, with FAULT_DEADLINE if no
 * node said anything, and with FAULT_INTERRUPTED.
 */
int step_run(struct step *s, struct stop *stop, struct fault *f);

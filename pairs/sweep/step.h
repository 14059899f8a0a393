/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * step: one run of `rdmark-pairs run` on all nodes. Starts the launcher, appends the lines that the
 * nodes write to a file, and sees to it that the launcher ends when the schedule is over.
 */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "base/process.h"
#include "base/stop.h"
#include "pairs/hosts.h"

struct step {
	const char *name;    /* of the launcher: "ssh" */
	char **command;      /* its command line */
	int end_signal;      /* what tells it to end */
	int out;             /* the file */
	double start_s;      /* when the first slot begins, CLOCK_REALTIME */
	double lasts_s;      /* from then on, at most */
	struct hosts *hosts; /* none: they are not known */
	/* Of the lines: */
	unsigned players, ends; /* processes that have begun, and those that have ended, */
	unsigned complete;      /* and that after the last round of all */
	unsigned pairs, failed; /* runs, and those without a figure */
	double rounds;          /* of the schedule */
	double end_s;           /* when the last slot is over; 0: not known */
	char taken[64];         /* the first host whose port is in use */
	bool overdue;           /* the launcher had to be ended */
	int status;             /* of the launcher, as a shell shows it */
	/* While it runs: */
	struct process launcher;
	uint64_t deadline_ns; /* when it is told to end; then, when it is killed */
	uint64_t shown_ns;    /* the progress */
	bool told;            /* to end */
};

/*
 * Run the step. At a signal the launcher is told to end, and the third one kills it. Returns 0 when all is over, however the
 * launcher ended; -1 with FAULT_LOCAL, with FAULT_USAGE if another sweep has the ports, with
 * FAULT_DEADLINE if no node said anything, or with FAULT_INTERRUPTED.
 */
int step_run(struct step *s, struct stop *stop, struct fault *f);

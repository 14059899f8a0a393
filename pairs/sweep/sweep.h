/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sweep: `rdmark-pairs sweep`: what it was asked for. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/outlet.h"
#include "pairs/hosts.h"
#include "launch.h"
#include "pairs/pairs.h"

#define WORDS_MAX 512

/* Words of a command line. */
struct words {
	char *word[WORDS_MAX + 1]; /* ended by NULL */
	size_t count;
};

struct node_sweep {
	const char *launcher, *output, *suspects, *start;
	const char *hosts, *schedule, *passed; /* of run, which gets what is in the files */
	char plan[PATH_MAX];                   /* OUTPUT.plan: what the judge plans */
	double start_in_s;
	uint64_t test_for_ns; /* what is left of it */
	const char *judged;  /* of judge: the last value; all go to it as words */
	uint64_t once;       /* 1: no plan is measured */
	uint64_t dry_run;
	struct words run, program, judge; /* of the user: options of run, "--" and what follows */
	struct launch launch;
	struct hosts known; /* n 0: only the launcher knows the hosts */
	char *travels[2];   /* hosts and schedule, as they are in the command line of run */
	char own[PATH_MAX]; /* this program */
	int out;
	struct run_times times; /* of the run that was last made ready */
	struct stop stop;
	struct streams streams;
	struct fault fault;
};

/* Add WORD, which stays the caller's. With WORDS_MAX words W is full, and more are dropped. */
void words_put(struct words *w, const char *word);
void words_put_all(struct words *w, char *const *words);

/*
 * Read the command line into S, which has the defaults. Returns 0; 1: help was printed; -1 with
 * FAULT_USAGE or FAULT_LOCAL in s->fault. Call launch_release(&s->launch) in any case.
 */
int sweep_options(struct node_sweep *s, char **argv);

/* True if the exit STATUS of the judge is a verdict, and no failure. */
static inline bool sweep_is_verdict(int status)
{
	return status == 0 || status == FAULT_PEER || status == FAULT_THRESHOLD ||
	       status == FAULT_UNAVAILABLE;
}

/*
 * Run COMMAND of this program, and wait for its end. *SAID is what it prints, which the caller
 * frees. Returns its exit status, 128 and more for a signal; or -1 with s->fault.
 */
int sweep_start(struct node_sweep *s, const struct words *command, char **said);

/* Find the hosts, if they can be known here, and what travels to them. Returns 0, or -1 with
 * s->fault. */
int sweep_find_hosts(struct node_sweep *s);

/* Add the options of run that say which hosts, and, unless there is a PLAN, which schedule. */
void sweep_put_hosts(const struct node_sweep *s, const char *plan, struct words *command);

void sweep_release_hosts(struct node_sweep *s);

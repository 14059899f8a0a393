/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sweep: `rdmark-pairs sweep`: what it was asked for. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/stop.h"
#include "launch.h"

#define WORDS_MAX 512

/* Words of a command line. */
struct words {
	char *word[WORDS_MAX + 1]; /* ended by NULL */
	size_t count;
};

struct sweep {
	const char *launcher, *output, *suspects, *hosts;
	const char *groups;    /* the file of --schedule group=FILE, which the judge reads, too */
	char retest[PATH_MAX]; /* OUTPUT.retest: what the judge wants measured again */
	double start_in_s;
	bool judges_groups;               /* --groups was given */
	bool incast;                      /* --schedule incast=K */
	bool once;                        /* suspects are not measured again */
	struct words run, program, judge; /* of the user: options of run, "--" and what follows */
	struct launch launch;
	char own[PATH_MAX]; /* this program */
	int out;
	struct stop stop;
	struct fault fault;
};

/* Add WORD, which stays the caller's. With WORDS_MAX words W is full, and more are dropped. */
void words_put(struct words *w, const char *word);
void words_put_all(struct words *w, char *const *words);

/*
 * Read the command line into S, which has the defaults. Returns 0; 1: help was printed; -1 with
 * FAULT_USAGE or FAULT_LOCAL in s->fault. Call launch_release(&s->launch) in any case.
 */
int sweep_options(struct sweep *s, char **argv);

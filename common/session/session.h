/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: what a program is, and running it: roles, phases, deadlines, signals.
 *
 * A program fills in a struct test and calls session_main(); the session brings both ends up and
 * calls the program's loops once for every pass over a message size.
 */
#ifndef RDMARK_SESSION_SESSION_H
#define RDMARK_SESSION_SESSION_H

#include <stdbool.h>

#include "loop/round.h"
#include "wire/experiment.h"

struct test {
	const char *name;    /* "send_bw"; both ends must run the same */
	const char *summary; /* one line for --help */
	const char *title;   /* the name that perftest gives it */
	struct experiment defaults;
	bool latency;         /* half round trips are the result; one QP */
	bool receives;        /* the peer's messages consume receives */
	bool written;         /* the peer writes into this end's memory */
	unsigned inline_wish; /* bytes, where --inline_size is not given */
	/*
	 * The loops. They run the round and leave its results in it. Without a server loop the
	 * server has nothing to do but to wait until the client is done.
	 */
	int (*client)(struct round *r);
	int (*server)(struct round *r);
};

/* Run TEST with this command line; returns the process's exit status. */
int session_main(const struct test *test, int argc, char **argv);

#endif

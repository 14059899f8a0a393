/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: what a program is, and running it: roles, phases, deadlines, signals.
 *
 * A program fills in a struct test and calls session_main(); the session brings both ends up and
 * calls the program's loops once for every pass over a message size.
 */
#ifndef RDMARK_SESSION_SESSION_H
#define RDMARK_SESSION_SESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "loop/round.h"
#include "wire/experiment.h"

struct session;

struct test {
	const char *name;    /* "send_bw"; both ends must run the same */
	const char *summary; /* one line for --help */
	const char *title;   /* the name that perftest gives it */
	struct experiment defaults;
	bool latency; /* half round trips are the result; one QP */
	enum {
		RECEIVES_NONE,
		RECEIVES_FOLLOWER,
		RECEIVES_BOTH
	} receives;           /* whose receives the other end's messages consume */
	bool written;         /* the peer writes into this end's memory */
	unsigned inline_wish; /* bytes, where --inline_size is not given */
	/*
	 * The loops. They run the round and leave its results in it. The client leads unless the
	 * round is reversed. Without a loop to follow with, the other end only waits until the
	 * leader is done.
	 */
	round_loop *lead, *follow;
	/* In place of those with --write_with_imm, and in a latency test where either end's memory
	 * is a GPU's, which no CPU can poll: messages complete receives. NULL: the same. */
	round_loop *lead_immediate, *follow_immediate;
	/*
	 * A program with rounds of several kinds (gdr_bw) has a schedule of its own, run by the
	 * client in place of one round for each size, with things of its own at both ends: OPEN
	 * makes them when QPs and memory stand, CLOSE (NULL is fine) is called before those go, and
	 * TASK does at either end what is no round; session/parts.h.
	 */
	unsigned ways;                 /* its kinds of round are 1 … ways */
	bool (*follows)(unsigned way); /* rounds of this kind have something to follow with */
	int (*open)(struct session *s, void **own);
	void (*close)(void *own);
	int (*schedule)(struct session *s);
	int (*judge)(struct session *s); /* when the server has gone: what came of it, as a fault */
	int (*task)(struct session *s, const json_t *what, json_t *result);
	const char *csv_columns; /* of what the schedule shows */
};

/* Run TEST with this command line; returns the process's exit status. */
int session_main(const struct test *test, int argc, char **argv);

#endif

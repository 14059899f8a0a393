/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program: the state of the process; and session: the state of one experiment of a client, which
 * has several if it sweeps. main owns both.
 */
#pragma once

#include "admit/listener.h"
#include "measure/measure.h"
#include "session/session.h"

/* A test that this program serves, and its command line as that test reads it. */
struct offer {
	const struct test *test;
	struct options asked; /* a client's experiment must agree with them */
	struct fault refused; /* set: the command line does not fit the test, so it is not served */
};

struct program {
	const struct test *test; /* the one that runs: of offers */
	struct offer *offer;     /* all of them; they do not change */
	size_t offers;
	const char *name; /* as it was started */
	char **argv;
	struct options options; /* with the experiment of the current client */
	struct options asked;   /* as given on the command line */
	unsigned point;         /* client: the point of asked's sweep that options are of */
	bool server;
	struct stop stop;
	struct streams streams;
	struct clock clock;
	struct steal steal;
	struct fault fault;
	struct report report;
	struct gates gates;
	struct strict strict;
	struct repeat repeat;
	struct auth auth;
	struct peer_log lines; /* persistent server: what clients may cause on stdout */
	struct listener listener; /* server */
};

/* The stage of a session. */
enum session_stage {
	SESSION_GREETING,  /* the client connects and sends hello */
	SESSION_OPENING,   /* this end opens its devices, which does not involve the client */
	SESSION_AGREEING,  /* the handshake */
	SESSION_MEASURING, /* the first round has started */
};

/* One experiment of a client, at either end; created and released as a whole. */
struct session {
	struct program *program;
	enum session_stage stage;
	struct endpoint ep;
	struct link link;
	struct measure ms;
};

/* Initialize S. There is nothing to release yet. */
void session_init(struct session *s, struct program *p);

/*
 * Open the devices, up to SESSION_AGREEING. Returns 0, or -1 with the program's fault raised, like
 * all functions below.
 */
int session_open(struct session *s);

/* Close the connection and release everything of the session. */
void session_release(struct session *s);

/*
 * Prepare for the next experiment of the same client: everything is created again except the
 * connection and the results so far. The program's options become those of the command line.
 */
void session_next(struct session *s);

/* What the report has to know about P and its test. */
struct report_about session_about(struct program *p);

/* Server: the client wants the test of O, so S is of that. */
void session_serve(struct session *s, const struct offer *o);

/* Set the point of the sweep in the program's fault. */
void session_set_fault_point(struct session *s);

/* If the peer reported the program's fault: set which end that is. */
void session_name_reporter(struct session *s);

/* Show both ends in the report, after they are connected. */
void session_show_ends(struct measure *ms);

/*
 * client.c, server.c: a whole run in that role. Returns 0, or -1 with the program's fault raised.
 */
int session_client(struct session *s);
int session_server(struct session *s);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program: the state of the process; and session: that of a client, of which it has one at a time.
 * main owns both.
 */
#pragma once

#include "admit/listener.h"
#include "host/steal.h"
#include "measure/gate.h"
#include "measure/link.h"
#include "measure/measure.h"
#include "measure/repeat.h"
#include "report/report.h"
#include "session/session.h"
#include "verbs/gid.h"

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
	struct repeat repeat;
	struct auth auth;
	struct listener listener; /* server */
};

/* The stage of a session. */
enum session_stage {
	SESSION_GREETING,  /* the client connects and sends hello */
	SESSION_OPENING,   /* this end opens its devices, which does not involve the client */
	SESSION_AGREEING,  /* the handshake */
	SESSION_MEASURING, /* the first round has started */
};

/* What a client's hello says, but for its rails. */
struct hello {
	struct experiment experiment;
	uint64_t size[SWEEP_VALUES_MAX]; /* the experiment's, and those of others like it */
	unsigned sizes;
	bool trial;         /* a window of --prove */
	bool default_depth; /* nobody chose -t */
	char decided[512];  /* what the client has decided (experiment_check()); "": nothing */
};

/* A client, at either end: its connection, and what is made for its current experiment. */
struct session {
	struct program *program;
	enum session_stage stage;
	struct hello hello; /* server */
	struct endpoint ep;
	struct link link;
	struct measure ms;
};

/*
 * Unless stated otherwise, functions return 0, or -1 with the program's fault raised.
 *
 * session.c: a new S, with nothing to release; open the devices, up to SESSION_AGREEING; close the
 * connection and release everything.
 */
void session_init(struct session *s, struct program *p);
int session_open(struct session *s);
void session_release(struct session *s);

/*
 * A session is: connect, then for each iteration agree, make and measure, then take leave. After an
 * iteration: release what was made for it. The connection and the results so far remain, and the
 * program's options become those of the command line.
 */
void session_unmake(struct session *s);

/*
 * session.c, client: over the connection agree on an experiment, which the options have; after the
 * last one take leave.
 */
int session_leave(struct session *s);
int session_agree(struct session *s);

/*
 * prove.c: --prove, after the last experiment: run it again with changes (plan/prove.h), take
 * leave, and tell what limits it.
 */
int session_prove(struct session *s);

/* Server: measure this end's adapter with itself for a client with --prove, and answer. */
int session_answer_loopback(struct session *s);

/* In the program's fault: set which end the peer is that reported it. */
void session_name_reporter(struct session *s);

/* Show both ends in the report, after they are connected; of a further size what it changes. */
void session_show_ends(struct measure *ms);

/* client.c, server.c: a whole run in that role. */
int session_client(struct session *s);
int session_server(struct session *s);

/*
 * listen.c: look for this end's device and GPU before a client comes; open the program's listener,
 * which the program releases, and announce it: in the log, to the service manager, to --ready-fd.
 */
int listen_open(struct session *s);

/*
 * command_line.c: read the command line, and set P's options, gates and repeat; the options at
 * POINT of its sweep; set P's options to these; note options without effect in tests, runs and on
 * devices of TRAITS; all that are known before one is open.
 */
int command_line_read(struct program *p);
struct options command_line_options(const struct program *p, unsigned point);
int command_line_point(struct program *p, unsigned point);
void command_line_ignored(const struct program *p, unsigned traits);
void command_line_notes(const struct program *p);

/* hello.c: what a rail of the client supports; and of the server, with what it chose from that. */
struct hello_rail {
	enum fabric fabric;
	char gid_kinds[GID_KINDS + 1]; /* a digit for each, the best first; the one that is chosen */
	unsigned mtu_bytes;
	uint16_t pkey;                /* that the user chose; 0: any */
	uint16_t default_pkey;        /* InfiniBand: of index 0, if nobody chooses; 0: not told */
	char subnet[48];              /* InfiniBand: the prefix of GID 0; "": not told */
	bool global;                  /* its packets have a GRH, which routers read */
	unsigned message_max;         /* that its port supports; 0: not told */
	struct operation_depth reads; /* 0: not used */
};

const struct fields *hello_fields(void);

/* What P offers for the test that HELLO names; if it offers none of that name, what it runs. */
const struct offer *hello_wanted(const struct program *p, const json_t *hello);

/*
 * Check M, the first message of a client for O, and read it into H. It keeps no state: the
 * listener's guard calls it while another client is served. Raises FAULT_USAGE if it is an rdmark
 * client that cannot be served, FAULT_PEER if it is something else.
 */
int hello_read(const struct offer *o, const json_t *m, struct hello *h, struct fault *f);

/* Add the names of those options that the client gave and whose values may not fit the server; note
 * them as given in O: endpoint_misfit(). */
void hello_write_given(const struct options *o, json_t *m);
void hello_read_given(struct options *o, const json_t *m);

/* Add the names of the options that the client varies to its hello M; read them as axes without
 * values. */
void hello_write_sweep(const struct sweep *sweep, json_t *m);
int hello_read_sweep(struct sweep *sweep, const json_t *m, struct fault *f);

/*
 * handshake.c: "hello", which proposes the options' experiment (the caller releases it; NULL: the
 * fault is raised), and "welcome", then "qps". The server chooses from HELLO, and says what the
 * client has DECIDED, which both ends note.
 */
json_t *handshake_hello(const struct measure *ms);
int handshake_welcome(struct measure *ms, const json_t *hello, const char *decided);
int handshake_apply_welcome(struct measure *ms, const json_t *m);

/* Read the peer's --timeout from "hello" or "welcome" M. */
int handshake_read_timeout(struct link *l, const json_t *m);

/* Create QPs and memory at both ends at the same time, exchange "qps", and connect the QPs. */
int handshake_connect(struct measure *ms);

/*
 * connect_cm.c: connects the QPs through rdma_cm with -R; without, nothing. The server listens and
 * adds its address to WELCOME, which the client reads; then both wait until their QPs are
 * connected. The peer's NEXT message may come meanwhile, and is returned in *EARLY (NULL: none
 * can).
 */
int connect_cm_listen(struct endpoint *ep, json_t *welcome);
int connect_cm_aim(struct endpoint *ep, const json_t *welcome);
int connect_cm(struct endpoint *ep, struct link *l, const char *next, json_t **early);

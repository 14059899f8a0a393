/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* state: what a running session holds; shared by the files of session/ alone. main owns it. */
#ifndef RDMARK_SESSION_STATE_H
#define RDMARK_SESSION_STATE_H

#include <sys/socket.h>

#include "base/clock.h"
#include "base/stop.h"
#include "host/pin.h"
#include "loop/recv.h"
#include "report/report.h"
#include "session/session.h"
#include "session/watch.h"
#include "verbs/hca.h"
#include "verbs/mem.h"
#include "verbs/qp.h"
#include "wire/door.h"
#include "wire/message.h"

struct session {
	const struct test *test;
	const char *program; /* as it was called */
	struct options options;
	struct stop stop;
	struct clock clock;
	struct fault fault;
	bool interrupted; /* a run was ended early by a signal; what was measured is reported */
	bool measured;    /* there is a result */
	struct report report;
	/* the connection */
	struct door door; /* server */
	struct oob oob;
	struct sockaddr_storage local; /* this end of it */
	/* this end's device and what stands on it */
	struct hca hca;
	struct pin pin;
	struct qp_set qps;
	struct mem mem;
	struct recv_queue receives;
	struct qp_route route;
	struct qp_address mine, theirs;
	struct end my_end, their_end;
	struct report_effective effective;
	uint64_t peer_timeout_ns; /* the peer's --timeout */
	uint64_t largest_bytes;   /* the largest message of the experiment */
	/* measuring */
	struct round_control control;
	struct hist *hist;
	struct peak peak;
	uint64_t *samples;
};

/* Read the peer's timeout from its hello or welcome M. */
int session_read_timeout(struct session *s, const json_t *m);

/* Deadline of a wait that starts now: --timeout. */
uint64_t session_deadline(const struct session *s);

/* endpoint.c: the device and all that stands on it; each raises its fault. */
int endpoint_look(struct session *s, struct hca_list *list); /* is there a usable device at all? */
int endpoint_open(struct session *s);                        /* choose, open, pin */
int endpoint_make(struct session *s);                        /* QPs, memory, receives, s->mine */
int endpoint_connect(struct session *s);                     /* to s->theirs */
void endpoint_release(struct session *s);

/* The GIDs of this end as kinds in order of preference, and taking the one that was agreed on. */
size_t endpoint_kinds(struct session *s, enum gid_kind kinds[GID_KINDS]);
int endpoint_use_gid(struct session *s, enum gid_kind kind);
unsigned endpoint_mtu(const struct session *s); /* what this end can, in bytes */

/* rounds.c: one round, both roles. */
struct session_round {
	uint64_t message_bytes;
	uint64_t target; /* messages of each QP, or ROUND_ENDLESS with -D */
	bool warmup;
	struct round round;
	struct record record;  /* of this end, unless warmup */
	bool measured;         /* this end has a record of its own */
	struct report *report; /* for the watch's callbacks */
};
int round_client(struct session *s, struct session_round *sr);
int round_server(struct session *s, const json_t *request);

/* results.c: make the record of a round that has run; hand the records of both ends to the report.
 */
void round_measure(struct session *s, struct session_round *sr);
void round_show(struct session *s, const struct record *client, const struct record *server);

/*
 * Around work that may take longer than the peer's patience (registering much memory, a slow
 * reader of stdout): the peer hears that this end is alive. Nothing may be sent or received
 * between.
 */
void session_alive_start(struct session *s, struct watch *w);
void session_alive_stop(struct session *s, struct watch *w);

/* client.c, server.c: a whole run in that role. */
int session_client(struct session *s);
int session_server(struct session *s);

#endif

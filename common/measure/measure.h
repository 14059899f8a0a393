/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * measure: what all rounds of a client need, and one round: a pass of the program's loops over one
 * message size, at both ends.
 *
 * Functions return 0, or -1 with the fault raised in ms->fault, unless stated otherwise.
 */
#pragma once

#include "base/account.h"
#include "endpoint/endpoint.h"
#include "host/port_events.h"
#include "base/cgroup.h"
#include "host/steal.h"
#include "loop/alone.h"
#include "measure/gate.h"
#include "measure/link.h"
#include "measure/repeat.h"
#include "plan/plan.h"
#include "proto/evidence.h"
#include "stat/slices.h"

struct meter; /* measure/meter.h */
struct measure;
struct measurement;
struct report;

/* Who is told of the rounds: the functions of the report, which this layer does not know. */
struct audience {
	/* The watch's thread calls these two: an interval is over; and for a live line, with the
	 * remaining time, 0: unknown. LIVE: there is such a line. */
	void (*interval)(struct report *r, const struct progress *p);
	void (*progress)(struct report *r, const struct progress *p, uint64_t left_ns);
	bool live;
	/* The next size of the list begins. */
	void (*size)(struct measure *ms);
	/* A round is over; RESULT is NULL if nothing was measured, but messages were answered. */
	void (*round)(struct report *r, const struct measurement *meas,
		      const struct result *result);
	/* All runs of a size are over: the median one, and their SUMMARY (stolen), also as text. */
	void (*repeated)(struct report *r, const struct result *median, json_t *summary,
			 const char *text);
};

/*
 * What the rounds of a connection have shown, for the fault that ends it. A connection that has
 * carried a message has a route, so neither the firewall nor the GIDs are to blame any more.
 */
struct history {
	uint64_t messages;     /* that arrived, as completions prove */
	uint64_t passed_bytes; /* size of the largest of these */
};

struct measure {
	/* lent by the session */
	const struct test *test;
	const struct options *options;
	struct fault *fault; /* receives the faults of these functions */
	struct endpoint *ep;
	struct link *link;
	struct report *report;
	struct audience audience;
	struct clock *clock;
	struct steal *steal; /* of this machine's CPUs */
	struct gates *gates; /* thresholds for the rows; checked by the client */
	struct repeat *repeat;
	/* owned */
	struct meter *meter;     /* one per worker */
	struct verify *verify;   /* the same; NULL: without --verify */
	struct record *records;  /* of the current round: of each worker here, then of the peer's */
	void *own;               /* the program's data, from test->open */
	json_t *receivers;       /* -g: what each QP of the last round received and lost; or NULL */
	struct alone alone;      /* result of the last warm-up, which is of the same size */
	struct history history;  /* of the connection */
	unsigned at;             /* which size of ep's list is measured */
	bool measured;           /* there is a result */
	struct fault verdict;    /* wrong data, or what the program says of the results */
	unsigned badness;        /* of its worst verdict so far, by its own measure; 0: none */
};

/*
 * Create everything for measuring, including the program's own data, after endpoint_make(). Call
 * measure_release() also after a failure.
 */
int measure_make(struct measure *ms);
void measure_release(struct measure *ms); /* between endpoint_quiesce() and endpoint_release() */

/*
 * True if all samples can be stored for -H and -U: the number of iterations is limited, and there
 * is one run.
 */
bool measure_keeps_samples(const struct options *o, const struct repeat *r);

/* Bidirectional round: when both ends sent, and how many messages meanwhile (together.h). */
struct both_ways {
	uint64_t go_ticks; /* by this end's clock: when the round began */
	struct both_part {
		double began_ns, ended_ns; /* its first post, its last completion: since then */
		double messages;           /* those while both sent */
	} part[2];                         /* of this end, of the peer; ended_ns 0: unknown */
};

/* What the client requests for a round. */
struct round_attr {
	uint64_t message_bytes;
	uint64_t target;      /* per QP; 0: none, as with -D */
	uint64_t duration_ns; /* without a target; 0: none either, only a signal ends it */
	uint64_t run;         /* number of the run of this size; 0: not repeated */
	uint64_t within_ppm;  /* --until-stable, which such runs aim at */
	unsigned at;          /* which size of the list it is; 0: the first, or there is none */
	unsigned kind;        /* kind of round, in a program with several; otherwise 0 */
	bool warmup;
	bool reverse;
	bool both;
	bool cpu_util; /* an end has --cpu_util: this end's record gets its CPU use */
};

/* It is measured: neither a warm-up nor a round of a program's own kind. */
static inline bool round_is_timed(const struct round_attr *attr)
{
	return !attr->warmup && !attr->kind;
}

/* What one end found in a round. */
struct found {
	bool measured;          /* it has a record, not only of conditions; so has each worker */
	struct record record;   /* of all its workers */
	struct record *workers; /* of each, if there are several; without a rate: unknown */
	/* if a device has several workers; slices 0: unknown */
	struct plus_minus devices[EXPERIMENT_DEVICES_MAX];
};

/*
 * One round. The leader posts the timed messages and decides when the round ends: the client, or
 * the server if the round is reversed. The other end is the follower. In a bidirectional round each
 * end is both.
 */
struct measurement {
	struct measure *ms;
	struct round_attr attr;
	/* while it runs */
	bool answered;              /* this end ran a `follow` loop */
	uint64_t start_ns;          /* when the observation for `quality` started */
	struct cgroup_stops stops;  /* before that; later, since then */
	uint64_t messages_expected; /* of all workers and QPs; 0: unknown */
	uint64_t trips[2]; /* used by the watch: trips_ticks at the last interval and live line */
	_Atomic unsigned sending;   /* workers that are still sending */
	struct watch *watch;
	struct usage usage;
	struct worst worst; /* of the intervals, if any */
	/* results, except for a warm-up */
	struct found mine, theirs;
	struct fault clock_fault;    /* set if there is no result because the clock jumped */
	struct evidence evidence[2]; /* by enum result_end */
	struct port_snapshot snapshot[2]; /* the same: what happened at its ports */
	struct verified verified[2];      /* to the server, to the client */
	struct both_ways both;
};

/* Which end this one is, or with MINE false the other one. */
static inline enum result_end measurement_end(const struct measurement *meas, bool mine)
{
	return meas->ms->ep->server == mine ? RESULT_SERVER : RESULT_CLIENT;
}

/*
 * prepare.c: prepare everything that the loops of a round read; ms and attr must be set. And the
 * numbers that are planned for a round of T (plan/plan.h).
 */
int round_prepare(struct measurement *meas);
struct plan_round round_plan(const struct meter *t, uint64_t message_bytes, bool timed);

/* pass.c: run the loops of a prepared round, and exchange the results. */
int pass_run(struct measurement *meas);

/* rounds.c: client: run the rounds for each size, for programs without a schedule of their own. */
int measure_sizes(struct measure *ms);

/*
 * Client: run one round of the experiment's size and duration that nobody is told of, after a
 * warm-up. *GBPS: its rate, of -b the sum; NaN: it is no figure, since a thread lacked its CPU.
 */
int measure_trial(struct measure *ms, double *gbps);

/* In the faults that were raised: the point of the sweep, if it is missing. */
void measure_set_point(struct measure *ms);

/* At the end of the run: raise the verdict on its results, if it is bad. Returns 0 or -1. */
int measure_verdict(struct measure *ms);

/*
 * Client: after a signal in PHASE, before there was a result: raise the fault of the end that
 * received it. Returns -1.
 */
int measure_unfinished(struct measure *ms, unsigned phase);

/* Server: run the round that the client's message M requests. */
int measure_one_round(struct measure *ms, const json_t *m);

/* After the last run of a size: show the summary of the runs, if there are several. */
void measure_repeated(struct measure *ms);

/*
 * What a program with a schedule of its own may use: the resources of this end (ms->ep),
 * rounds that it requests one by one, and tasks of the server.
 *
 * Client: run one round of the kind ATTR->kind. With a target of 0 it ends after its duration. REC
 * receives the leader's record, all zero for a warm-up. Returns 0, or -1 with the fault raised; REC
 * then has what was measured so far.
 */
int measure_window(struct measure *ms, const struct round_attr *attr, struct record *rec);

/*
 * Client: have the server run test->task with WHAT (stolen). The caller releases *RESULT, which is
 * set only on success.
 */
int measure_task(struct measure *ms, json_t *what, json_t **result);

/* Server: run the task in the client's message M, and answer. */
int measure_answer_task(struct measure *ms, const json_t *m);

/*
 * history.c: the round MEAS is over: add what it showed to H, of its connection. If it failed for
 * want of a completion, or by a failed one, say in its fault what came before.
 */
void history_round(struct history *h, const struct measurement *meas);

/* The same of MEAS's verification, which has failed. */
void history_explain(const struct history *h, const struct measurement *meas);

/* verify.c: both ends, after a round: verify its size. MEAS gets what was found; wrong data are no
 * failure. */
int verify_round(struct measurement *meas);

/* What was found in DIRECTION: without messages if nothing was verified. */
struct verified verify_tally(const struct measurement *meas, enum result_direction direction);

/*
 * rows.c: judge the result of a round, and tell the audience; and judge RESULT, of the client: the
 * rows of its table.
 */
void round_tell(struct measurement *meas);
void round_judge(struct measure *ms, const struct result *result);

/*
 * explained.c: what limits ROW of a bandwidth test, and what went wrong during any, from both ends'
 * facts (explain/limit.h). Returns whether E has it: ROW is of all threads and of one direction
 * with a rate, or of round trips, which have no limit.
 */
bool explained_row(const struct measurement *meas, const struct result_row *row,
		   struct explained *e);

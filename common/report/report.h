/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report: everything that a user sees of a run. Results go to stdout (or to files), everything else
 * to stderr.
 *
 * The session calls these functions when something happens. The report decides which forms (table,
 * perftest's, JSON, CSV, one number) are written. A document is written as a whole, to a temporary
 * file that is then renamed, also if the run fails. Rows are flushed one by one.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/peer_log.h"
#include "base/streams.h"
#include "finding/quality.h"
#include "base/units.h"
#include "explain/limit.h"
#include "host/port_events.h"
#include "verbs/hca.h"
#include "verbs/qp.h"
#include "proto/end.h"
#include "proto/evidence.h"
#include "cli/options.h"
#include "proto/record.h"

#define REPORT_ROWS_MAX                                                           \
	10000 /* that a persistent server writes to --json and --csv for a client \
	       */

/* Lines that a persistent server writes to stdout: for one client's address, and for all. */
#define REPORT_LINES                                      \
	((struct peer_log){                               \
		.lock = PTHREAD_MUTEX_INITIALIZER,        \
		.each = {UNITS_NS_PER_S, 1000},           \
		.together = {UNITS_NS_PER_S / 10, 10000}, \
	})

/* Constants of a run. The strings must exist as long as the report. */
struct report_about {
	const char *program; /* name of the program, without the path */
	const char *test;    /* "send_bw" */
	const char *title;   /* perftest's name: "Send BW Test" */
	bool latency;
	bool server;
	bool halved;             /* latency is half a round trip */
	const char *csv_columns; /* CSV columns of the program's own rows; NULL: those of a
				    record */
	const struct options *options;
	struct streams *streams; /* lent: stdout and stderr */
	struct peer_log *lines;  /* lent; a persistent server: what stdout may get; NULL: all */
};

/* The parameters that the run actually used. */
struct report_effective {
	unsigned mtu_bytes, tx_depth, rx_depth, inline_bytes;
	unsigned cq_mod;          /* of the first size */
	uint64_t warmup;          /* of the first size */
	unsigned outs;            /* outstanding READs or atomics per QP; 0: not used */
	const char *connected_by; /* how the QPs were connected: "tcp", "rdma_cm" */
	const char *calls;        /* with which this end posts, or polls; NULL: no choice */
};

enum report_end {
	REPORT_CLIENT,
	REPORT_SERVER,
	REPORT_BOTH /* the sum of both ends */
};

enum report_direction {
	REPORT_FORWARD, /* from the client to the server */
	REPORT_BACKWARD,
	REPORT_BOTH_WAYS,
	REPORT_PING_PONG
};

/* The conditions at both ends, and the reasons that disturbed the row, as bits. */
struct report_disturbed {
	struct quality quality[2]; /* by enum report_end: client, server */
	unsigned reasons[2];
};

/* What limits a row, and what went wrong meanwhile. */
struct report_explained {
	struct limit limit;
	struct findings findings;
};

/* A record, and what it describes. */
struct report_row {
	const struct record *record;
	enum report_end by;
	enum report_direction direction;
	int thread;         /* -1: all threads */
	const char *device; /* NULL: all devices */
	json_t *verified;   /* result of a verification; lent; NULL: none */
	struct report_disturbed disturbed;
	const struct report_explained *explained; /* lent; NULL: nothing is known */
};

/* All results of one size. */
struct report_result {
	const struct report_row *row;
	size_t rows;
	const struct report_row *main;     /* one of `row`: the client's table shows it, or with
					      --report-both its parts; NULL: no rows */
	const struct report_row *shown[2]; /* rows of this end's table; NULL: no more */
	/* If `shown` is a sum: its parts, of this end and of the other one; otherwise NULL. */
	const struct report_row *local, *remote;
	const double *samples_us; /* latency with -U or -H: one per message, in order; otherwise
				     NULL */
	json_t *histogram;        /* for the JSON document; lent; NULL: none */
	double cpu_percent;       /* CPU use of this end, with --cpu_util */
	const struct evidence *evidence;      /* two, by enum report_end; NULL: none */
	const struct port_snapshot *snapshot; /* the same */
	bool one_of_runs; /* of --repeat: in CSV and document; the table gets the median run */
	bool failed;      /* the run failed: only for the document */
};

/* Confidence intervals of the rows' averages, printed at the end. */
struct report_confidence {
	unsigned rows;
	double least_percent;
	struct record worst; /* the row with the widest interval, or without one */
	char worst_name[192];
};

/* What limits the fastest row, and what is broken in any, for the notes at the end. */
struct report_why {
	unsigned rows;               /* that are explained */
	uint64_t message_bytes, run; /* of the fastest; of round trips, of the most disturbed */
	double worth;                /* its rate; of round trips, how bad its first finding is */
	enum report_direction direction;
	struct report_explained explained;
	struct findings faults; /* of the other rows */
};

/* How much was measured, for the notes at the end. */
struct report_enough {
	unsigned sizes;
	double size_s, shortest_s; /* measured time of the latest size; the minimum of the
				      earlier ones */
	struct record fewest;      /* the row with the fewest samples */
};

/*
 * Progress of a run: MESSAGES (of MESSAGE_BYTES) completed in the last INTERVAL_NS, up to
 * ELAPSED_NS. In a latency test their round trips took TRIPS_NS (0: unknown). PARTIAL: the round
 * ended before the interval. RUN: number of the run of this size, from 1; 0: not repeated.
 */
struct report_progress {
	uint64_t message_bytes, elapsed_ns, interval_ns, messages, trips_ns;
	bool partial;
	uint64_t run;
	size_t point; /* set by the report: number of points of a sweep that have started */
};

#define REPORT_INTERVALS_MAX 100000 /* in a document: one per second for a day */

/* The intervals for the document. */
struct report_kept {
	struct report_progress *at; /* owned */
	size_t used, room;
	uint64_t dropped; /* those without room */
	uint64_t unshown; /* those that stdout did not take */
};

/* The CSV file, for all runs. */
struct report_csv {
	FILE *file;           /* stdout or a stream of its own; NULL: none */
	struct outlet outlet; /* of that stream */
	int errnum;           /* errno of a failed write; 0: none */
	bool appends, begun;  /* to a regular file; the header is written */
};

/* The data of one run of one client for its document, until report_next(). */
struct report_run {
	char started[CLOCK_UTC_BYTES];
	size_t rows, sizes; /* results so far; changes of the message size among them */
	uint64_t row_bytes; /* message size of the latest */
	/* for the document only: empty if there is none */
	json_t *results;   /* array */
	json_t *summaries; /* array: one per repeated size */
	json_t *ends;      /* object with client and server */
	size_t point;      /* number of points of a sweep that have started */
	json_t *points;    /* array: the outcome of each point of a sweep */
	json_t *own;       /* object: keys that the program adds */
	struct report_effective effective;
	struct end end; /* this end, with its first device */
	unsigned rails;
	struct record last; /* last row of the table, for perftest's JSON; of 0 bytes: none */
	struct report_kept kept;
	uint64_t json_failures; /* json_memory_failures() at its start */
	uint64_t omitted;       /* rows that stdout did not get */
};

struct report {
	struct report_about about;
	bool table, perftest, only; /* what goes to stdout */
	bool header_done;
	bool narrow; /* the table has only columns up to this rank, for a narrow terminal */
	unsigned narrow_rank;
	bool table_on_terminal, table_has_intervals; /* the table includes rows of intervals */
	uint64_t row_ns; /* for an interval's row: its end; 0: not an interval */
	bool tty;        /* stderr is a terminal: show the live line */
	bool live_shown;
	double last_cpu_percent;
	struct report_csv csv;
	struct report_run run;
	struct report_confidence confidence;
	struct report_enough enough;
	struct report_why why;
	char peer[64]; /* the client's address, if about.lines */
};

/*
 * Open a report. Opens the CSV file and checks the JSON file's directory, so that a wrong name, or
 * a CSV file with other columns, is an error before the run. Returns 0, or -1 with the fault
 * raised.
 */
int report_open(struct report *r, const struct report_about *about, struct fault *f);

/* A server's next run may be of another test: the table then has a header again. */
void report_serve(struct report *r, const struct report_about *about);

/* The results that follow are of the client at PEER ("192.0.2.1:18515"). */
void report_client(struct report *r, const char *peer);

/* Print that the server accepts connections at ADDRESS. */
void report_listening(struct report *r, const char *address);

/*
 * Print a line of explanation on stderr (printf), unless --quiet; and a line of the server's log. A
 * persistent server prints only its log there.
 */
void report_note(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void report_log(const struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A note that is also printed with --quiet: of lost messages, of what the ends differ in. */
void report_warning(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Write the result of the run in a few words; the last one of several sizes. Returns BUF. */
const char *report_outcome(const struct report *r, char *buf, size_t size);

/* Both ends, by device, and the addresses that were exchanged. */
struct report_ends {
	unsigned rails, threads;          /* threads per device */
	uint64_t first_bytes, last_bytes; /* message sizes */
	const struct end *mine[HCA_MAX], *theirs[HCA_MAX];
	const struct qp_address *my_qps[HCA_MAX], *their_qps[HCA_MAX];
	const struct report_effective *effective;
};

/* Print the banner when both ends are connected. */
void report_connected(struct report *r, const struct report_ends *ends);

/* Show the result of a size, complete or up to an interruption. */
void report_result(struct report *r, const struct report_result *result);

/*
 * After several runs of one size (one_of_runs), which CSV and document already have: show one in
 * the table; and store their summary in the document (stolen) and print it.
 */
void report_shown(struct report *r, const struct report_result *result);
void report_summary(struct report *r, json_t *summary, const char *text);

/* Write which experiment of a sweep is measured: "-t 16: "; "" if its size says it. Returns BUF. */
const char *report_point(const struct report *r, char *buf, size_t size);

static inline bool report_is_disturbed(const struct report_row *row)
{
	return row->disturbed.reasons[0] || row->disturbed.reasons[1];
}

/* Write what disturbed ROW at each end: "client: the thread had 37 % of its CPU …". Returns BUF. */
const char *report_disturbance(const struct report_row *row, char *buf, size_t size);

/* True if a reader shows RESULT of DOCUMENT: of repeated runs only the median one. */
bool report_is_shown(const json_t *document, const json_t *result);

/* The name in the document: "client_to_server". */
const char *report_direction_name(enum report_direction direction);

/*
 * For a program with output of its own: add RESULT (stolen) to the document's results; add VALUE
 * (stolen) as KEY to the document; get the streams for its table and CSV.
 */
void report_own_result(struct report *r, json_t *result);

/* A persistent server: 0, or -1 with FAULT_USAGE if a file has REPORT_ROWS_MAX of this client. */
int report_check_room(const struct report *r, struct fault *f);
void report_own_key(struct report *r, const char *key, json_t *value);
FILE *report_own_table(struct report *r); /* NULL: print nothing */
FILE *report_own_csv(struct report *r);   /* after the header about.csv_columns; NULL: no CSV */

/* Check LIST of --report-counters; NULL: it was not given. Raises FAULT_USAGE. */
int report_check_counters(const char *list, struct fault *f);

/* Print how what that names changed at the ports of both ends: two snapshots; NULL: not known. */
void report_counters(struct report *r, const struct port_snapshot *snapshot);

/*
 * Show an interval. The watch thread calls it, and it never waits for a reader of stdout or stderr:
 * what they do not accept is dropped and counted; rows and lines of JSON are buffered, and dropped
 * only if there are very many. Until the round is over, nothing but report_live() is called.
 */
void report_interval(struct report *r, const struct report_progress *p);

/*
 * Update the live line on a terminal, with the remaining time LEFT_NS (0: unknown, or none). Does
 * nothing elsewhere.
 */
void report_live(struct report *r, const struct report_progress *p, uint64_t left_ns);

/*
 * After a client of a persistent server: write its document, as a line, and delete it. Tables and
 * CSV continue. Raises in F what could not be written.
 */
int report_next(struct report *r, const struct fault *problem, bool interrupted, struct fault *f);

/*
 * The command line O of TEST was refused because of PROBLEM, before there is a report, and before
 * signals are blocked: the file of --prom says that this run failed, or the figures of the one
 * before would seem to be new.
 */
void report_refused(const struct options *o, const char *test, const struct fault *problem);

/* After a client that measured nothing: delete its document. */
void report_discard(struct report *r);

/*
 * End the run, with PROBLEM or without (fault_is() false). INTERRUPTED: a signal ended it early.
 * Writes the documents and releases R. Raises in F what could not be written; SIGPIPE if the reader
 * of stdout has closed it.
 */
int report_close(struct report *r, const struct fault *problem, bool interrupted, struct fault *f);

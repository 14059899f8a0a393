/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report: everything a user sees of a run. Results go to stdout (or the files asked for), all else
 * to stderr.
 *
 * The session tells what happens; which of the forms (table, perftest's, JSON, CSV, one number) are
 * written is decided here once. A document is written whole, to a temporary name and then renamed,
 * also when the run fails; rows are flushed one by one.
 */
#ifndef RDMARK_REPORT_REPORT_H
#define RDMARK_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"
#include "verbs/qp.h"
#include "wire/end.h"
#include "wire/options.h"
#include "wire/record.h"

/* What does not change during a run; the strings live as long as the report. */
struct report_about {
	const char *program; /* as it was called, without the path */
	const char *test;    /* "send_bw" */
	const char *title;   /* perftest's: "Send BW Test" */
	bool latency;
	bool server;
	bool writes; /* the peer writes into memory: addresses are shown as perftest does */
	const char *csv_columns; /* of the program's own rows; NULL: a record's */
	const struct options *options;
};

/* The run's parameters as they came out. */
struct report_effective {
	unsigned mtu_bytes, tx_depth, rx_depth, inline_bytes;
	unsigned cq_mod;            /* of the first size */
	uint64_t warmup;            /* of the first size */
	const char *connected_by;   /* the QPs: "tcp", "rdma_cm" */
	const char *exchanged_over; /* what the ends said: the same */
};

/* By which calls this end's first strand posts, or polls. */
struct report_calls {
	bool sends;
	const char *chosen, *other;
	double chosen_ns, other_ns; /* of a post, or of a completion polled; 0: not tried */
};

enum report_end {
	REPORT_CLIENT,
	REPORT_SERVER,
	REPORT_BOTH /* a sum of both ends' */
};

enum report_direction {
	REPORT_FORWARD, /* from the client to the server */
	REPORT_BACKWARD,
	REPORT_BOTH_WAYS,
	REPORT_PING_PONG
};

/* A record and what it is of. */
struct report_row {
	const struct record *record;
	enum report_end by;
	enum report_direction direction;
	int thread;         /* -1: of all */
	const char *device; /* NULL: of all */
	json_t *verified;   /* what a verification found; borrowed; NULL: there was none */
};

/* All that is known of one size. */
struct report_result {
	const struct report_row *row;
	size_t rows;
	const struct report_row *shown[2]; /* in this end's table; NULL: no more */
	const double *samples_us; /* latency with -U or -H, in order, messages of them; else NULL */
	json_t *histogram;        /* for the JSON document; borrowed; NULL: none */
	double cpu_percent;       /* of this end, with --cpu_util */
	bool held;                /* one of several runs: it is no row of the table */
};

struct report {
	struct report_about about;
	bool table, perftest, only;  /* what goes to stdout */
	FILE *csv;                   /* stdout or a file of its own */
	int csv_errnum;              /* why writing it failed, 0: it did not */
	bool csv_appends, csv_begun; /* to a regular file; the header is there */
	bool header_done;
	bool tty; /* stderr is a terminal: live line */
	bool live_shown;
	json_t *results;   /* array, for JSON */
	json_t *shown;     /* those of them that the table shows, for perftest's JSON */
	json_t *summaries; /* array: of sizes that were repeated */
	json_t *ends;      /* object with client and server */
	json_t *effective; /* object */
	json_t *counters;  /* object with client and server, of those that count */
	json_t *own;       /* object: what the program adds to the document */
	char started[32];  /* UTC, ISO 8601 */
};

/* Begin. Opens the CSV file and tries the JSON file's place, so that a wrong name, or a CSV
 * file with other columns, is told before the run. */
int report_open(struct report *r, const struct report_about *about, struct fault *f);

/* The server can be connected to at ADDRESS. */
void report_listening(struct report *r, const char *address);

/* A line of explanation on stderr (printf), unless --quiet. */
void report_note(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define REPORT_RAILS_MAX 16

/* Both ends, device by device, and the addresses as exchanged. */
struct report_ends {
	unsigned rails, threads; /* threads of each device */
	const struct end *mine[REPORT_RAILS_MAX], *theirs[REPORT_RAILS_MAX];
	const struct qp_address *my_qps[REPORT_RAILS_MAX], *their_qps[REPORT_RAILS_MAX];
	const struct report_effective *effective;
};

/* Both ends are connected: the banner. */
void report_connected(struct report *r, const struct report_ends *ends);

/* It is known now by which calls this end works. Strings that stay. */
void report_calls(struct report *r, const struct report_calls *c);

/* One size is measured, wholly or as far as it went. */
void report_result(struct report *r, const struct report_result *result);

/*
 * Several runs of one size are over, which were held: the one that the table shows; and what all
 * come to, for the document (stolen) and in words.
 */
void report_shown(struct report *r, const struct report_result *result);
void report_summary(struct report *r, json_t *summary, const char *text);

/* As the document has it: "client_to_server". */
const char *report_direction_name(enum report_direction direction);

/*
 * For a program with a form of its own: RESULT (stolen) into the document's results; VALUE (stolen)
 * as KEY into the document itself; and what it prints on stdout, unless a document goes there.
 */
void report_own_result(struct report *r, json_t *result);
void report_own_key(struct report *r, const char *key, json_t *value);
FILE *report_own_table(struct report *r); /* NULL: nothing is printed */
FILE *report_own_csv(struct report *r);   /* behind about.csv_columns; NULL: no CSV */

/*
 * The port's counters of the end WHO ("client", "server"), name to {before, after, change}, into
 * the document, and with SHOWN one line for each to the user; else for those that changed.
 */
void report_counters(struct report *r, const char *who, json_t *counters, bool shown);

/* While a run goes on: MESSAGES (of MESSAGE_BYTES) came in the last INTERVAL_NS, up to ELAPSED_NS.
 */
struct report_progress {
	uint64_t message_bytes, elapsed_ns, interval_ns, messages;
};
void report_interval(struct report *r, const struct report_progress *p);

/* The live line on a terminal, with the time that is LEFT_NS (0: unknown, or none); does nothing
 * elsewhere. */
void report_live(struct report *r, const struct report_progress *p, uint64_t left_ns);

/*
 * A client of a server that stays has gone: its document is written, as a line, and forgotten.
 * Tables and CSV go on. Raises in F what could not be written.
 */
int report_next(struct report *r, const struct fault *problem, bool interrupted, struct fault *f);

/*
 * The run is over, with PROBLEM or without (fault_is() false); INTERRUPTED if it ended early by a
 * signal. Writes the documents and releases R. Raises in F what could not be written.
 */
int report_close(struct report *r, const struct fault *problem, bool interrupted, struct fault *f);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report: everything that a user sees of a run. Results go to stdout (or to files), everything else
 * to stderr. The session calls these functions when something happens; what stdout gets is a form's
 * (form.h). Rows are flushed one by one; a document is written at the end, also if the run fails.
 */
#pragma once

#include "base/clock.h"
#include "proto/end.h"
#include "report/document.h"
#include "report/form.h"
#include "report/notes.h"

struct measurement;
struct port_snapshot;
struct test;

/* Constants of a run. All must exist as long as the report. */
struct report_about {
	const char *program; /* name of the program, without the path */
	const struct test *test;
	bool server;
	const struct options *options;
	struct streams *streams; /* stdout and stderr */
};

/* The parameters that the run actually used: effective.def explains them. */
struct report_effective {
#define ROW(type, member, ...) type member;
#include "report/effective.def"
};

/* The data of one run of one client for its document. */
struct report_run {
	char started[CLOCK_UTC_BYTES];
	size_t rows; /* results so far */
	/* for the document only: empty if there is none */
	json_t *results, *summaries, *points; /* arrays: one per repeated size, per experiment */
	json_t *intervals;                    /* array */
	json_t *ends;                         /* object with client and server */
	json_t *own;                          /* object: keys that the program adds */
	struct report_effective effective;
	struct end end; /* this end, with its first device */
	unsigned rails;
	struct record last; /* last row of the table, for perftest's JSON; of 0 bytes: none */
	uint64_t dropped;    /* intervals beyond REPORT_INTERVALS_MAX; */
	uint64_t unshown;    /* and those that stdout did not take */
	uint64_t json_failures; /* json_memory_failures() at its start */
};

struct report {
	struct report_about about;
	const struct form *form; /* of stdout */
	bool header_done;
	double last_cpu_percent;
	struct table table;
	struct csv csv;
	struct report_run run; /* of one client, until report_next() */
	struct notes notes;
	bool trial; /* a window of --prove runs: nothing is shown of it */
	bool tty, live_shown; /* stderr is a terminal: it gets the live line; it shows one */
};

/* Check and open the files before the run. Returns 0, or -1 with the fault raised. */
int report_open(struct report *r, const struct report_about *about, struct fault *f);

/*
 * A server: it listens at ADDRESS; its next run is of TEST, perhaps another one.
 */
void report_listening(struct report *r, const char *address);
void report_serve(struct report *r, const struct test *test);

/*
 * Print a line on stderr (printf): a note is an explanation, a warning is printed with --quiet,
 * too: of lost messages, of what the ends differ in. A persistent server prints only its log.
 */
enum report_line { REPORT_NOTE, REPORT_WARNING, REPORT_LOG };
void report_line(const struct report *r, enum report_line line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define report_note(r, ...)    report_line(r, REPORT_NOTE, __VA_ARGS__)
#define report_warning(r, ...) report_line(r, REPORT_WARNING, __VA_ARGS__)
#define report_log(r, ...)     report_line(r, REPORT_LOG, __VA_ARGS__)

/* The result of the run in a few words; the last one of several sizes. Returns BUF. */
const char *report_outcome(const struct report *r, char *buf, size_t size);

/* Both ends are connected: print the banner. */
void report_connected(struct report *r, const struct report_ends *ends);

/*
 * For struct audience. The watch's thread calls the first two, which never wait for a reader: what
 * stdout and stderr do not accept is dropped and counted. A round's result goes to CSV and
 * document, and to stdout unless it is one of several runs; then their median one does.
 */
void report_interval(struct report *r, const struct progress *p);
void report_live(struct report *r, const struct progress *p, uint64_t left_ns);
void report_round(struct report *r, const struct measurement *meas, const struct result *result);
void report_repeated(struct report *r, const struct result *median, json_t *summary,
		     const char *text);

/* A persistent server: 0, or -1 with FAULT_USAGE if a file has REPORT_ROWS_MAX of this client. */
int report_check_room(const struct report *r, struct fault *f);

/*
 * For a program with output of its own: add RESULT (stolen) to the document's results; add VALUE
 * (stolen) to the array KEY of the document, and return that (lent), or as KEY; the stream for its
 * table; NULL: print nothing.
 */
void report_own_result(struct report *r, json_t *result);
const json_t *report_own_list(struct report *r, const char *key, json_t *value);
void report_own_key(struct report *r, const char *key, json_t *value);
FILE *report_own_table(struct report *r);

/*
 * Check LIST of --report-counters (NULL: not given; raises FAULT_USAGE); and print how what that
 * names changed at the ports of both ends: two snapshots (NULL: not known).
 */
int report_check_counters(const char *list, struct fault *f);
void report_counters(struct report *r, const struct port_snapshot *snapshot);

/*
 * After a client of a persistent server: write its document, as a line, and forget it; of one that
 * measured nothing, only forget it. Tables and CSV continue. Raises in F what could not be written.
 */
int report_next(struct report *r, const struct fault *problem, bool interrupted, struct fault *f);
void report_discard(struct report *r);

/*
 * End the run, with PROBLEM or without (fault_is() false); INTERRUPTED: a signal ended it early.
 * Writes the documents and releases R. Raises in F what could not be written; SIGPIPE if the reader
 * of stdout has closed it.
 */
int report_close(struct report *r, const struct fault *problem, bool interrupted, struct fault *f);

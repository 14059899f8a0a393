/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * document: the JSON documents, the CSV, and their files.
 *
 * A document is written as a whole, to a temporary file that is then renamed. FILE "-" is stdout.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/outlet.h"
#include "cli/options.h"

struct disturbed;
struct fault;
struct result;
struct report;
struct report_effective;

#define JSON_DIGITS          9      /* significant ones of real numbers; more would be noise */
#define REPORT_ROWS_MAX      10000  /* of a client, that a persistent server writes to files */
#define REPORT_INTERVALS_MAX 100000 /* in a document: one per second for a day */

/* True if FILE, an option's argument, means stdout. */
static inline bool document_to_stdout(const char *file)
{
	return file && strcmp(file, "-") == 0;
}

/* Check that the documents of O can be written to their place. */
int document_try(const struct output_options *o, struct fault *f);

/*
 * Replace FILE with TEXT; NULL: out of memory. What a link leads to is replaced, too. STOP ends a
 * wait for the reader of a pipe; NULL: no signals are blocked. Returns 0, or -1 with the fault
 * raised.
 */
int document_put(const char *file, const char *text, struct stop *stop, struct fault *f);

/* The same of the document D (stolen), or append it with ADD, as a line. */
int document_save(const char *file, bool add, json_t *d, struct fault *f);

/* True if FILE ends within a line: its writer was killed, or the file system was full. */
bool document_is_cut(const char *file);

/* Raise the fault for a FILE that cannot be written; and for stdout, which has CODE. Returns -1. */
int document_refused(const char *file, int errnum, struct fault *f);
int document_stdout_refused(enum fault_code code, int errnum, struct fault *f);

/* True if a reader shows RESULT of DOCUMENT: of repeated runs only the median one. */
bool document_shows(const json_t *document, const json_t *result);

/*
 * True if the run of DOCUMENT came to its end: it met its thresholds or not, or that cannot be
 * told.
 */
bool document_is_whole(const json_t *document);

/* True if results are kept for a document. */
static inline bool document_keeps(const struct options *o)
{
	return o->output.json || o->output.json_lines;
}

/* True if a document has the intervals: else they are printed before it. */
static inline bool document_has_intervals(const struct output_options *o)
{
	return o->json_lines || (o->json && !document_to_stdout(o->json));
}

/* Write the documents of R. */
int document_write(struct report *r, const struct fault *problem, bool interrupted,
		   struct fault *f);

/*
 * json.c: the document, as a new object; one of its results, with the other rows of its size; and
 * why a row was disturbed, an array of words.
 */
json_t *json_document(const struct report *r, const struct fault *problem, bool interrupted);
json_t *json_result(const struct result *result);
json_t *json_reasons(const struct disturbed *d);
json_t *json_effective(const struct report_effective *e);
char *perftest_json(const struct report *r); /* perftest's, as text that the caller frees */

/* varied.c: add which experiment of a sweep TO is of, and return it; the same in the CSV. */
json_t *varied_json(const struct report *r, json_t *to);
void varied_csv(const struct report *r, FILE *out);

/*
 * csv.c: the file of --csv, for all runs: open it; a result's row; raise in F what could not be
 * written, and close.
 */
struct csv {
	FILE *file;           /* stdout or a stream of its own; NULL: none */
	struct outlet outlet; /* of that stream */
	int errnum;           /* errno of a failed write; 0: none */
	bool appends, begun;  /* to a regular file; the header is written */
};

int csv_open(struct report *r, struct fault *f);
void csv_result(struct report *r, const struct result *result);
int csv_raise(struct report *r, struct fault *f);
int csv_close(struct report *r, struct fault *f);

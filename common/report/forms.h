/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* forms: the output forms of a report, for the files of report/ only. */
#pragma once

#include <string.h>

#include "report/report.h"

/* True if results are kept for a document. */
static inline bool report_keeps(const struct report *r)
{
	const struct output_options *o = &r->about.options->output;

	return o->json || o->json_lines || o->prom;
}

/*
 * note.c: true if stdout may get LINES more lines of this client; with several, they belong
 * together.
 */
bool report_may_print(struct report *r, uint64_t lines);

/*
 * progress.c: open the outlets for progress; erase the live line, after waiting output is written;
 * print how many lines were dropped; the document's intervals; delete them, and reset the number
 * dropped.
 */
void progress_open(struct report *r);
void forms_wipe_live(struct report *r);
void progress_print_dropped(const struct report *r);
json_t *progress_intervals(const struct report *r);
void progress_forget(struct report *r);

/*
 * table.c: print RESULT's row SHOWN to OUT, in the form of the table that goes to stdout; whether
 * perftest's form has two more tables, one per end; and perftest's figures, which count the
 * messages of one direction.
 */
void table_put(struct report *r, const struct report_result *result, const struct report_row *shown,
	       FILE *out);
bool perftest_splits(const struct report *r, const struct report_result *result);
struct record perftest_record(const struct report_result *result, const struct report_row *shown);

/* counters.c: print how what --report-counters names changed at both ends, of SNAPSHOT or NULL. */
void counters_print(struct report *r, const struct port_snapshot *snapshot);

/* banner.c: print on stderr what was chosen at both ends. */
void banner_print(const struct report *r, const struct report_ends *ends);

/* A column: its value, its format, the gap before it, and its width. */
struct column {
	const char *field; /* field of the record; NULL: this end's CPU use */
	enum {
		AS_IS,
		BANDWIDTH, /* in the table's unit */
		MILLIONS
	} unit;
	int decimals;
	struct {
		const char *gap;
		int width;
	} ours, perftest;
	const char *key; /* in perftest's document */
};
struct columns {
	const struct column *column;
	size_t count;
};

/*
 * columns.c: the columns for REC in perftest's form or in rdmark's; the value to show; and its
 * text, '-' for a percentile with too few samples. Returns BUF.
 */
struct columns table_columns(const struct report *r, const struct record *rec, bool perftest);
double table_value(const struct report *r, const struct record *rec, const struct column *c);

const char *table_text(const struct report *r, const struct record *rec, const struct column *c,
		       char *buf, size_t size);

/* Choose the narrow table if stdout is a terminal that is too narrow for the whole one. */
void table_fit(struct report *r);

/*
 * narrow.c: the table for such a terminal: choose the columns that fit in COLUMNS, AROUND of which
 * table.c needs; print the header and a row, without the line's end.
 */
void narrow_choose(struct report *r, unsigned columns, unsigned around);
void narrow_header(const struct report *r, FILE *out);
void narrow_row(const struct report *r, const struct record *rec, FILE *out);

/*
 * varied.c: which experiment of a sweep a row belongs to. varied_point() stores the outcome of the
 * current point in the document, or starts it (BEGINS). varied_first() appends to LINE, about the
 * first experiment, that others follow. varied_columns() prints the table's columns, header or
 * values, and varied_width() is their width. varied_csv() prints them to the CSV. varied_json()
 * adds the key "varied" to TO and returns TO. Without a sweep these do nothing.
 */
void varied_point(struct report *r, bool begins);
void varied_first(const struct report *r, char *line, size_t size);
void varied_columns(const struct report *r, bool header, FILE *out);
unsigned varied_width(const struct report *r);
void varied_csv(const struct report *r, FILE *out);
json_t *varied_json(const struct report *r, json_t *to);

/*
 * varied.c: write what a note is about: "-t 16: 64 KiB, client_to_server"; without a sweep the
 * size, and the direction if rows have one. Returns BUF.
 */
const char *row_name(const struct report *r, const struct report_row *row, char *buf, size_t size);

/* perftest.c: what perftest prints around the tables. */
void perftest_warn(const struct report *r, FILE *out);
void perftest_waiting(FILE *out);
/*
 * The banner. If it is not yet known whether ibv_wr_* is used, it ends before that line, and the
 * rest follows later.
 */
void perftest_banner(struct report *r, const struct report_ends *ends, FILE *out);
uint64_t perftest_banner_lines(const struct report_ends *ends); /* that it has, or more */
void perftest_rule(FILE *out);
/* False for a server that only answers: it has no latency to show. */
bool perftest_shows(const struct report *r);

/* The facts in perftest's banner and document, in that order. */
struct perftest_fact {
	const char *label; /* in the banner, where a leading blank begins a line; NULL: not there */
	const char *key;   /* in the document; NULL: not there */
	const char *word;  /* NULL: it is a number */
	uint64_t number;
	const char *unit; /* of the number, in the banner; NULL: none */
	bool absent;
};
typedef void perftest_fact_fn(void *arg, const struct perftest_fact *fact);
void perftest_facts(const struct report *r, perftest_fact_fn *emit, void *arg);

/* perftest_json.c: its document; the caller frees it. */
char *perftest_json(const struct report *r);

/*
 * summary.c: print this end's worst interval if intervals were not shown; and for how long a
 * latency test was stalled, if that changes its result.
 */
void summary_worst(const struct report *r, const struct report_row *row);
void summary_stalls(const struct report *r, const struct report_row *row);

/* confidence.c: add a row to the confidence notes; print the notes after the last row. */
void confidence_add(struct report *r, const struct report_result *result);
void confidence_print(struct report *r);

/*
 * explained.c: add the explained rows of a result; print after the last one what limits the fastest
 * row. Both parts for the document are new references.
 */
void explained_add(struct report *r, const struct report_result *result);
void explained_print(struct report *r);
json_t *explained_limit(const struct report_explained *e);
json_t *explained_diagnosis(const struct report_explained *e);

/*
 * enough.c: add a size, or one of its runs; print after the last one whether enough was measured.
 */
void enough_add(struct report *r, const struct report_result *result);
void enough_print(struct report *r);

/* summary.c: print what was measured of a size before the run failed. */
void summary_failed(const struct report *r, const struct report_row *row);

/* summary.c: print what disturbed a row of the table. */
void summary_disturbed(const struct report *r, const struct report_row *row);

/* names.c */
const char *forms_by(enum report_end by);

/* Significant digits of real numbers in documents and CSV; more would be noise. */
#define JSON_DIGITS 9

/*
 * json.c: a row; a result of the document, which includes the other rows of its size and run; the
 * document.
 */
json_t *json_row(const struct report_row *row);
json_t *json_result(const struct report *r, const struct report_result *result);
json_t *json_reasons(const struct report_disturbed *d); /* array of words */
json_t *json_document(const struct report *r, const struct fault *problem, bool interrupted);

/* effective.c: the document's "effective", as a new object. */
json_t *json_effective(const struct report_effective *e);

/*
 * document.c: check that the documents can be written to their place; write them; and raise the
 * fault for a FILE that cannot be written.
 */
int document_try(const struct output_options *o, struct fault *f);
int document_write(struct report *r, const struct fault *problem, bool interrupted,
		   struct fault *f);
int document_refused(const char *file, int errnum, struct fault *f);

/*
 * Replace FILE ("-": stdout) with TEXT; NULL: out of memory. Returns 0, or -1 with the fault
 * raised.
 */
int document_put(const char *file, const char *text, struct fault *f);

/* The same for the file of --prom, which is replaced also behind a link. */
int document_put_prom(const char *file, const char *text, struct fault *f);

/* Append TEXT, a line, to FILE. Else as document_put(). */
int document_add(const char *file, const char *text, struct fault *f);

/* True if FILE, an option's argument, means stdout. */
static inline bool document_to_stdout(const char *file)
{
	return file && strcmp(file, "-") == 0;
}

/* True if the document has the intervals; else they go to stdout before it, or to stderr. */
static inline bool document_has_intervals(const struct report *r)
{
	const struct output_options *o = &r->about.options->output;

	return o->json_lines || (o->json && !document_to_stdout(o->json));
}

/*
 * csv.c: open the file of --csv; the stream for rows, after the header; print one row, of a run that
 * FAILED or not.
 */
int csv_open(struct report *r, struct fault *f);
FILE *csv_rows(struct report *r); /* NULL: without --csv */
void csv_row(const struct report *r, const struct report_row *row, bool failed, FILE *out);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table: rows on stdout, in our table, in a narrow terminal's, or in perftest's form; and what
 * perftest prints around it.
 */
#pragma once

#include <stdio.h>

#include "measure/result.h"

struct report;
struct report_ends;

/* Choose the narrow table if stdout is a terminal that is too narrow for the whole one. */
void table_fit(struct report *r);

/* Print RESULT's row SHOWN to OUT, in the form of the table that goes to stdout. */
void table_put(struct report *r, const struct result *result, const struct result_row *shown,
	       FILE *out);

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
 * columns.c: the columns for REC in perftest's form or in ours; the value to show; and its text,
 * '-' for a percentile with too few samples. Returns BUF.
 */
struct columns table_columns(const struct report *r, const struct record *rec, bool perftest);
double table_value(const struct report *r, const struct record *rec, const struct column *c);
const char *table_text(const struct report *r, const struct record *rec, const struct column *c,
		       char *buf, size_t size);

/*
 * For a narrow terminal: choose the columns that fit in COLUMNS, AROUND of which table.c needs;
 * print the header and a row, without the line's end.
 */
void narrow_choose(struct report *r, unsigned columns, unsigned around);
void narrow_header(const struct report *r, FILE *out);
void narrow_row(const struct report *r, const struct record *rec, FILE *out);

/*
 * varied.c: the columns that tell which experiment of a sweep a row belongs to, header or values;
 * and their width. Without a sweep there are none.
 */
void varied_columns(const struct report *r, bool header, FILE *out);
unsigned varied_width(const struct report *r);

/* True if perftest's form has two more tables, one per end; its figures count one direction. */
bool perftest_splits(const struct report *r, const struct result *result);
struct record perftest_record(const struct result *result, const struct result_row *shown);

/* False for a server that only answers: it has no latency to show. */
bool perftest_shows(const struct report *r);

void perftest_warn(const struct report *r, FILE *out);
void perftest_waiting(FILE *out);
void perftest_rule(FILE *out);
void perftest_banner(struct report *r, const struct report_ends *ends, FILE *out);
uint64_t perftest_banner_lines(const struct report_ends *ends); /* that it has, or more */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * form: how a run looks on stdout: our table, perftest's, or one number; nothing if a document goes
 * there. report.c chooses one by the options and calls its functions; one that is NULL does
 * nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/experiment.h"
#include "measure/result.h"

struct end;
struct qp_address;
struct report_effective;
struct report;

/* Both ends, by device, and the addresses that were exchanged. */
struct report_ends {
	bool same; /* as in the experiment before, which goes on with the same QPs */
	unsigned rails, threads;          /* threads per device */
	uint64_t first_bytes, last_bytes; /* message sizes */
	/* theirs NULL: there is no other end */
	const struct end *mine[EXPERIMENT_DEVICES_MAX], *theirs[EXPERIMENT_DEVICES_MAX];
	const struct qp_address *my_qps[EXPERIMENT_DEVICES_MAX], *their_qps[EXPERIMENT_DEVICES_MAX];
	const struct report_effective *effective;
};

struct form {
	bool table, perftest, number; /* which one it is; none of them: nothing is shown */
	void (*open)(const struct report *r);
	void (*listening)(void);
	void (*connected)(struct report *r, const struct report_ends *ends);
	/* Write RESULT's row SHOWN to OUT; an interval's RESULT has no rows. */
	void (*row)(struct report *r, const struct result *result, const struct result_row *shown,
		    FILE *out);
	void (*close)(struct report *r);
};

/* Ours, of table.c; and perftest's, of perftest.c. */
const struct form *table_form(void);
const struct form *perftest_form(void);

/* What our table remembers. */
struct table {
	bool interval, has_intervals; /* this row is one of an interval; there are such rows */
	bool narrow; /* fewer columns, since the terminal is too narrow for all */
};

/*
 * A column: its value, its format, the gap before it, its width (below 0: of what is on its left).
 */
struct column {
	const char *field; /* field of the record; NULL: this end's CPU use */
	enum {
		AS_IS,
		SIZE,      /* "64 KiB" */
		BANDWIDTH, /* in the table's unit, which is in the head, too */
		MILLIONS
	} unit;
	int decimals;
	struct {
		const char *gap;
		int width;
	} ours, perftest;
	const char *key; /* in perftest's document */
	const char *head, *unit_end; /* behind the unit of the head */
};
struct columns {
	const struct column *column;
	size_t count;
};

/*
 * columns.c: the columns for REC in perftest's form or in ours; the value to show; a whole row
 * without its newline, with '-' for a percentile with too few samples, or the heads if REC is NULL;
 * and all samples, for -H or -U.
 */
struct columns columns_of(const struct report *r, const struct record *rec, bool perftest);
double column_value(const struct report *r, const struct record *rec, const struct column *c);
#define COLUMNS_ROW 256 /* bytes of the longest */
const char *columns_row(const struct report *r, const struct record *rec, char *buf, size_t size);
void columns_samples(const struct report *r, const struct result *result,
		     const struct result_row *shown, FILE *out);

/*
 * varied.c: the columns that tell which experiment of a sweep a row belongs to, header or values;
 * and their width. Without a sweep there are none.
 */
void varied_columns(const struct report *r, bool header, FILE *out);
unsigned varied_width(const struct report *r);

/* banner.c: both ends on stderr, for all forms but perftest's. */
void banner_print(struct report *r, const struct report_ends *ends);

/* perftest.c: its warning for a server; the record that its document has of RESULT's row SHOWN. */
void perftest_warn(const struct report *r);
struct record perftest_last(const struct report *r, const struct result *result,
			    const struct result_row *shown);

/* Show RESULT in all forms; in that of stdout only; and there a row. */
void report_result(struct report *r, const struct result *result);
void report_shown(struct report *r, const struct result *result);
void report_row(struct report *r, const struct result *result, const struct result_row *shown,
		FILE *out);

/* progress.c: erase the live line; print how many lines were dropped. */
void progress_wipe(struct report *r);
void progress_print_dropped(struct report *r);

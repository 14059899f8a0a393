/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* forms: the single forms of a report; used by report.c alone. */
#ifndef RDMARK_REPORT_FORMS_H
#define RDMARK_REPORT_FORMS_H

#include "report/report.h"

/* report.c: take the live line away; RESULT's row REC into whichever table goes to stdout. */
void forms_wipe_live(struct report *r);
void forms_to_table(struct report *r, const struct report_result *result, const struct record *rec);

/* table.c: perftest's columns, with nothing around them; N samples. */
void table_header(const struct report *r, FILE *out);
void table_row(const struct report *r, const struct record *rec, double cpu_percent, FILE *out);
void table_only(const struct report *r, const struct record *rec, FILE *out);
void table_samples(const struct report *r, const struct report_result *result, uint64_t n,
		   FILE *out);

/* perftest.c: what perftest prints around them, and its JSON document. */
void perftest_waiting(FILE *out);
void perftest_banner(const struct report *r, const struct report_ends *ends, FILE *out);
void perftest_rule(FILE *out);
void perftest_row(const struct report *r, const struct report_result *result,
		  const struct record *rec, FILE *out);
char *perftest_json(const struct report *r);

/* summary.c: the worst interval, where the intervals themselves were shown: of this end. */
void summary_worst(const struct report *r, const struct report_row *row);

/* json.c */
json_t *json_result(const struct report_row *row);
const char *forms_by(enum report_end by);
json_t *json_document(const struct report *r, const struct fault *problem, bool interrupted);

/*
 * document.c: whether the documents can be written where they shall go; writing them; and the fault
 * for a FILE that cannot be written.
 */
int document_try(const struct report *r, struct fault *f);
int document_write(struct report *r, const struct fault *problem, bool interrupted,
		   struct fault *f);
int document_refused(const char *file, int errnum, struct fault *f);
bool document_to_stdout(const char *file);

/* csv.c: open what --csv names; where rows go, behind the header; one row. */
int csv_open(struct report *r, struct fault *f);
FILE *csv_rows(struct report *r); /* NULL: no CSV was asked for */
void csv_row(const struct report *r, const struct report_row *row, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* forms: the single forms of a report; used by report.c alone. */
#ifndef RDMARK_REPORT_FORMS_H
#define RDMARK_REPORT_FORMS_H

#include "report/report.h"

/* The record that this end shows in its table: its own where it has one, else the client's. */
const struct record *forms_own(const struct report *r, const struct report_result *result);

/* What this end shows in the column CPU_Util[%]; below 0: there is none. */
double forms_cpu(const struct report *r, const struct report_result *result);

/* table.c: perftest's columns, with nothing around them. */
void table_header(const struct report *r, FILE *out);
void table_row(const struct report *r, const struct report_result *result, FILE *out);
void table_only(const struct report *r, const struct record *rec, FILE *out);
void table_samples(const struct report *r, const struct report_result *result, FILE *out);

/* perftest.c: what perftest prints around them, and its JSON document. */
void perftest_waiting(FILE *out);
void perftest_banner(const struct report *r, const struct end *mine, const struct end *theirs,
		     const struct qp_address *mine_qps, const struct qp_address *their_qps,
		     const struct report_effective *effective, FILE *out);
void perftest_rule(FILE *out);
void perftest_row(const struct report *r, const struct report_result *result, FILE *out);
char *perftest_json(const struct report *r);

/* json.c */
json_t *json_result(const struct report *r, const struct report_result *result,
		    const struct record *rec, const char *measured_by);
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
void csv_row(const struct report *r, const struct record *rec, const char *measured_by, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * judge: `rdmark-pairs judge FILE…`: reads what `run` wrote, and says who is slow or lost. Each
 * writer below puts a judgement into one form; none of them decides anything.
 */
#pragma once

#include <stdio.h>

#include "judgement.h"

#define REPORT_LINES   40
#define REPORT_COLUMNS 100

/* Run the command; ARGV is what follows "judge". Returns the exit status. */
int judge_command(char **argv);

/* The report: the worst first; then totals. At most REPORT_LINES, none above REPORT_COLUMNS. */
void judge_report(FILE *to, const struct judgement *j);

/*
 * One JSON document; rdmark-json(5), "judgement". The caller frees the text. NULL: no memory; if
 * only a part lacked it, json_memory tells.
 */
char *judge_json(const struct judgement *j);

/* What was measured from (rows) and to (columns) each player. */
void judge_matrix(FILE *to, const struct judgement *j);

/* The hosts to drain, a line each: who is lost, and who is slow by the test. */
void judge_suspects(FILE *to, const struct judgement *j);

/* What to measure next, for `rdmark-pairs run --plan`: lines "SLOT FROM TO PART". Nothing if all is
 * decided, or no measurement would decide it. */
void judge_plan(FILE *to, const struct judgement *j);

/* The name of A or B of a suspect: a host, "HOST/DEVICE", or a group. */
const char *judge_name(const struct judgement *j, const struct statement *s, uint32_t which);

/* "both ways", "sending" or "receiving". */
const char *judge_way(const struct statement *s);

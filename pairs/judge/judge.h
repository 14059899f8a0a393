/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * judge: `rdmark-pairs judge FILE…`: reads what `run` wrote, and says who is slow or lost. Each
 * writer below puts a judgement into one form; none of them decides anything.
 */
#pragma once

#include <stdio.h>

#include "judgement.h"

/* Run the command; ARGV is what follows "judge". Returns the exit status. */
int judge_command(char **argv);

/* The report: at most 40 lines but with more than 11 kinds, the worst first; then totals. */
void judge_report(FILE *to, const struct judgement *j);

/*
 * One JSON document; rdmark-json(5), "judgement". The caller frees the text. NULL: no memory; if
 * only a part lacked it, json_memory tells.
 */
char *judge_json(const struct judgement *j);

/* What was measured from (rows) and to (columns) each player. */
void judge_matrix(FILE *to, const struct judgement *j);

/* The hosts of suspects, a line each; those of pairs and groups are not named. */
void judge_suspects(FILE *to, const struct judgement *j);

/*
 * "HOST1 HOST2" lines: each suspect with good partners, and the suspect pairs, at most
 * JUDGE_RETEST_PAIRS of these: each takes a slot of its own.
 */
#define JUDGE_RETEST_PAIRS 32
void judge_retest(FILE *to, const struct judgement *j);

/* The kind of S; SUSPECT_UNDER_LOAD: it was good alone. */
enum finding_code judge_code(const struct suspect *s);

/* Write TO the title of the COUNT suspects at S, all of one kind, and what to do about them. */
void judge_words(struct finding *to, const struct suspect *s, uint32_t count);

/* The name of A or B of a suspect: a host, "HOST/DEVICE", or a group. */
const char *judge_name(const struct judgement *j, const struct suspect *s, uint32_t which);

/* "both ways", "sending" or "receiving". */
const char *judge_way(const struct suspect *s);

/*
 * The exit status: 3, nodes are lost, some are named by no line, or no pair was measured; 6,
 * something is slow; 77, nobody can tell, or a run did not come to its end; 0.
 */
int judge_status(const struct judgement *j);

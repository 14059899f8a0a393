/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * results: what this end found in a finished round, unless its clock went back or jumped, and the
 * messages in which both ends exchange it. ALL are the meters of this end.
 */
#pragma once

#include "measure/measure.h"

struct hist;

/* Compute it. If the clock was not steady, meas->clock_fault says why. */
void results_measure(struct measurement *meas);

/*
 * Fill REC from H, whose samples took RUN_TICKS: of several threads, the sum of their times; 0: no
 * stalls are looked for.
 */
void results_set_latency(const struct endpoint *ep, const struct hist *h, uint64_t run_ticks,
			 struct record *rec);

/*
 * Add BY to SUM, of records measured at the same time. Not what belongs to one end alone, or needs
 * the samples of all, as percentiles do; nor rates, which are of a time that all share.
 */
void results_add(struct record *sum, const struct record *by);

/* Set the CPU use and the conditions in the records. MESSAGES is the number of all QPs. */
void results_set_usage(struct measurement *meas, uint64_t messages);

/*
 * done.c: create the message of TYPE, "done" or "over"; and read the peer's: 0, or -1 with the
 * fault raised.
 */
json_t *results_message(struct measurement *meas, const char *type);
int results_read(struct measurement *meas, const json_t *done);

/*
 * conditions.c: the conditions under which both ends ran a round: of their threads, their CPUs and
 * their ports (finding/quality.h), read right before the loops and right after, never meanwhile,
 * and not for warm-ups and a program's own kinds of round; and what their loops saw meanwhile
 * (proto/evidence.h).
 *
 * A record has them in timed rounds, not in warm-ups or rounds of a program's own kind. Start when
 * the round is prepared and no loop runs at either end: both do so at once; stop when
 * all loops have ended. Both may take a while.
 */
void conditions_start(struct measurement *meas);
void conditions_stop(struct measurement *meas);

/* Set this end's quality in its records. MESSAGES: those of all QPs. */
void conditions_measure(struct measurement *meas, uint64_t messages);

/* After a round: set this end's evidence, averages over its workers. */
void evidence_measure(struct measurement *meas);

/*
 * Add evidence and ports of this end to the "done" message M; and read the peer's: 0, or -1 with
 * the fault raised.
 */
void conditions_describe(const struct measurement *meas, json_t *m);
int conditions_read(struct measurement *meas, const json_t *m);

/* Set in ROW what disturbed it, and which of it is bad enough to be a reason for doubt. */
void conditions_judge(const struct measurement *meas, struct result_row *row);

/*
 * done.c: how many messages of one end did not arrive at the other. The receiver counts them, after
 * the loops, by the sender's message DONE, and tells what came in OVER: then the records of both
 * ends have the number, and the rates of what arrived. DONE, OVER: NULL: this end does not follow,
 * does not lead. The client of a ping-pong itself counts the round trips without a sample. With -g,
 * ms->receivers has what came to each QP. 0, or -1 with the fault raised.
 */
void loss_count(struct measure *ms, const json_t *done);
int loss_share(struct measurement *meas, const json_t *over);

/* How often what T counted counts: a message to a group once for each QP there. */
uint64_t results_copies(const struct meter *t);

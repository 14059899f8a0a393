/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * together: bidirectional rounds. Both directions start at the same time, and the sum of the rates
 * is taken over the time when both ran.
 *
 * The clocks of both ends (CLOCK_MONOTONIC_RAW) are compared by messages in both directions: the
 * fastest of several round trips gives the offset, to half of its time. Then the client proposes a
 * start time shortly after, when the threads of both ends start. Each end tells the other how many
 * messages it had sent at which time, and both compute the same sum.
 */
#pragma once

#include "measure/measure.h"

/* Agree on the start time. Returns 0, or -1 with the fault raised. */
int together_agree(struct both_ways *b, struct link *l, bool server);

/* The start time by CLOCK_MONOTONIC; 0: none, or in the past. */
uint64_t together_begins_ns(const struct both_ways *b);

/* Spin until the start time, or until the run is aborted. */
void together_begin(const struct both_ways *b, const struct round_control *c);

/*
 * Find how many messages all workers of this end had sent at which time, and add it to the "done"
 * message M; and read the peer's from there: 0, or -1 with the fault raised.
 */
void together_describe(struct both_ways *b, const struct meter *all, json_t *m);
int together_read(struct both_ways *b, const json_t *m, struct fault *f);

/*
 * With both known: find when both directions ran. Returns the percentage of the whole time, NaN if
 * a direction is unknown.
 */
double together_measure(struct both_ways *b);

/*
 * Set the rates in SUM, which has the messages of both records, this end's first, to those of the
 * time when both ran; 0 if they never did, or for less than one message.
 */
void together_sum(const struct both_ways *b, const struct record *const rec[2], struct record *sum);

/* True if both directions ran at the same time for at least one message. */
bool together_has_rate(const struct both_ways *b);

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
int together_agree(struct measurement *meas);

/* The start time by CLOCK_MONOTONIC; 0: none, or in the past. */
uint64_t together_begins_ns(const struct measurement *meas);

/* Spin until the start time, or until the run is aborted. */
void together_begin(const struct measurement *meas, const struct round_control *c);

/*
 * Add the numbers of sent messages over time to this end's "done" message M; and read the peer's:
 * 0, or -1 with the fault raised.
 */
void together_describe(const struct measurement *meas, json_t *m);
int together_read(struct measurement *meas, const json_t *m);

/*
 * With both known: compute when both directions ran, and set the overlap in the quality of both
 * ends.
 */
void together_measure(struct measurement *meas);

/*
 * Set the rates in SUM, which has the messages of both directions, to those of the time when both
 * ran; 0 if they never did, or for less than one message.
 */
void together_sum(const struct measurement *meas, struct record *sum);

/* True if both directions ran at the same time for at least one message. */
bool together_has_rate(const struct measurement *meas);

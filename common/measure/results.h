/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * results: this end's records of a finished round, unless its clock went back or jumped, and the
 * messages in which both ends exchange them.
 */
#pragma once

#include "measure/measure.h"

/* Compute them. If the clock was not steady, meas->clock_fault says why; and raise that. */
void results_measure(struct measurement *meas);
void results_blame_clock(const struct measurement *meas);

/* Add the schedule of BY, which ran at the same time, to SUM's: limits and late messages add up. */
void results_add_pace(struct record *sum, const struct record *by);

/* Set the CPU use and the conditions in the records. MESSAGES is the number of all QPs. */
void results_set_usage(struct measurement *meas, uint64_t messages);

/* Create the "done" message; and read the peer's: 0, or -1 with the fault raised. */
json_t *results_message(const struct measurement *meas);
int results_read(struct measurement *meas, const json_t *done);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * confidence: the confidence intervals of a round's averages, from its slices (stat/slices.h): of
 * each worker, of all workers, and of each device that has several. Each end tells the peer those
 * of its devices.
 */
#pragma once

#include "measure/measure.h"

/* Set the interval in T's record; the rest of the record is complete. */
void confidence_of_worker(struct meter *t);

/* Several workers, whose records are complete: set this end's interval, and its devices'. */
void confidence_of_end(struct measurement *meas);

/* Add the intervals of this end's devices to the "done" message M. */
void confidence_describe(const struct measurement *meas, json_t *m);

/* Read the peer's from M, if it has any. Returns 0, or -1 with the fault raised. */
int confidence_read(struct measurement *meas, const json_t *m);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pace: how well the schedule of --rate_limit and --latency_rate was kept. pace_measure() sets it
 * in the record of a worker with a schedule, pace_add() adds up records of workers that ran at the
 * same time, and pace_note() prints as a note what the table has no column for.
 */
#pragma once

#include "measure/measure.h"

void pace_measure(const struct meter *t, struct record *rec);
void pace_add(struct record *sum, const struct record *by);
void pace_note(const struct measurement *meas);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counting: --report-counters: reads the port's counters before and after all rounds of a run, at
 * each end with that option. Each end sends its values in its "bye" message.
 */
#pragma once

#include "measure/measure.h"

/* Read the counters, after both ends are connected. */
int counting_start(struct measure *ms);

/* Read the counters again, show them, add them to BYE (NULL: the run failed), and release them. */
void counting_stop(struct measure *ms, json_t *bye);

/* Show the peer's counters in BYE. */
int counting_read(struct measure *ms, const json_t *bye);

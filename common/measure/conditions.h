/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conditions: the conditions under which this end ran a round (finding/quality.h): its threads, their
 * CPUs and its ports. They are read right before the loops and right after, never meanwhile, and
 * not for warm-ups and for a program's own kinds of round.
 */
#pragma once

#include <jansson.h>

#include "measure/measure.h"

/*
 * Start to count what happens at this end's ports; and S becomes what happened since. Both read
 * files, and may wait some 10 ms for a driver that refreshes its counters now and then.
 */
void conditions_ports_start(struct measure *ms);
void conditions_ports_stop(struct measure *ms, struct port_snapshot *s);

/*
 * Start when the round is prepared and no loop runs at either end: both do so at once; stop when
 * all loops have ended. Both may take a while.
 */
void conditions_start(struct measurement *meas);
void conditions_stop(struct measurement *meas);

/*
 * Compute this end's quality, and store it in its records, if any. MESSAGES is the number of all
 * QPs.
 */
void conditions_measure(struct measurement *meas, uint64_t messages);

/*
 * Add this end's quality to the "done" message M; and read the peer's: 0, or -1 with the fault
 * raised.
 */
void conditions_describe(const struct measurement *meas, json_t *m);
int conditions_read(struct measurement *meas, const json_t *m);

/* Set in ROW, of both ends or of one thread, what disturbed it. */
void conditions_judge(const struct measurement *meas, struct result_row *row);

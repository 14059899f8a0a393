/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conditions: the conditions under which both ends ran a round: of their threads, their CPUs and
 * their ports (finding/quality.h), read right before the loops and right after, never meanwhile,
 * and not for warm-ups and a program's own kinds of round; and what their loops saw meanwhile
 * (proto/evidence.h).
 */
#pragma once

#include "measure/measure.h"

/*
 * Start to count what happens at this end's ports; and S becomes what happened since. Both read
 * files, and may wait some 10 ms for a driver that refreshes its counters now and then.
 */
void conditions_ports_start(struct endpoint *ep);
void conditions_ports_stop(struct endpoint *ep, struct port_snapshot *s);

/*
 * Start when the round is prepared and no loop runs at either end: both do so at once; stop when
 * all loops have ended. Both may take a while.
 */
void conditions_start(struct measurement *meas);
void conditions_stop(struct measurement *meas);

/* Set this end's quality in its records. MESSAGES: those of all QPs. */
void conditions_measure(struct measurement *meas, uint64_t messages);

/* After a round: set this end's evidence, averages over its workers. */
void evidence_measure(struct measurement *meas);

/*
 * Add quality (unless it is in a record), evidence and ports of this end to the "done" message M;
 * and read the peer's: 0, or -1 with the fault raised.
 */
void conditions_describe(const struct measurement *meas, json_t *m);
int conditions_read(struct measurement *meas, const json_t *m);

/* Set in ROW what disturbed it, and which of it is bad enough to be a reason for doubt. */
void conditions_judge(const struct measurement *meas, struct result_row *row);

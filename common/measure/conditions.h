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
void conditions_ports_start(struct measure *ms);
void conditions_ports_stop(struct measure *ms, struct port_snapshot *s);

/*
 * Start when the round is prepared and no loop runs at either end: both do so at once; stop when
 * all loops have ended. Both may take a while.
 */
void conditions_start(struct measurement *meas);
void conditions_stop(struct measurement *meas);

/* Compute this end's quality, and store it in its records, if any. MESSAGES: those of all QPs. */
void conditions_measure(struct measurement *meas, uint64_t messages);

/*
 * Before a round: all evidence is unknown. In a warm-up, T's stream measures a lone message, but
 * not with -b: the other end sends at the same time, so no message is alone. After it: set this
 * end's evidence, averages over its workers.
 */
void evidence_start(struct measurement *meas);
void evidence_prepare(struct meter *t, const struct measurement *meas);
void evidence_measure(struct measurement *meas);

/*
 * Add quality and evidence of this end to the "done" message M; and read the peer's: 0, or -1 with
 * the fault raised.
 */
void conditions_describe(const struct measurement *meas, json_t *m);
int conditions_read(struct measurement *meas, const json_t *m);

/* Set in ROW what disturbed it, and which of it is bad enough to be a reason for doubt. */
void conditions_judge(const struct measurement *meas, struct result_row *row);

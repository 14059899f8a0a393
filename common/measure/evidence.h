/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evidence: what the loops of both ends saw in a timed round (proto/evidence.h), and the exchange
 * of it.
 */
#pragma once

#include "measure/measure.h"

/*
 * Before a round: set everything to unknown. In a warm-up, T's stream measures a lone message, but
 * not with -b: the other end sends at the same time, so no message is alone.
 */
void evidence_start(struct measurement *meas);
void evidence_prepare(struct meter *t, const struct measurement *meas);

/* After the round: set this end's values, averages over its workers. */
void evidence_measure(struct measurement *meas);

/*
 * Add this end's values to its "done" message M; and read the peer's: 0, or -1 with the fault
 * raised.
 */
void evidence_describe(const struct measurement *meas, json_t *m);
int evidence_read(struct measurement *meas, const json_t *m);

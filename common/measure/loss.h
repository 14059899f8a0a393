/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loss: how many messages of one end did not arrive at the other. The receiver counts them and
 * tells the sender, so the records of both ends have the number. The client of a ping-pong itself
 * counts the round trips without a sample.
 */
#pragma once

#include <jansson.h>

#include "measure/measure.h"

/* Receiver: count the loss after the loops. DONE is the peer's message with the number sent. */
void loss_count(const struct measurement *meas, const json_t *done);

/*
 * Add the number of each worker to the message M as "lost"; in a latency test also the number of
 * messages sent again as "resent".
 */
void loss_describe(const struct measure *ms, json_t *m);

/*
 * Sender: set the loss in this end's records from the peer's message M. Returns 0, or -1 with the
 * fault raised.
 */
int loss_read(struct measurement *meas, const json_t *m);

/*
 * Receiver: limit the rate of this end's record to the sender's. A receiver that polls late and
 * finds its whole queue full would otherwise seem faster than the sender.
 */
void loss_cap_rate(struct measurement *meas);

/* Latency test: add the peer's "resent" in M to the leader's record. Returns 0 or -1. */
int loss_read_resent(struct measurement *meas, const json_t *m);

/* Receiver: set the loss in the peer's records. */
void loss_set_in_peer_records(struct measurement *meas);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * handshake: the agreement of both ends before the measurement: "hello" and "welcome", then "qps".
 * Each half of an exchange is next to the other one.
 */
#pragma once

#include "measure/measure.h"

/*
 * Client: create the "hello" message; the caller releases it. NULL with the endpoint's fault
 * raised.
 */
json_t *handshake_hello(struct endpoint *ep, const struct link *l);

/*
 * Server: choose from HELLO, and send "welcome", with the differences that the client has DECIDED
 * (experiment_decided()), which both ends note. Client: apply the choices of "welcome" M.
 */
int handshake_welcome(struct measure *ms, const json_t *hello, const char *decided);
int handshake_apply_welcome(struct measure *ms, const json_t *m);

/* Read the peer's --timeout from "hello" or "welcome" M. */
int handshake_read_timeout(struct link *l, const json_t *m);

/* Create QPs and memory at both ends at the same time, exchange "qps", and connect the QPs. */
int handshake_connect(struct measure *ms);

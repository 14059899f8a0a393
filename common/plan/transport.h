/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * transport: the properties of the transport of -c: the maximum message size, and when a missing
 * message counts as lost. Pure functions.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/experiment.h"

enum ibv_qp_type transport_type(const struct experiment *e);

/* True if the transport may lose messages without an error. */
bool transport_loses(const struct experiment *e);

/*
 * The time without arrivals after which the messages sent before are lost; 0: never. It allows for
 * a message of BYTES at 0.1 Gb/s, and for a machine that is busy otherwise.
 */
uint64_t transport_quiet_ns(const struct experiment *e, uint64_t bytes);

/* How long a QP waits for an ACK before it sends again (--qp-timeout); 0: for ever, or no ACKs. */
double transport_ack_timeout_ns(const struct experiment *e);

/*
 * The maximum message size: MAX_BYTES of the port, or MTU_BYTES for a datagram, which is one
 * packet.
 */
uint64_t transport_max_bytes(const struct experiment *e, unsigned mtu_bytes, uint64_t max_bytes);

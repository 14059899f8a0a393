/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fetch: the latency loop for READ and atomics. It posts one request, and the next one after its
 * completion. The peer runs no loop: its NIC responds.
 *
 * It is the ping-pong (pingpong.h) with the completion as the answer. Every request is signalled. A
 * sample is the time from one completion to the next. The loop posts right after a completion, so a
 * sample is a whole round trip.
 */
#pragma once

#include "loop/round.h"

/* Run a round of R's opcode at the requester. Returns 0, or -1 with the fault raised. */
int fetch_run(struct round *r);

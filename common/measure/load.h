/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * load: the stream of WRITEs during a ping-pong (--load): one additional worker for each rail, from
 * the client into memory that is not read. round_prepare() prepares it, too. During a pass the
 * load's thread runs load_run(), while each measuring worker waits in load_await() for the load's
 * first progress, and calls load_leave() when it no longer needs the load.
 */
#pragma once

#include "measure/measure.h"

void load_prepare(struct meter *t);
int load_run(struct meter *t);
void load_await(const struct meter *t);
void load_leave(struct measurement *meas);
double load_gbps(const struct measure *ms); /* its rate in the round, over all rails */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapshot: what happened at an end's ports (host/port_events.h) as JSON, on the wire and in the
 * document: an array with an object for each port. What neither changed nor stayed the same is
 * unknown, by its reason.
 */
#pragma once

#include <jansson.h>

#include "base/fault.h"

struct port_snapshot;

json_t *snapshot_to_json(const struct port_snapshot *s);

/* Read what the peer sent; an event of which it says nothing is untold. Raises FAULT_PEER. */
int snapshot_from_json(struct port_snapshot *s, const json_t *from, struct fault *f);

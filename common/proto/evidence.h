/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evidence: what the loops of one end saw in a bandwidth run, in addition to its rate: it tells
 * what limited the rate. NaN: unknown. Shares are from 0 to 1; in JSON, for the protocol and the
 * document, unknown values are omitted.
 */
#pragma once

#include <jansson.h>

#include "base/fault.h"

struct evidence {
	double full_share;     /* of a sender's time with full send queues and no completion */
	double schedule_share; /* with a schedule: of the time with room, and no message due */
	double alone_us;       /* from the post of a single message until its completion is polled */
	double completion_us;  /* the same for a message of the run, on average */
	double busy_share;    /* of a receiver's time in which a poll found completions at once */
};

/* All values unknown. */
struct evidence evidence_unknown(void);

json_t *evidence_to_json(const struct evidence *e);

/* Read the peer's values; missing ones are unknown. Raises FAULT_PEER for an impossible value. */
int evidence_from_json(struct evidence *e, const json_t *from, struct fault *f);

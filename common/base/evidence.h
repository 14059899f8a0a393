/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evidence: what the loops of one end saw in a bandwidth run, in addition to its rate: it tells
 * what limited the rate. NaN: unknown. Pure functions.
 */
#pragma once

#include <stdbool.h>

struct evidence {
	/* share of a sender's time with full send queues and no completion */
	double full_share;
	double schedule_share; /* with a schedule: share of the time with room, and no message
				  due */
	double alone_ns;       /* from the post of a single message until its completion is
				  polled */
	double completion_ns;  /* the same for a message of the run, on average */
	double busy_share;     /* share of a receiver's time in which a poll returned completions
				  at once */
};

/* All values unknown; and false if E is so. */
struct evidence evidence_unknown(void);
bool evidence_is_known(const struct evidence *e);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* watched: what the rules of during*.c share. */
#pragma once

#include "explain/run.h"
#include "finding/finding.h"
#include "finding/thresholds.h"

/* What the rules look at, and where they put what they find. */
struct watched {
	const struct run_facts *r;
	const struct run_end *sender, *receiver, *source, *sink;
	struct findings *to;
	double run_ns;
};

static inline enum finding_level watched_level(double share)
{
	return share >= TIME_SAID ? FINDING_WARN : FINDING_NOTE;
}

/* END's EVENT, as a value of a finding. */
static inline struct finding_value watched_event(const struct run_end *end, enum port_event event)
{
	return (struct finding_value)FINDING_NUMBER(port_event_name(event), end->event[event],
						    port_event_unit(event));
}

/*
 * True if both ends counted it, so that it was this run's, or another one's between the same ports:
 * COUNTED at one end, and at least half as many times SEEN at the other.
 */
static inline bool watched_agree(double counted, double seen)
{
	return counted > 0 && seen >= NAKS_AGREE * counted;
}

/* Packets were lost, or an ACK did not come in time: all was sent again. */
void during_find_resends(const struct watched *w);

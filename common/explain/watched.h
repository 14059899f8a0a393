/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* watched: what the rules of during*.c share. */
#pragma once

#include "explain/finding.h"
#include "explain/run.h"

#define SHARE_SAID  0.01 /* of the time: less is only a note */
#define SHARE_WARNS 0.05

/* What the rules look at, and where they put what they find. */
struct watched {
	const struct run_facts *r;
	const struct run_end *sender, *receiver, *source, *sink;
	struct findings *to;
	double run_ns;
};

static inline enum finding_level watched_level(double share)
{
	return share >= SHARE_WARNS ? FINDING_WARN : FINDING_NOTE;
}

/* Packets were lost, or an ACK did not come in time: all was sent again. */
void during_find_resends(const struct watched *w);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worst: the worst of a round's intervals (--interval): a stall that its average hides.
 *
 * Noted by the watch's thread, read when that has ended.
 */
#ifndef RDMARK_SESSION_WORST_H
#define RDMARK_SESSION_WORST_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/record.h"

struct worst {
	uint64_t intervals;
	double messages_per_s; /* the least */
	double latency_us;     /* the largest mean of half round trips */
};

/* An interval is over, in which MESSAGES came. Where none came, the first took at least as long. */
void worst_note(struct worst *w, uint64_t interval_ns, uint64_t messages);

/* Into REC, which has its message_bytes. */
void worst_to_record(const struct worst *w, bool latency, struct record *rec);

#endif

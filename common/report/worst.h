/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worst: the worst interval of a round (--interval), which shows a stall that the average hides.
 *
 * The watch thread calls worst_note(); the result is read after that thread's job.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/record.h"

struct worst {
	uint64_t intervals;
	double messages_per_s; /* the lowest rate */
	double latency_us;     /* the highest mean */
};

/*
 * Add an interval of MESSAGES, whose latencies sum up to SUM_US (0: unknown). Without messages, the
 * first one's latency is at least the interval.
 */
void worst_note(struct worst *w, uint64_t interval_ns, uint64_t messages, double sum_us);

/* Store the worst interval in REC, whose message_bytes is set. */
void worst_to_record(const struct worst *w, bool latency, struct record *rec);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slices: how many messages of a run were done at what time, in at most SLICES_MARKS marks. From
 * them follow the confidence interval of the average, and the number of messages in a part of the
 * run.
 *
 * After each batch the loop compares its count with `next`, and adds a mark only when the count has
 * reached it. When all marks are used, every second one is removed and the distance between marks
 * doubles: a run of any length has between half of the marks and all of them. Between two marks the
 * rate is taken as constant.
 *
 * The caller chooses the unit of ticks: a clock's, or any number that grows as messages complete.
 */
#pragma once

#include <stdint.h>

struct interval;

#define SLICES_MARKS 128
#define SLICES_MAX   64 /* parts of equal duration that a run is cut into */

struct slices_mark {
	uint64_t ticks, messages;
};

struct slices {
	uint64_t next;   /* the loop calls slices_add() when this many messages are done */
	uint64_t stride; /* minimum number of messages from one mark to the next */
	unsigned count;
	struct slices_mark mark[SLICES_MARKS];
};

/* Start a run at TICKS. MESSAGES were done before it and do not count. */
void slices_start(struct slices *s, uint64_t ticks, uint64_t messages);

/* Add a mark: MESSAGES, at least `next`, are done at TICKS. Called seldom, so not hot. */
void slices_add(struct slices *s, uint64_t ticks, uint64_t messages);

/* End the run at TICKS with MESSAGES. Later marks are removed. */
void slices_end(struct slices *s, uint64_t ticks, uint64_t messages);

/* The number of messages done at TICKS, which may be before, in or after the run. */
double slices_messages_at(const struct slices *s, uint64_t ticks);

/*
 * The total rate of COUNT runs on one clock, in messages per tick, over SPAN (start and end, in
 * ticks): its mean, and half the confidence interval of CONFIDENCE percent. The result's `count` is
 * the number of slices; half is INFINITY if there are too few marks.
 */
struct interval slices_confidence(const struct slices *const *s, unsigned count,
				  const uint64_t span[2], double confidence);

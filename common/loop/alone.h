/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * alone: how long a message takes that has queues and link to itself. In a warm-up, the first
 * worker sends some of its messages one after the other, before the rest; all others wait for that.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define ALONE_MOST  32      /* messages that are timed; */
#define ALONE_LEAST 3       /* with fewer nothing is known */
#define ALONE_NS    5000000 /* after this no more than those are begun */

/* Of all workers of an end. */
struct alone {
	_Atomic int over; /* the others need not wait any longer */
	uint64_t ticks;   /* the median, from the post until the completion is polled; 0: unknown */
};

struct stream;

/* Send S's lone messages, or wait for those of another: 0, or -1 with the fault raised. */
int stream_alone(struct stream *s);

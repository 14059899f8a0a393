/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* alone: how long a message takes that has queues and link to itself: stream_alone.c measures it. */
#pragma once

#include <stdint.h>

#define ALONE_MOST  32 /* messages that are timed; */
#define ALONE_LEAST 3  /* with fewer nothing is known */

/* Of all workers of an end: how long a message takes that has queues and link to itself. */
struct alone {
	_Atomic int over; /* the others need not wait any longer */
	uint64_t ticks;   /* the median, from the post until the completion is polled; 0: unknown */
};

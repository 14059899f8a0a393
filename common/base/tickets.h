/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tickets: checks of atomic operations on counters. Plain memory, no RDMA.
 *
 * The counters of a window start with a value that no other window uses. Each FETCH_AND_ADD adds 1;
 * all QPs use one counter, so the returned values are consecutive from the first, each exactly
 * once, in any order. Each CMP_AND_SWAP of a QP, on a counter of its own, expects the value that
 * the one before it stored, and stores 1 more; so the returned values are consecutive and in order.
 * Any other value means that an operation did not swap. At the end a counter must have the value
 * that follows from the number of its operations.
 *
 * The returned values are in the slots of the requester, and the counters in those of the
 * responder, one for each QP. Every other value is an error; where nothing was returned, the
 * operation is lost, too.
 */
#pragma once

#include "base/slots.h"

/* The first value of the counters of a window. The next values carry into the next byte. */
uint64_t tickets_first(uint32_t window);

/* The index of QP's counter: its own with SWAPS, otherwise 0, which all QPs share. */
static inline unsigned tickets_counter(unsigned qp, bool swaps)
{
	return swaps ? qp : 0;
}

/* Set the counters to the window's first value. */
void tickets_begin(const struct slots *counters);

/* After COUNT operations of each QP: check every counter, and add the result to T. */
void tickets_check_counters(const struct slots *counters, unsigned count, bool swaps,
			    struct slots_tally *t);

/* Check the values that the operations returned, and add the result to T. Returns 0 or -ENOMEM. */
int tickets_check(const struct slots *returned, bool swaps, struct slots_tally *t);

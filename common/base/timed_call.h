/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timed_call: a call that may hang, such as one to a name service, with a limit.
 *
 * It runs in a thread of its own. If that has not ended in time, or a signal comes, the caller goes
 * on and the thread is left alone: it releases what it used when the call ends at last. Until then
 * no other call is begun, so there is one such thread at most.
 *
 * The struct is at the start of one on the heap that has all that the call reads and writes, since
 * the call may outlive its caller.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/stop.h"

struct timed_call {
	void (*run)(struct timed_call *c);
	void (*release)(struct timed_call *c); /* frees C and what belongs to it */
	/* used here */
	pthread_t thread;
	int ended_fd;
	atomic_int state;
};

/*
 * Run C, which must be zeroed but for its functions. Returns 0 if it has run: the caller reads its
 * results, and releases it. 1 if it has not ended within LIMIT_NS, or if an earlier one has not
 * ended yet; -1 with FAULT_INTERRUPTED or FAULT_LOCAL. C is the caller's no more then.
 */
int timed_call(struct timed_call *c, uint64_t limit_ns, struct stop *stop, struct fault *f);

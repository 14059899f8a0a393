/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * turns: a thread that spins in a real-time class (SCHED_FIFO, SCHED_RR) lets others have a turn on
 * its CPU, or those that end its run, the peer's, and the kernel's would wait for ever.
 *
 * A timer's signal interrupts the thread, so its loop costs nothing more. The thread yields, to
 * threads of the same priority; after 1 ms without progress it sleeps for 50 us: what it waits for
 * may have a lower priority. Where threads do not inherit the class (SCHED_RESET_ON_FORK) it always
 * sleeps. The signals are 10 ms apart, and down to 0.1 ms while another thread spins, too, or the
 * loop waits. In other classes the kernel does all this, and the functions do nothing.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/fault.h"

struct turns {
	timer_t timer;
	const _Atomic uint64_t *progress;
	uint64_t seen, moved_ns; /* the progress at the last signal; it moved by then */
	uint64_t patience_ns;    /* without progress, before it sleeps */
	uint64_t period_ns;      /* to the next signal; 0: there is none */
	uint64_t slept_ns;
	bool outranks; /* the program's other threads have another class */
};

/*
 * The calling thread is about to spin; what it does changes *PROGRESS, after pauses of PAUSE_NS by
 * its own schedule: after a sleep in these it would be late. T stays where it is until turns_end()
 * in the same thread. Returns 0, or -1 with the fault raised.
 */
int turns_begin(struct turns *t, const _Atomic uint64_t *progress, uint64_t pause_ns,
		struct fault *f);

/* Safe on a zeroed object, and after a turns_begin() that failed. */
void turns_end(struct turns *t);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls: how long calls of this host take, for a test that sends no messages: the samples of each
 * thread and step, when to end, and the rows.
 */
#pragma once

#include <stdatomic.h>

#include "base/hist.h"
#include "measure/measure.h"
#include "proto/record.h"

struct calls;

/* Once around all steps, in the thread of worker I (led: for all workers): add a sample to each. 0
 * or -1. */
typedef int calls_job(struct calls *c, unsigned i);

struct calls {
	struct measure *ms;
	calls_job *job;
	const enum record_step *step; /* the caller's */
	unsigned steps;
	bool led;            /* the job is only run by the calling thread, which leads the others */
	struct hist *hist;   /* of worker I's step K at I * steps + K, during a run */
	uint64_t warmup;     /* so often the job is run before */
	_Atomic bool failed; /* a thread did: all end */
};

/* Add to worker I's step K that it took from BEGIN to END. */
static inline void calls_add(struct calls *c, unsigned i, unsigned k, uint64_t begin, uint64_t end)
{
	hist_add(&c->hist[i * c->steps + k], end - begin);
}

/*
 * C has its ms, job, step and steps. Run the job in all threads, as often or as long as the
 * experiment says, after its warm-up; then tell a row for each step, of BYTES (0: none). 0, or -1
 * with the fault raised. After a signal the rows have what was measured; if nothing was, that is a
 * fault.
 */
int calls_run(struct calls *c, uint64_t bytes);

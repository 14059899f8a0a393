/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pool: the threads of this end, one for each worker. pool_run() runs a job in all of them at once
 * and waits until the last one is done. The caller's thread runs the job of worker 0. Between jobs
 * the threads sleep, and each keeps the CPUs that a job has pinned it to.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "base/fault.h"

struct pool_thread;

/* The job of thread I (0 … size - 1). Returns 0 or -1; it keeps its own fault in ARG. */
typedef int pool_job(void *arg, unsigned i);

struct pool {
	unsigned size; /* threads; 0: no pool */
	struct pool_thread *thread;
	pthread_mutex_t lock; /* held until all threads are created, or creating one has failed */
	bool complete;
	pthread_barrier_t gate; /* all threads wait here when a job begins and ends, and in
				   pool_meet() */
	bool leave;
	pool_job *job;
	void *arg;
};

/*
 * Create SIZE - 1 threads; the caller is the other one. Returns 0, or -1 with the fault raised.
 * Call pool_release() in both cases.
 */
int pool_init(struct pool *p, unsigned size, struct fault *f);

/* Run JOB(ARG, i) in all threads. Returns 0, or -1 if one of them failed. */
int pool_run(struct pool *p, pool_job *job, void *arg);

/* The same in the other threads alone; and wait until the last one is done. */
void pool_begin(struct pool *p, pool_job *job, void *arg);
int pool_end(struct pool *p);

/* Within a job every thread calls this; it returns when the last one has called it. */
void pool_meet(struct pool *p);

/* End the threads. Safe on a zeroed object. */
void pool_release(struct pool *p);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crew: the threads of this end, one for each strand. crew_run() has all of them do a job at once
 * and waits until the last has done it; strand 0 is done by the caller. Between jobs they sleep, so
 * each keeps the CPUs that a job has pinned it to.
 */
#ifndef RDMARK_SESSION_CREW_H
#define RDMARK_SESSION_CREW_H

#include <pthread.h>
#include <stdbool.h>

#include "base/fault.h"

struct crew_hand;

/* What hand I (0 … size - 1) does. Returns 0 or -1; what went wrong is for ARG to keep. */
typedef int crew_job(void *arg, unsigned i);

struct crew {
	unsigned size; /* 0: there is none */
	struct crew_hand *hand;
	pthread_mutex_t lock;
	pthread_cond_t begin, end;
	pthread_barrier_t start;
	unsigned jobs; /* begun so far */
	unsigned busy;
	bool leave;
	crew_job *job;
	void *arg;
	int rc;
};

/* SIZE hands, the caller among them. Release also after a failure. */
int crew_init(struct crew *c, unsigned size, struct fault *f);

/* All hands do JOB(ARG, i). Returns 0, or -1 if one of them did. */
int crew_run(struct crew *c, crew_job *job, void *arg);

/* Within a job, every hand of it: go on when the last has come here. */
void crew_meet(struct crew *c);

/* Send the threads home; safe on a zeroed object. */
void crew_release(struct crew *c);

#endif

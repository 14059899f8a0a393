/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup: the limits that this process has as a member of its cgroup (version 2), as in a container
 * or a service. No state; any thread may call. What cannot be read is no limit.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

struct cgroup_limit {
	char dir[256];  /* the cgroup that has it, below /sys/fs/cgroup; "": the root */
	char text[192]; /* what its file says, as one line */
};

/*
 * Find the limit in FILE ("pids.max") of this process's cgroup, or else of the nearest one above
 * it. False if none has one.
 */
bool cgroup_find(const char *file, struct cgroup_limit *l);

/*
 * Raise FAULT_LOCAL if BYTES more of memory are more than the cgroup has left: the kernel would
 * kill the process. With swap that cannot be known. Returns 0 or -1.
 */
int cgroup_check_memory(uint64_t bytes, struct fault *f);

/*
 * How often, and for how long, CPU limits (cpu.max) of this process's cgroup and of those above it
 * stopped them: of the one that did most. Two CPUs that stood still for a second are two seconds.
 */
struct cgroup_stops {
	bool limited; /* one of them has a limit */
	double count, seconds;
};

/* Of the time since they were made; and less what was so at an earlier moment, BEFORE. */
struct cgroup_stops cgroup_stops(const struct cgroup_stops *before);

/* pthread_create(); a failure is raised with the limit or class that causes it. Returns 0 or -1. */
int cgroup_thread(pthread_t *thread, void *(*run)(void *), void *arg, struct fault *f);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters: what a port of an RDMA device counts, as the kernel shows it in sysfs, before and
 * after.
 *
 * They are the port's, so other programs' traffic is in them, too; a driver may refresh them only
 * every few milliseconds.
 */
#ifndef RDMARK_HOST_COUNTERS_H
#define RDMARK_HOST_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct counter {
	char name[80]; /* below the port: "hw_counters/out_of_sequence" */
	int64_t before, after;
};

struct counters {
	char port[96];        /* "class/infiniband/mlx5_0/ports/1", for sysfs_read() */
	struct counter *list; /* owned */
	size_t count;
	bool all; /* not named one by one */
};

/*
 * Find and read those that LIST names by comma: below the port, or without the folder where
 * hw_counters/ or counters/ has it; "all" is every one of both folders. Raises FAULT_USAGE for one
 * that is not there, with the folder to look into. Release also after a failure.
 */
int counters_start(struct counters *c, const char *device, unsigned port, const char *list,
		   struct fault *f);

/* Read them again. One that cannot be read any more has not changed. */
void counters_stop(struct counters *c);

/* Free; safe on a zeroed object, which has none. */
void counters_release(struct counters *c);

#endif

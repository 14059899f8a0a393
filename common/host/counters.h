/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters: how a counter of an RDMA port in sysfs has changed, and when it can be read again.
 *
 * They count all traffic of the port, including that of other programs. Three pitfalls are handled.
 * The kernel returns values up to hw_counters/lifespan old, so the second reading waits until that
 * time has passed since the first. The PMA's counters in counters/ stop at their maximum, most of
 * them at 16 bits or fewer, and show nothing after that. Those in hw_counters/ wrap to 0 after 32
 * bits. A counter that cannot be read is unknown, never 0.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct counter {
	char name[80]; /* below the port: "hw_counters/out_of_sequence" */
	int64_t before, after;
	bool unreadable; /* the second reading failed */
};

/* How far the change of a counter can be trusted. */
enum counter_caveat {
	COUNTER_EXACT,
	COUNTER_MINIMUM,    /* it reached its maximum during the run */
	COUNTER_SATURATED,  /* it was at its maximum before: no change is visible */
	COUNTER_RESET,      /* it fell: someone cleared it */
	COUNTER_UNREADABLE, /* the second reading failed */
	COUNTER_CAVEATS
};

/*
 * Set *CHANGE to the increase of K, 0 if unknown. It is known for COUNTER_EXACT and
 * COUNTER_MINIMUM.
 */
enum counter_caveat counter_change(const struct counter *k, int64_t *change);

/* The value in the JSON document: "at_least", "saturated", "reset", "unreadable"; NULL: exact. */
const char *counter_caveat_name(enum counter_caveat caveat);

/* How long the kernel may return the same values, and when they were read. */
struct counters_age {
	uint64_t lifespan_ns; /* 0: values are never old */
	uint64_t read_ns;
};

/*
 * Read the age of PORT's counters ("class/infiniband/mlx5_0/ports/1"), which are read now. A
 * lifespan above 50 ms is taken as 50 ms.
 */
struct counters_age counters_age(const char *port);

/*
 * Wait until the kernel returns newer values than at the last reading. The time of reading becomes
 * now.
 */
void counters_refresh(struct counters_age *age);

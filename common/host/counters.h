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
#include <stddef.h>
#include <stdint.h>

/* What it means that a counter of the PMA grows. */
enum pma_role {
	PMA_OTHER,
	PMA_ERRORS,
	PMA_BROKEN_LINK, /* with any traffic */
	PMA_LOST_LINKS /* the same; of 8 bits: it is full only after the link was lost 255 times */
};

struct pma_counter {
	const char *name; /* "counters/symbol_error" */
	unsigned bits;
	enum pma_role role;
};

/* The Nth of all that stop at their largest value; NULL: there are not so many. */
const struct pma_counter *pma_counter(size_t n);

/* The one of that NAME; NULL: it is none of them. */
const struct pma_counter *pma_find(const char *name);

struct counter {
	char name[80]; /* below the port: "hw_counters/out_of_sequence" */
	int64_t before, after;
	bool unreadable; /* the second reading failed */
};

/* How well a value is known. */
enum port_known {
#define PORT_KNOWN(symbol, ...) PORT_##symbol,
#include "host/port_events.def"
#undef PORT_KNOWN
	PORT_KNOWN_KINDS
};

/*
 * Set *CHANGE to the increase of K, 0 if unknown. It is known for PORT_EXACT and PORT_AT_LEAST;
 * else PORT_SATURATED, PORT_RESET or PORT_UNREADABLE says why not.
 */
enum port_known counter_change(const struct counter *k, int64_t *change);

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

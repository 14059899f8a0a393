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

/* How well a value is known. */
enum port_known {
	PORT_UNTOLD, /* the peer's version does not tell */
	PORT_EXACT,
	PORT_AT_LEAST, /* the counter reached its top meanwhile */
	/* The rest is unknown. */
	PORT_SATURATED, /* the counter was at its top before */
	PORT_RESET,     /* it fell: someone cleared it */
	PORT_UNREADABLE,
	PORT_NOT_COUNTED,      /* this driver has no such counter */
	PORT_NOT_OF_A_VF,      /* nor has a virtual function */
	PORT_NO_NETDEV,        /* the port has no network interface */
	PORT_OTHER_NAMESPACE,  /* its interface is in another network namespace */
	PORT_NO_PERMISSION,
	PORT_UNSUPPORTED, /* the kernel or the driver cannot tell such things */
	PORT_NO_PCI,      /* the port is of no PCI device */
	PORT_NO_AER,      /* there is no AER: of this kernel, or of this function */
	PORT_UNKNOWN_PRIORITY, /* some priority was paused; which one is the run's is not known */
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

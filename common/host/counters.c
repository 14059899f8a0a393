// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/counters.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "host/sysfs.h"

#define LIFESPAN_MAX_NS UINT64_C(50000000) /* no run waits longer, whatever `lifespan` says */
#define JIFFY_MAX_NS    UINT64_C(10000000)
#define WRAP_32_BITS    (INT64_C(1) << 32)

/* The PortCounters that stop at their largest value (IBTA 16.1.3.5; Linux, sysfs.c). */
static const struct pma_counter pma_counters[] = {
	{"counters/symbol_error", 16, PMA_ERRORS},
	{"counters/link_error_recovery", 8, PMA_LOST_LINKS},
	{"counters/link_downed", 8, PMA_LOST_LINKS},
	{"counters/port_rcv_errors", 16, PMA_ERRORS},
	{"counters/port_xmit_discards", 16, PMA_ERRORS},
	{"counters/port_rcv_remote_physical_errors", 16, PMA_ERRORS},
	{"counters/local_link_integrity_errors", 4, PMA_BROKEN_LINK},
	{"counters/excessive_buffer_overrun_errors", 4, PMA_BROKEN_LINK},
	{"counters/port_rcv_switch_relay_errors", 16, PMA_OTHER},
	{"counters/port_xmit_constraint_errors", 8, PMA_OTHER},
	{"counters/port_rcv_constraint_errors", 8, PMA_OTHER},
	{"counters/VL15_dropped", 16, PMA_OTHER},
	{"counters/port_xmit_wait", 32, PMA_OTHER},
};

const struct pma_counter *pma_counter(size_t n)
{
	return n < sizeof(pma_counters) / sizeof(pma_counters[0]) ? &pma_counters[n] : NULL;
}

const struct pma_counter *pma_find(const char *name)
{
	const struct pma_counter *k;
	size_t i = 0;

	while ((k = pma_counter(i)) && strcmp(name, k->name) != 0)
		i++;
	return k;
}

/* A counter that fell by more than half of 2^32 has wrapped around 32 bits; else someone cleared
 * it. */
enum port_known counter_change(const struct counter *k, int64_t *change)
{
	const struct pma_counter *pma = pma_find(k->name);
	int64_t top = pma ? (INT64_C(1) << pma->bits) - 1 : 0; /* 0: it does not stop */

	*change = 0;
	if (k->unreadable)
		return PORT_UNREADABLE;
	if (top && k->before == top)
		return PORT_SATURATED;
	if (k->after >= k->before) {
		*change = k->after - k->before;
		return top && k->after == top ? PORT_AT_LEAST : PORT_EXACT;
	}
	if (!top && k->before < WRAP_32_BITS && k->after >= 0 &&
	    k->after + WRAP_32_BITS - k->before < WRAP_32_BITS / 2) {
		*change = k->after + WRAP_32_BITS - k->before;
		return PORT_EXACT;
	}
	return PORT_RESET;
}

/* The kernel compares jiffies: what it calls over may be one more. */
static uint64_t jiffy_ns(void)
{
	struct timespec t;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &t) ? JIFFY_MAX_NS : (uint64_t)t.tv_nsec;
}

struct counters_age counters_age(const char *port)
{
	struct counters_age age = {.read_ns = clock_now_ns()};
	int64_t ms = 0;

	if (sysfs_read_int(&ms, "%s/hw_counters/lifespan", port) || ms <= 0)
		return age;
	age.lifespan_ns = (uint64_t)ms * 1000000 + jiffy_ns();
	if (ms > INT32_MAX || age.lifespan_ns > LIFESPAN_MAX_NS)
		age.lifespan_ns = LIFESPAN_MAX_NS;
	return age;
}

void counters_refresh(struct counters_age *age)
{
	struct timespec t = clock_timespec(age->read_ns + age->lifespan_ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
	age->read_ns = clock_now_ns();
}

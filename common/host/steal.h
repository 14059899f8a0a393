/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steal: how much of a CPU's time the hypervisor gave to others, from /proc/stat.
 *
 * The kernel counts in ticks of 10 ms, so a span below a tenth of a second gives no result. The
 * first tick may have started long before the span, so the result is a lower bound. Reading the
 * file makes the kernel sum over all CPUs: never do it in the timed part.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct steal {
	const char *file;
	char *before, *at; /* its content at the start and now; owned; NULL: no memory */
	size_t size;
	uint64_t start_ns, elapsed_ns;
};

/* Prepare for many spans with FILE ("/proc/stat"), which must stay. Without memory results are
 * unknown. */
void steal_open(struct steal *s, const char *file);

/* Start a span, and stop it. */
void steal_start(struct steal *s);
void steal_stop(struct steal *s);

/* The percentage of CPU's time in the span that was certainly stolen; NaN: unknown. */
double steal_percent(const struct steal *s, int cpu);

void steal_close(struct steal *s);

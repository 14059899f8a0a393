/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock: time stamps for the measuring loops, and the monotonic clock for everything else.
 *
 * The loops take raw ticks; ticks become nanoseconds only when a result is computed. Where the
 * counter is trustworthy (invariant TSC, a TSC that the kernel itself keeps time by, or the Arm
 * virtual counter) a tick is one counter step; else it is one nanosecond of CLOCK_MONOTONIC_RAW.
 *
 * Calibration costs no waiting: a pair (ticks, raw nanoseconds) taken at clock_init() and one
 * taken when the result is computed give the rate over the whole life of the program. The text
 * of /proc/cpuinfo is never read. One object per program, read-only during a run.
 */
#ifndef RDMARK_BASE_CLOCK_H
#define RDMARK_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#define CLOCK_HAS_COUNTER 1
static inline uint64_t clock_counter(void)
{
	return __rdtsc();
}
#elif defined(__aarch64__)
#define CLOCK_HAS_COUNTER 1
static inline uint64_t clock_counter(void)
{
	uint64_t v;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(v)::"memory");
	return v;
}
#else
#define CLOCK_HAS_COUNTER 0
static inline uint64_t clock_counter(void)
{
	return 0;
}
#endif

struct clock {
	bool use_counter;
	double ns_per_tick; /* valid after clock_calibrate() */
	uint64_t start_ticks;
	uint64_t start_ns;  /* CLOCK_MONOTONIC_RAW */
	const char *source; /* "tsc", "cntvct" or "clock_gettime" */
};

/* Nanoseconds of CLOCK_MONOTONIC: for deadlines. */
uint64_t clock_now_ns(void);

/* Nanoseconds of CLOCK_MONOTONIC_RAW: for rates. */
uint64_t clock_raw_ns(void);

/* Choose the source and take the first calibration pair. */
void clock_init(struct clock *c);

/*
 * Fix ns_per_tick from the time gone by since clock_init(), spinning only if that is less than
 * 1 ms (then the error of both pairs, some 25 ns each, is 50 parts per million, a twentieth of a
 * histogram's bucket). What was measured for longer has a rate that much better.
 */
void clock_calibrate(struct clock *c);

/* Current time in ticks. Hot. */
static inline __attribute__((always_inline)) uint64_t clock_ticks(const struct clock *c)
{
	if (__builtin_expect(c->use_counter, 1))
		return clock_counter();
	return clock_raw_ns();
}

/* Ticks to nanoseconds; call clock_calibrate() first. */
static inline double clock_ticks_to_ns(const struct clock *c, double ticks)
{
	return ticks * c->ns_per_tick;
}

#endif

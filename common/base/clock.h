/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock: time stamps for the measuring loops, and the monotonic clock for everything else.
 *
 * The loops record raw ticks. Ticks become nanoseconds only when a result is computed. If the
 * counter can be trusted (the Arm virtual counter, or a TSC that the kernel has not rejected), a
 * tick is one counter step; otherwise it is one nanosecond of CLOCK_MONOTONIC_RAW.
 *
 * Calibration does not wait: clock_init() reads both clocks (ticks and raw nanoseconds), and so
 * does the computation of the result. The two pairs give the rate over the whole life of the
 * program. The frequency in /proc/cpuinfo is never used. There is one object per program; it is
 * read-only during a run.
 *
 * A trusted counter may still jump: the counters of two CPUs disagree, or the hypervisor changes
 * that of a virtual machine. A measurement across a jump is a fault, never a result: clock_check()
 * detects it, and a caller that computes a negative difference raises it with clock_went_back().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/fault.h"

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
static inline uint64_t clock_counter(void)
{
	return __rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t clock_counter(void)
{
	uint64_t v;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(v)::"memory");
	return v;
}
#else
static inline uint64_t clock_counter(void)
{
	return 0;
}
#endif

/* One moment on both clocks. The error is at most half of the time that reading both took. */
struct clock_pair {
	uint64_t ticks, took_ticks;
	uint64_t ns; /* CLOCK_MONOTONIC_RAW */
};

struct clock {
	bool use_counter;
	double ns_per_tick; /* valid after clock_calibrate() */
	struct clock_pair start;
	struct clock_pair last; /* the latest calibration */
	const char *source;     /* "tsc", "cntvct" or "clock_gettime" */
};

/* Nanoseconds of CLOCK_MONOTONIC, for deadlines. */
uint64_t clock_now_ns(void);

/* Nanoseconds of CLOCK_MONOTONIC_RAW, for rates. */
uint64_t clock_raw_ns(void);

/* Nanoseconds of CLOCK_REALTIME since 1970: only to compare the clocks of hosts, and to meet. */
uint64_t clock_utc_ns(void);

/* NS as the system calls want it. */
static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* Write the date and time in UTC to BUF in ISO 8601: "2026-11-22T10:39:50Z". Returns BUF. */
#define CLOCK_UTC_BYTES 32
const char *clock_utc(char buf[CLOCK_UTC_BYTES]);

/*
 * True if the kernel keeps time by the TSC. SYSFS is the root of its attributes ("/sys"). The
 * kernel's choice decides: its clock source is "tsc", or it is a virtual machine's clock that
 * itself reads the TSC, and the kernel has not rejected the TSC and the CPU calls it INVARIANT.
 * False if the attribute cannot be read.
 */
bool clock_kernel_trusts_tsc(const char *sysfs, bool invariant);

/* Choose the source and take the first calibration pair. */
void clock_init(struct clock *c, const char *sysfs);

/*
 * Compute ns_per_tick from the time since clock_init(). Spins only if that is less than 1 ms. After
 * 1 ms the error of both pairs, about 25 ns each, is 50 parts per million, a twentieth of a
 * histogram's bucket; after a longer time it is proportionally smaller.
 */
void clock_calibrate(struct clock *c);

/*
 * Check that the ticks since the last calibration agree with CLOCK_MONOTONIC_RAW, within 10 us plus
 * a thousandth. Returns 0, or -1 with the fault raised; C then starts again from now.
 */
int clock_check(struct clock *c, struct fault *f);

/*
 * Raise the fault that a later reading was below an earlier one, and start C again from now.
 * Returns -1.
 */
int clock_went_back(struct clock *c, struct fault *f);

/* The current time in ticks. Hot. */
static inline __attribute__((always_inline)) uint64_t clock_ticks(const struct clock *c)
{
	if (__builtin_expect(c->use_counter, 1))
		return clock_counter();
	return clock_raw_ns();
}

/* Convert ticks to nanoseconds; call clock_calibrate() first. */
static inline double clock_ticks_to_ns(const struct clock *c, double ticks)
{
	return ticks * c->ns_per_tick;
}

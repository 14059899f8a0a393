// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/clock.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define CALIBRATION_MIN_NS UINT64_C(1000000)
#define CHECK_LEAST_NS     10000
#define CHECK_SHARE        1e-3

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * UNITS_NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_raw_ns(void)
{
	return read_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t clock_utc_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

const char *clock_utc(char buf[CLOCK_UTC_BYTES])
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(buf, CLOCK_UTC_BYTES, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	return buf;
}

/*
 * True if the kernel's clocksource ATTRIBUTE (current_clocksource, available_clocksource) lists
 * NAME.
 */
static bool clocksource_has(const char *sysfs, const char *attribute, const char *name)
{
	char path[PATH_MAX], text[512], *rest = text, *word;
	bool found = false;

	snprintf(path, sizeof(path), "%s/devices/system/clocksource/clocksource0/%s", sysfs,
		 attribute);
	text_read(path, text, sizeof(text));
	while (!found && (word = strsep(&rest, " \n")))
		found = strcmp(word, name) == 0;
	return found;
}

/*
 * A hypervisor may hide the invariant-TSC bit, so a kernel whose clocksource is the TSC is trusted
 * without it. A TSC that the kernel has rejected is missing from available_clocksource.
 */
bool clock_kernel_trusts_tsc(const char *sysfs, bool invariant)
{
	if (clocksource_has(sysfs, "current_clocksource", "tsc"))
		return true;
	return invariant && clocksource_has(sysfs, "available_clocksource", "tsc") &&
	       (clocksource_has(sysfs, "current_clocksource", "kvm-clock") ||
		clocksource_has(sysfs, "current_clocksource", "hyperv_clocksource_tsc_page"));
}

#if defined(__x86_64__) || defined(__i386__)
/* CPUID 0x80000007 EDX bit 8: the TSC ticks at one rate in all power states (AMD APM 3, Intel SDM
 * 3). */
static bool tsc_is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

static const char *find_counter(const char *sysfs)
{
	return clock_kernel_trusts_tsc(sysfs, tsc_is_invariant()) ? "tsc" : NULL;
}
#elif defined(__aarch64__)
static const char *find_counter(const char *sysfs)
{
	(void)sysfs;
	return "cntvct"; /* constant-rate by architecture (Arm ARM, D11) */
}
#else
static const char *find_counter(const char *sysfs)
{
	(void)sysfs;
	return NULL;
}
#endif

/* Read the tick counter and CLOCK_MONOTONIC_RAW together. Returns the pair that took the fewest
 * ticks to read, of 8. */
static struct clock_pair sample_clocks(const struct clock *c)
{
	struct clock_pair best = {.took_ticks = UINT64_MAX};

	for (int i = 0; i < 8; i++) {
		uint64_t before = clock_ticks(c);
		uint64_t raw = clock_raw_ns();
		uint64_t took = clock_ticks(c) - before;

		if (took < best.took_ticks)
			best = (struct clock_pair){before + took / 2, took, raw};
	}
	return best;
}

static void restart_clock(struct clock *c)
{
	c->start = c->last = sample_clocks(c);
}

void clock_init(struct clock *c, const char *sysfs)
{
	const char *counter = find_counter(sysfs);

	memset(c, 0, sizeof(*c));
	c->use_counter = counter != NULL;
	c->source = counter ? counter : "clock_gettime";
	c->ns_per_tick = 1.0;
	restart_clock(c);
}

/* The time since C's last pair by the tick counter and by CLOCK_MONOTONIC_RAW, and whether they
 * differ by more than the uncertainty of both pairs, 10 us and a thousandth. */
struct clock_drift {
	double ticks_ns, raw_ns;
	bool too_large;
};

static struct clock_drift measure_drift(const struct clock *c, const struct clock_pair *now)
{
	struct clock_drift p = {
		.ticks_ns = clock_ticks_to_ns(c, (double)(int64_t)(now->ticks - c->last.ticks)),
		.raw_ns = (double)(int64_t)(now->ns - c->last.ns),
	};
	double unsure_ns = clock_ticks_to_ns(c, (double)(now->took_ticks + c->last.took_ticks));

	p.too_large =
		fabs(p.ticks_ns - p.raw_ns) > CHECK_LEAST_NS + CHECK_SHARE * p.raw_ns + unsure_ns;
	return p;
}

void clock_calibrate(struct clock *c)
{
	struct clock_pair now = sample_clocks(c);

	if (!c->use_counter)
		return;
	/* Drift between two measurements spoils no result: start over. */
	if (c->last.ns != c->start.ns && measure_drift(c, &now).too_large)
		restart_clock(c);
	do {
		c->last = sample_clocks(c);
	} while (c->last.ns - c->start.ns < CALIBRATION_MIN_NS);
	c->ns_per_tick =
		(double)(c->last.ns - c->start.ns) / (double)(c->last.ticks - c->start.ticks);
}

/* Add the cause to F and the fix, another clock, and start C over. Returns -1. */
static int explain_clock_fault(struct clock *c, struct fault *f)
{
	restart_clock(c);
	fault_cause(f, "%s",
		    c->use_counter ? "The CPUs' counters disagree, or the hypervisor has set them"
				   : "The kernel's clock source is faulty");
	return fault_fix(f, "%s",
			 c->use_counter
				 ? "boot with tsc=unstable or clocksource=hpet, so that rdmark and "
				   "the kernel use another clock; or give the virtual machine an "
				   "invariant TSC"
				 : "boot with another clocksource=");
}

int clock_check(struct clock *c, struct fault *f)
{
	struct clock_pair now = sample_clocks(c);
	struct clock_drift p = measure_drift(c, &now);

	if (!c->use_counter || !p.too_large)
		return 0;
	if (p.ticks_ns < p.raw_ns)
		return clock_went_back(c, f);
	fault_raise(f, FAULT_LOCAL, 0, "the clock jumped during the run: %s counted %s in %s",
		    c->source, units_ns((uint64_t)p.ticks_ns).text,
		    units_ns((uint64_t)fmax(p.raw_ns, 0)).text);
	return explain_clock_fault(c, f);
}

int clock_went_back(struct clock *c, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, 0, "the clock went back during the run: %s", c->source);
	return explain_clock_fault(c, f);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define NS_PER_S           UINT64_C(1000000000)
#define CALIBRATION_MIN_NS UINT64_C(1000000)
#define CLOCKSOURCE        "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_raw_ns(void)
{
	return read_ns(CLOCK_MONOTONIC_RAW);
}

#if defined(__x86_64__) || defined(__i386__)
/* CPUID 0x80000007 EDX bit 8: the TSC ticks at one rate in all power states (AMD APM 3, Intel SDM
 * 3). */
static bool tsc_is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/* Virtual machines hide the bit; if the kernel keeps time by the TSC, it has checked it. */
static bool kernel_trusts_tsc(void)
{
	char name[32] = "";
	FILE *in = fopen(CLOCKSOURCE, "re");

	if (!in)
		return false;
	if (!fgets(name, sizeof(name), in))
		name[0] = '\0';
	fclose(in);
	return strcmp(name, "tsc\n") == 0;
}

static const char *find_counter(void)
{
	return tsc_is_invariant() || kernel_trusts_tsc() ? "tsc" : NULL;
}
#elif defined(__aarch64__)
static const char *find_counter(void)
{
	return "cntvct"; /* constant-rate by architecture (Arm ARM, D11) */
}
#else
static const char *find_counter(void)
{
	return NULL;
}
#endif

/* A pair whose two halves belong together: the tightest of a few tries. */
static void take_pair(const struct clock *c, uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = clock_ticks(c);
		uint64_t raw = clock_raw_ns();
		uint64_t after = clock_ticks(c);

		if (after - before < best) {
			best = after - before;
			*ticks = before + (after - before) / 2;
			*ns = raw;
		}
	}
}

void clock_init(struct clock *c)
{
	const char *counter = find_counter();

	memset(c, 0, sizeof(*c));
	c->use_counter = counter != NULL;
	c->source = counter ? counter : "clock_gettime";
	c->ns_per_tick = 1.0;
	take_pair(c, &c->start_ticks, &c->start_ns);
}

void clock_calibrate(struct clock *c)
{
	uint64_t ticks = 0, ns = 0;

	if (!c->use_counter)
		return;
	do {
		take_pair(c, &ticks, &ns);
	} while (ns - c->start_ns < CALIBRATION_MIN_NS);
	c->ns_per_tick = (double)(ns - c->start_ns) / (double)(ticks - c->start_ticks);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/account.h"

#include <math.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

static double clock_seconds(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return NAN;
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void read_rusage(struct account *a)
{
	struct rusage r;

	a->known = getrusage(RUSAGE_THREAD, &r) == 0;
	if (!a->known)
		return;
	a->preempted = (uint64_t)r.ru_nivcsw;
	a->minor_faults = (uint64_t)r.ru_minflt;
	a->major_faults = (uint64_t)r.ru_majflt;
}

/* The wall clock is read before the CPU clock here and after it in account_stop(), so that the
 * share of CPU time is never too large. */
void account_start(struct account *a)
{
	*a = (struct account){.cpu = -1};
	read_rusage(a);
	a->elapsed_s = clock_seconds(CLOCK_MONOTONIC);
	a->cpu_s = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

void account_stop(struct account *a)
{
	struct account begin = *a;

	a->cpu_s = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - begin.cpu_s;
	a->elapsed_s = clock_seconds(CLOCK_MONOTONIC) - begin.elapsed_s;
	read_rusage(a);
	a->known &= begin.known && a->elapsed_s > 0 && a->cpu_s >= 0;
	a->preempted -= begin.preempted;
	a->minor_faults -= begin.minor_faults;
	a->major_faults -= begin.major_faults;
	a->cpu = sched_getcpu();
}

double account_percent(const struct account *a)
{
	if (!a->known)
		return NAN;
	return a->cpu_s < a->elapsed_s ? a->cpu_s / a->elapsed_s * 100 : 100;
}

static double timeval_seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static struct usage read_usage(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (struct usage){timeval_seconds(&r.ru_utime), timeval_seconds(&r.ru_stime),
			      clock_seconds(CLOCK_MONOTONIC)};
}

void usage_start(struct usage *u)
{
	*u = read_usage();
}

/* END - START, at least 0: the kernel scales user and system time at each call, so that one of them
 * may even seem to shrink. */
static double seconds_since(double end, double start)
{
	return end > start ? end - start : 0;
}

void usage_stop(struct usage *u)
{
	struct usage end = read_usage();

	u->user_s = seconds_since(end.user_s, u->user_s);
	u->system_s = seconds_since(end.system_s, u->system_s);
	u->elapsed_s = seconds_since(end.elapsed_s, u->elapsed_s);
}

double usage_percent(const struct usage *u)
{
	return u->elapsed_s > 0 ? (u->user_s + u->system_s) / u->elapsed_s * 100 : 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/usage.h"

#include <sys/resource.h>

#include "base/clock.h"

static double timeval_seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* The CPU times of the process since its start, and the current time. */
static struct usage read_usage(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (struct usage){timeval_seconds(&r.ru_utime), timeval_seconds(&r.ru_stime),
			      (double)clock_now_ns() / 1e9};
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

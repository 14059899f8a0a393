// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/usage.h"

#include <sys/resource.h>

#include "base/clock.h"

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* Up to now, from whenever. */
static struct usage so_far(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (struct usage){seconds(&r.ru_utime), seconds(&r.ru_stime),
			      (double)clock_now_ns() / 1e9};
}

void usage_start(struct usage *u)
{
	*u = so_far();
}

/* The kernel scales both shares anew each time, so that one of them may even seem to shrink. */
static double since(double end, double start)
{
	return end > start ? end - start : 0;
}

void usage_stop(struct usage *u)
{
	struct usage end = so_far();

	u->user_s = since(end.user_s, u->user_s);
	u->system_s = since(end.system_s, u->system_s);
	u->elapsed_s = since(end.elapsed_s, u->elapsed_s);
}

double usage_percent(const struct usage *u)
{
	return u->elapsed_s > 0 ? (u->user_s + u->system_s) / u->elapsed_s * 100 : 0;
}

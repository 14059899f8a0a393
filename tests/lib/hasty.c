// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * For perftest, preloaded: it waits less. gettimeofday() takes the TSC to count at 100 MHz, so time
 * runs 26 times as fast at 2.6 GHz, and perftest does not spin for 0.2 s per size and end to learn
 * the TSC's rate; sleep(1) takes a millisecond. perftest prints what it always prints; its figures
 * mean nothing.
 */
#include <stddef.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define CYCLES_PER_US 100

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	unsigned long us = __rdtsc() / CYCLES_PER_US;

	(void)zone;
	*t = (struct timeval){.tv_sec = (time_t)(us / 1000000),
			      .tv_usec = (suseconds_t)(us % 1000000)};
	return 0;
}

unsigned int sleep(unsigned int seconds)
{
	nanosleep(&(struct timespec){.tv_nsec = seconds * 1000000L}, NULL);
	return 0;
}

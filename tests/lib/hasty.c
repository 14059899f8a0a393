// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * For perftest, preloaded: gettimeofday() runs as many times too fast as this TSC has MHz for each 100, and a second
 * of sleep() is a millisecond. Its figures, in cycles of that clock, are none; what it prints is all there, and it need not
 * spin for 0.2 s per size and end to learn the rate of the TSC.
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
	*t = (struct timeval){.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)};
	return 0;
}

unsigned int sleep(unsigned int seconds)
{
	nanosleep(&(struct timespec){.tv_nsec = seconds * 1000000L}, NULL);
	return 0;
}

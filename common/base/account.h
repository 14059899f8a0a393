/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * account: how the kernel scheduled one thread between two moments: its CPU time, how often another
 * task preempted it, and its page faults. The thread itself calls both functions, outside the timed
 * part. And usage: the CPU time of the whole process between two moments, as the kernel counts it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct account {
	bool known; /* both readings succeeded */
	double elapsed_s, cpu_s;
	uint64_t preempted; /* involuntary context switches; sleeping does not count */
	uint64_t minor_faults, major_faults;
	int cpu; /* the CPU at the second moment; -1: unknown */
};

/* Start, and stop: then A holds the differences. The same thread calls both. */
void account_start(struct account *a);
void account_stop(struct account *a);

/* Percentage of the elapsed time that the thread was on a CPU, at most 100; NaN: unknown. */
double account_percent(const struct account *a);

struct usage {
	double user_s, system_s; /* CPU time of all threads */
	double elapsed_s;
};

/* Start, and stop: then U holds the differences. */
void usage_start(struct usage *u);
void usage_stop(struct usage *u);

/* Percentage of the elapsed time; above 100 with several threads. 0 if no time has passed. */
double usage_percent(const struct usage *u);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: the CPU time of this process between two moments, summed over all its threads, as the
 * kernel counts it.
 */
#pragma once

struct usage {
	double user_s, system_s; /* CPU time */
	double elapsed_s;        /* wall-clock time */
};

/* Start, and stop: then U holds the differences. */
void usage_start(struct usage *u);
void usage_stop(struct usage *u);

/*
 * CPU time as a percentage of the elapsed time; above 100 with several threads. 0 if no time has
 * passed.
 */
double usage_percent(const struct usage *u);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: how much CPU this process used between two moments, all of its threads together, as the
 * kernel counts it.
 */
#ifndef RDMARK_BASE_USAGE_H
#define RDMARK_BASE_USAGE_H

struct usage {
	double user_s, system_s; /* of CPU */
	double elapsed_s;        /* of the wall clock */
};

/* Begin; and end: then U holds what was between. */
void usage_start(struct usage *u);
void usage_stop(struct usage *u);

/* Of one CPU; more than 100 with several threads. 0 if no time has gone by. */
double usage_percent(const struct usage *u);

#endif

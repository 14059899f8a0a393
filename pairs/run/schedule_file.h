/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_file: schedules as they are asked for on the command line: by their names, from files,
 * and only parts of them.
 */
#pragma once

#include <stdbool.h>

#include "pairs/hosts.h"
#include "pairs/schedule.h"

struct schedule_asked {
	const char *name; /* "quick", "random=8", "file=FILE", … */
	uint64_t seed;
	const char *only; /* a file of hosts and pairs to which it is limited; NULL: it is not */
	uint64_t at_once; /* pairs of a round; 0: all, */
	bool alone;       /* or one, and nothing else disturbs it */
};

/*
 * Set up the schedule that is ASKED for. Returns 0, or -1 with FAULT_USAGE or FAULT_LOCAL.
 *
 * file=FILE has lines "ROUND A B", A and B as names or numbers of hosts. group=FILE has a group of
 * hosts in each line; in round 0 the halves of each group meet, then each group meets each other
 * one. The file of `only` has a host in a line, whose pairs stay, or two hosts, a pair that is
 * added if it is not there.
 */
int schedule_open(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f);

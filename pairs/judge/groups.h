/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* groups: which hosts share a leaf switch, a rack or a pod, as a file says: "GROUP HOST…" a line.
 */
#pragma once

#include <stdio.h>

#include "names.h"

#define GROUPS_MAX 4096

struct groups {
	struct names names; /* of groups */
	struct names hosts;
	uint32_t *of; /* of each of HOSTS: its group; owned */
};

/*
 * Read FILE; blank lines and those that start with # are skipped. Returns 0; or the number of the
 * line that has no host, names one a second time or is one too many. Where memory is lacking,
 * NAMES or HOSTS says so.
 */
uint32_t groups_read(struct groups *g, FILE *file);

/* Put HOST into GROUP. Returns -1 if it is in one, or there are too many. */
int groups_put(struct groups *g, const char *group, const char *host);

/* The group of HOST, or NAMES_NONE. */
uint32_t groups_of(const struct groups *g, const char *host);

void groups_release(struct groups *g);

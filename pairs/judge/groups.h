/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* groups: which hosts share a leaf switch, a rack or a pod, as a file says: "GROUP HOST…" a line.
 */
#pragma once

#include "base/fault.h"
#include "names.h"

#define GROUPS_MAX 4096

struct groups {
	struct names names; /* of groups */
	struct names hosts;
	uint32_t *of; /* of each of HOSTS: its group; owned */
};

/* Read FILE (pairs/lines.h). Returns -1 with FAULT_USAGE or FAULT_LOCAL. */
int groups_read(struct groups *g, const char *file, struct fault *f);

/* Put HOST into GROUP. Returns -1 if it is in one, or there are too many. */
int groups_put(struct groups *g, const char *group, const char *host);

/* The group of HOST, or NAMES_NONE. */
uint32_t groups_of(const struct groups *g, const char *host);

void groups_release(struct groups *g);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names: texts, each kept once and numbered from 0 in the order in which they came. Not more than a
 * limit of them, so that no input fills the memory. And groups: which hosts share a leaf switch, a
 * rack or a pod, as a file says: "GROUP HOST…" a line.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/fault.h"

#define NAMES_NONE UINT32_MAX
#define GROUPS_MAX 4096

struct names {
	char **text; /* owned, as each text is */
	uint32_t count, limit;
	json_t *number; /* of each text; owned */
};

static inline void names_init(struct names *n, uint32_t limit)
{
	*n = (struct names){.limit = limit};
}

/*
 * The number of TEXT, which is added if it is new. NAMES_NONE: the limit is reached, or there is no
 * memory, which json_memory_failures() then says.
 */
uint32_t names_put(struct names *n, const char *text);

/* The number of TEXT, or NAMES_NONE. */
uint32_t names_find(const struct names *n, const char *text);

/* Renumber the texts: first comes that which has the first number of ORDER. None is added then. */
void names_sort(struct names *n, const uint32_t *order);

void names_release(struct names *n);

struct groups {
	struct names names; /* of groups */
	json_t *of;         /* of each host: the number of its group; owned */
};

/* Read FILE (pairs/lines.h). Returns -1 with FAULT_USAGE or FAULT_LOCAL. */
int groups_read(struct groups *g, const char *file, struct fault *f);

/* Put HOST into GROUP. Returns -1 if it is in one, or there are too many. */
int groups_put(struct groups *g, const char *group, const char *host);

/* The group of HOST, or NAMES_NONE. */
uint32_t groups_of(const struct groups *g, const char *host);

void groups_release(struct groups *g);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names: texts, each kept once and numbered from 0 in the order in which they came. Not more than a
 * limit of them, so that no input fills the memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_NONE UINT32_MAX

struct names {
	char **text; /* owned, as each text is */
	uint32_t count, limit;
	void *tree;     /* of <search.h> */
	bool no_memory; /* a text is missing for want of memory */
};

static inline void names_init(struct names *n, uint32_t limit)
{
	*n = (struct names){.limit = limit};
}

/*
 * The number of TEXT, which is added if it is new. NAMES_NONE: the limit is reached, or there is no
 * memory, which no_memory then says.
 */
uint32_t names_put(struct names *n, const char *text);

/* The number of TEXT, or NAMES_NONE. */
uint32_t names_find(const struct names *n, const char *text);

/*
 * Keep the COUNT texts that have the numbers at ORDER, and number them anew in this order; others
 * are not found any more, and none may be added. Returns -1 if there is no memory.
 */
int names_keep(struct names *n, const uint32_t *order, uint32_t count);

void names_release(struct names *n);

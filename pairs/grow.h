/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* grow: lists that get longer by one, whose room is doubled at each power of two. */
#pragma once

#include <stdlib.h>

/*
 * LIST, which has COUNT elements of SIZE bytes, with room for one more. NULL: there is no memory,
 * and LIST stays. A list that was not made so may not grow.
 */
static inline void *grow(void *list, size_t count, size_t size)
{
	return count & (count - 1) ? list : realloc(list, (count ? 2 * count : 1) * size);
}

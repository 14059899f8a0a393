/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nomem: allocations that fail, in a unit test: those of tests/lib/nomem.c, which replaces the allocators of
 * the process. Sanitizers have their own, so that nothing fails there, and NOMEM is false.
 */
#ifndef RDMARK_TESTS_UNIT_NOMEM_H
#define RDMARK_TESTS_UNIT_NOMEM_H

#include <stdbool.h>
#include <stddef.h>

/* clang asks so */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NOMEM false
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NOMEM false
#endif

#ifdef NOMEM
static inline void nomem_from(long nth, bool all)
{
	(void)nth;
	(void)all;
}

static inline long nomem_count(void)
{
	return 0;
}
#else
#define NOMEM true
#include "../lib/nomem.c"

/* From now on the NTH allocation fails, from 1, and with ALL those after it; 0: none. */
static inline void nomem_from(long nth, bool all)
{
	nomem_calls = 0;
	nomem_at = nth;
	nomem_on = all;
}

/* Allocations since then. */
static inline long nomem_count(void)
{
	return nomem_calls;
}
#endif

#endif

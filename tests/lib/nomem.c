// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A library to preload: the NOMEM_ATth call of malloc() fails, and NOMEM_COUNT is a file for how
 * many calls there were.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);

static atomic_long calls;
static long fails_at;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("NOMEM_AT");

	fails_at = at ? strtol(at, NULL, 10) : 0;
	calls = 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *name = getenv("NOMEM_COUNT");
	long count = calls;
	FILE *file = name ? fopen(name, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%ld\n", count);
	fclose(file);
}

void *malloc(size_t size)
{
	if (atomic_fetch_add(&calls, 1) + 1 != fails_at)
		return __libc_malloc(size);
	errno = ENOMEM;
	return NULL;
}

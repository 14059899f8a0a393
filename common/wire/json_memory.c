// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/json_memory.h"

#include <jansson.h>
#include <stdlib.h>

static _Thread_local uint64_t failures, reported;

static void *allocate(size_t size)
{
	void *p = malloc(size);

	failures += !p;
	return p;
}

void json_memory_init(void)
{
	json_set_alloc_funcs(allocate, free);
}

uint64_t json_memory_failures(void)
{
	return failures;
}

bool json_memory_failed(void)
{
	bool failed = failures != reported;

	reported = failures;
	return failed;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/json_memory.h"

#include <jansson.h>
#include <stdlib.h>

#define ALIGNED 16

static _Thread_local uint64_t failures, reported;
static _Thread_local struct {
	char *at;
	size_t bytes, used;
} room;

static void *allocate(size_t size)
{
	void *p;

	if (size <= room.bytes - room.used) {
		p = room.at + room.used;
		room.used += (size + ALIGNED - 1) / ALIGNED * ALIGNED;
		return p;
	}
	p = malloc(size);
	failures += !p;
	return p;
}

static void release(void *p)
{
	if ((uintptr_t)p - (uintptr_t)room.at >= room.bytes)
		free(p);
}

void json_memory_init(void)
{
	json_set_alloc_funcs(allocate, release);
}

void json_memory_room(void *at, size_t bytes)
{
	room.at = at;
	room.bytes = bytes / ALIGNED * ALIGNED;
	room.used = 0;
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

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/json_memory.h"

#include <stdlib.h>

#define ALIGNED 16

struct room {
	char *at;
	size_t bytes, used;
};

static _Thread_local uint64_t failures, reported;
static _Thread_local struct room room, spare;

static void *take(struct room *r, size_t size)
{
	void *p;

	if (!r->at || size > r->bytes - r->used)
		return NULL;
	p = r->at + r->used;
	r->used += (size + ALIGNED - 1) / ALIGNED * ALIGNED;
	return p;
}

static void *allocate(size_t size)
{
	void *p = take(&room, size);

	if (!p)
		p = malloc(size);
	if (p)
		return p;
	failures++;
	return take(&spare, size);
}

static bool is_in(const struct room *r, const void *p)
{
	return (uintptr_t)p - (uintptr_t)r->at < r->bytes;
}

void json_memory_release(void *p)
{
	if (!is_in(&room, p) && !is_in(&spare, p))
		free(p);
}

void json_memory_init(void)
{
	json_set_alloc_funcs(allocate, json_memory_release);
}

void json_memory_room(void *at, size_t bytes)
{
	room = (struct room){at, bytes / ALIGNED * ALIGNED, 0};
}

json_t *json_memory_load(const char *text, size_t size, size_t flags, json_error_t *why)
{
	_Alignas(ALIGNED) char bytes[65536];
	uint64_t before = failures;
	json_t *top;

	spare = (struct room){bytes, sizeof(bytes), 0};
	top = json_loadb(text, size, flags, why);
	if (failures != before) {
		json_decref(top);
		top = NULL;
	}
	spare = (struct room){NULL, 0, 0};
	return top;
}

void json_memory_lacked(void)
{
	failures++;
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

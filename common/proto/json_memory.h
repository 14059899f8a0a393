/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * json_memory: whether jansson ran out of memory. jansson does not tell: a key that finds no memory
 * is missing afterwards, and a text that cannot be stored is read as another one. So its
 * allocations are made here, and failed ones are counted, for each thread. (The counters are
 * globals because jansson's functions for memory have no argument.)
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Make jansson allocate through this module; without it nothing is counted. */
void json_memory_init(void);

/* Free P, a text of json_dumps() that can be in a room. NULL is allowed. */
void json_memory_release(void *p);

/*
 * As json_loadb(), but without memory it fails, and json_memory_failures() says so; jansson's parser
 * would abort(): version 2.14 asserts that what it has read of a number could be stored.
 */
json_t *json_memory_load(const char *text, size_t size, size_t flags, json_error_t *why);

/*
 * From now on this thread's allocations for jansson are parts of the BYTES at AT, which is aligned
 * as malloc's memory, as long as they have room there. Nothing of the room before may be in use any
 * more. NULL and 0: none.
 */
void json_memory_room(void *at, size_t bytes);

/* Failed allocations of this thread so far: compare two values. */
uint64_t json_memory_failures(void);

/* Count a failed allocation of the caller's, for which a message or document lacks a part. */
void json_memory_lacked(void);

/* True if one has failed in this thread since the last call. */
bool json_memory_failed(void);

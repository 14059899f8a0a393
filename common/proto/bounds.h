/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bounds: the maximum of what a message of the peer may contain: bytes, JSON values, arrays and
 * objects, nesting. They are counted in the text, before the tree is built: a tree takes up to a
 * hundred times the memory of its text.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct bounds {
	size_t bytes;
	uint64_t values;     /* members of arrays and objects, each key and each value */
	uint64_t containers; /* arrays and objects, the most expensive values */
};

#define BOUNDS_DEPTH 16

/* Of the messages before the experiment is known: hello, welcome, busy. */
#define BOUNDS_GREETING ((struct bounds){OOB_GREETING_MAX, .values = 4096, .containers = 256})

/* Of the messages of an experiment with this number of THREADS and QPS, of all devices. */
struct bounds bounds_experiment(uint64_t threads, uint64_t qps);

/*
 * Check TEXT of SIZE bytes, which need not be JSON. Raises FAULT_PEER for the first bound that it
 * exceeds; PEER is for the fault.
 */
int bounds_check(const struct bounds *b, const char *text, size_t size, const char *peer,
		 struct fault *f);

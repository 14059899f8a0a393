// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/bounds.h"

#include <stdbool.h>

#include "proto/oob.h"

/*
 * The largest messages: "qps" has up to five numbers for each QP, and a few values for each
 * thread; "done" has a record for each thread, and with -g an object for each QP.
 */
struct bounds bounds_experiment(uint64_t threads, uint64_t qps)
{
	uint64_t bytes = 256 * 1024 + 6144 * threads + 64 * qps;

	return (struct bounds){
		.bytes = bytes < OOB_MESSAGE_MAX ? bytes : OOB_MESSAGE_MAX,
		.values = 16384 + 256 * threads + 6 * qps,
		.containers = 1024 + 8 * threads + qps,
	};
}

static int too_much(const char *peer, const char *what, uint64_t allowed, struct fault *f)
{
	return fault_raise(f, FAULT_PEER, 0, "%s sent a message with more than %llu %s", peer,
			   (unsigned long long)allowed, what);
}

int bounds_check(const struct bounds *b, const char *text, size_t size, const char *peer,
		 struct fault *f)
{
	uint64_t values = 0, containers = 0;
	unsigned depth = 0;

	for (size_t at = 0; at < size; at++) {
		bool opens = text[at] == '{' || text[at] == '[';

		if (text[at] == '"') /* to the last character of the string */
			for (at++; at < size && text[at] != '"'; at++)
				at += text[at] == '\\';
		else if (text[at] == '}' || text[at] == ']')
			depth -= depth > 0;
		else if (opens || text[at] == ',' || text[at] == ':')
			values++;
		containers += opens;
		depth += opens;
		if (depth > BOUNDS_DEPTH)
			return too_much(peer, "levels of JSON", BOUNDS_DEPTH, f);
		if (containers > b->containers)
			return too_much(peer, "JSON arrays and objects", b->containers, f);
		if (values > b->values)
			return too_much(peer, "JSON values", b->values, f);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verified: the result of a verification as JSON, for the document and the protocol, and as text.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* The first error. */
struct verified_finding {
	bool from_server;       /* who sent the message that is expected there */
	unsigned qp;            /* through all threads */
	unsigned number;        /* of the message, in its window and QP, from 0 */
	uint32_t window;        /* from 1, in the whole run */
	uint64_t byte;          /* offset in that message; past its end: in the guard */
	uint8_t is, should_be;  /* equal: the data are in memory, but no completion came */
};

struct verified {
	uint64_t messages, bytes; /* checked */
	uint64_t errors;          /* wrong messages; lost ones, where none may be lost */
	uint64_t lost;            /* nothing or only a part arrived, or no completion came */
	bool found;               /* an error was found: */
	struct verified_finding first;
};

/* Add the counts of FROM to TO, which keeps its first error. */
void verified_add(struct verified *to, const struct verified *from);

/* Returns a new object. */
json_t *verified_to_json(const struct verified *t);

/* Read the peer's result. Raises FAULT_PEER for a wrong type or range. */
int verified_from_json(struct verified *t, const json_t *from, struct fault *f);

/*
 * Write "4096 messages of 64 KiB, 268.4 MB (measured: 13.1 MB), no error", or the number of errors.
 * Returns BUF.
 */
const char *verified_format(const struct verified *t, uint64_t measured_bytes, char *buf,
			    size_t size);

/* Raise FAULT_DATA: the errors in the messages, which have one size, and the first. Returns -1. */
int verified_raise(const struct verified *t, struct fault *f);

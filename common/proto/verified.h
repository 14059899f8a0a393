/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verified: the result of a verification as JSON, for the document and the protocol, and as text.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/slots.h"

/* Returns a new object. */
json_t *verified_to_json(const struct slots_tally *t);

/* Read the peer's result. Raises FAULT_PEER for a wrong type or range. */
int verified_from_json(struct slots_tally *t, const json_t *from, struct fault *f);

/*
 * Write "4096 messages of 64 KiB, 268.4 MB (measured: 13.1 MB), no error", or the number of errors.
 * Returns BUF.
 */
const char *verified_format(const struct slots_tally *t, uint64_t measured_bytes, char *buf,
			    size_t size);

/* Raise FAULT_DATA: the errors in the messages, which have one size, and the first. Returns -1. */
int verified_raise(const struct slots_tally *t, struct fault *f);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verified: what a verification found, in the form of the document, of the wire, and in words.
 */
#ifndef RDMARK_WIRE_VERIFIED_H
#define RDMARK_WIRE_VERIFIED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/slots.h"

/* A new object; LOSSY: lost messages are counted, and no errors. */
json_t *verified_to_json(const struct slots_tally *t, bool lossy);

/* Read what the peer sent. Raises FAULT_PEER for a wrong type or range. */
int verified_from_json(struct slots_tally *t, const json_t *from, struct fault *f);

/* "4096 messages of 64 KiB, 268.4 MB, no error", or how many of each class. Returns BUF. */
const char *verified_format(const struct slots_tally *t, bool lossy, char *buf, size_t size);

/* Raise FAULT_DATA: what is wrong with the messages, all of one size, where, and why probably. */
int verified_raise(const struct slots_tally *t, bool lossy, struct fault *f);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern: data that says where it belongs and when it was sent, to prove that a transfer moved it.
 *
 * Word i of a buffer is a mix of the seed and i, so a byte that is lost, misplaced, doubled or
 * stale (of another seed) differs. The seed names buffer, sender and epoch. Words are 8 bytes in
 * the host's order; a tail of fewer bytes is the beginning of the last word. Pure functions.
 */
#ifndef RDMARK_BASE_PATTERN_H
#define RDMARK_BASE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#define PATTERN_OK UINT64_MAX

/* Seed of epoch EPOCH of stream STREAM; different for any two pairs that a run uses. */
uint64_t pattern_seed(uint64_t stream, uint64_t epoch);

/* Fill BYTES at TO with the pattern of SEED from byte FIRST (a multiple of 8) on. */
void pattern_fill(void *to, size_t bytes, uint64_t seed, uint64_t first);

/*
 * Compare BYTES at FROM with it. Returns PATTERN_OK, or the offset from FROM of the first byte that
 * is wrong; *WRONG (may be NULL) then counts the wrong bytes.
 */
uint64_t pattern_check(const void *from, size_t bytes, uint64_t seed, uint64_t first,
		       uint64_t *wrong);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern: data that says where it belongs and when it was sent, to prove that a transfer moved it.
 *
 * Word i of a buffer is a mix of the seed and i, so a byte that is lost, misplaced, doubled or
 * stale (of another seed) differs. The seed names buffer, sender and epoch. Words are 8 bytes in
 * the host's order; a tail of fewer bytes is the beginning of the last word. Pure functions.
 *
 * The seed of a struct pattern_name can be read back from any whole word, so that wrong data say
 * which message they are.
 */
#ifndef RDMARK_BASE_PATTERN_H
#define RDMARK_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_OK UINT64_MAX

/* Seed of epoch EPOCH of stream STREAM; different for any two pairs that a run uses. */
uint64_t pattern_seed(uint64_t stream, uint64_t epoch);

/* Which message it is: the NUMBERth (from 0) of WINDOW on QP LANE of all of a run, and whose. */
struct pattern_name {
	bool from_server;
	unsigned lane;   /* up to 65535 */
	unsigned number; /* up to 32767 */
	uint32_t window; /* of all that the run has had */
};

/* Seed of NAME; no two names have the same. */
uint64_t pattern_named_seed(const struct pattern_name *name);

/* Whose word 0 or, further on, word INDEX the 8 bytes at FROM are; data of any other kind give a
 * name by chance. */
struct pattern_name pattern_read_name(const void *from, uint64_t index);

/* Which word of SEED the 8 bytes at FROM are; data of any other kind give a number by chance. */
uint64_t pattern_read_index(const void *from, uint64_t seed);

/*
 * What pattern_fill() does, but that every byte is another one, so that none can be taken for data
 * that have come.
 */
void pattern_poison(void *to, size_t bytes, uint64_t seed, uint64_t first);

/* Word INDEX of SEED. */
uint64_t pattern_word(uint64_t seed, uint64_t index);

/* Fill BYTES at TO with the pattern of SEED from byte FIRST (a multiple of 8) on. */
void pattern_fill(void *to, size_t bytes, uint64_t seed, uint64_t first);

/*
 * Compare BYTES at FROM with it. Returns PATTERN_OK, or the offset from FROM of the first byte that
 * is wrong; *WRONG (may be NULL) then counts the wrong bytes.
 */
uint64_t pattern_check(const void *from, size_t bytes, uint64_t seed, uint64_t first,
		       uint64_t *wrong);

#endif

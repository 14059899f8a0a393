/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern: message data that identify their place and time, to prove that a transfer moved them.
 *
 * Word i of a buffer is a hash of the seed and i, so a byte that is lost, misplaced, duplicated or
 * stale (of another seed) differs. The seed identifies buffer, sender and epoch. Words are 8 bytes
 * in the host's byte order; a shorter tail is the beginning of the last word. Pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_OK UINT64_MAX

/* The seed of epoch EPOCH of stream STREAM; different for any two pairs that a run uses. */
uint64_t pattern_seed(uint64_t stream, uint64_t epoch);

/*
 * Fill BYTES at TO so that every byte differs from what pattern_fill() would write: poisoned memory
 * cannot be mistaken for received data.
 */
void pattern_poison(void *to, size_t bytes, uint64_t seed, uint64_t first);

/* Fill BYTES at TO with the pattern of SEED from byte FIRST (a multiple of 8) on. */
void pattern_fill(void *to, size_t bytes, uint64_t seed, uint64_t first);

/*
 * Compare BYTES at FROM with the pattern. Returns PATTERN_OK, or the offset from FROM of the first
 * wrong byte.
 */
uint64_t pattern_check(const void *from, size_t bytes, uint64_t seed, uint64_t first);

/* The byte at offset AT of the pattern. */
uint8_t pattern_byte(uint64_t seed, uint64_t at);

/* True if each byte of poisoned memory is still poison, or became the pattern's. */
bool pattern_lacks(const void *from, size_t bytes, uint64_t seed);

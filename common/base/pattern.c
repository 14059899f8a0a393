// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/pattern.h"

#include <string.h>

#define WORD_BYTES sizeof(uint64_t)
#define GOLDEN     UINT64_C(0x9e3779b97f4a7c15)
#define POISON     UINT64_C(0xa53c965ac369e11e) /* no byte is 0x00 or 0xff */

/*
 * The finaliser of splitmix64: a bijection in which each bit of Z flips half of the result's bits.
 */
static inline uint64_t mix_bits(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t pattern_seed(uint64_t stream, uint64_t epoch)
{
	/* Mix twice, so that consecutive streams and epochs give seeds far from each other: a word
	 * number, which is small, then cannot make up for the difference. */
	return mix_bits(mix_bits(stream + GOLDEN) + epoch);
}

/* Write the BYTES of the pattern of SEED from offset FIRST on, each word XORed with FLIP. */
static inline void fill_pattern(void *to, size_t bytes, uint64_t seed, uint64_t first,
				uint64_t flip)
{
	uint64_t i = first / WORD_BYTES, word;
	uint8_t *p = to;

	for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES, p += WORD_BYTES) {
		word = mix_bits(seed ^ i++) ^ flip;
		memcpy(p, &word, WORD_BYTES);
	}
	word = mix_bits(seed ^ i) ^ flip;
	memcpy(p, &word, bytes);
}

void pattern_fill(void *to, size_t bytes, uint64_t seed, uint64_t first)
{
	fill_pattern(to, bytes, seed, first, 0);
}

void pattern_poison(void *to, size_t bytes, uint64_t seed, uint64_t first)
{
	fill_pattern(to, bytes, seed, first, POISON);
}

/* The number of right words at FROM before the first wrong one, or WORDS. The first is word I of
 * the pattern. */
static size_t count_right_words(const uint8_t *from, size_t words, uint64_t seed, uint64_t i)
{
	for (size_t k = 0; k < words; k++) {
		uint64_t is;

		memcpy(&is, from + k * WORD_BYTES, WORD_BYTES);
		if (is != mix_bits(seed ^ (i + k)))
			return k;
	}
	return words;
}

uint64_t pattern_check(const void *from, size_t bytes, uint64_t seed, uint64_t first)
{
	uint64_t i = first / WORD_BYTES;
	size_t right = count_right_words(from, bytes / WORD_BYTES, seed, i);
	size_t at = right * WORD_BYTES; /* offset of the first wrong word, or of the tail */
	uint64_t word = mix_bits(seed ^ (i + right));

	for (size_t k = 0; k < WORD_BYTES && at + k < bytes; k++)
		if (((const uint8_t *)from)[at + k] != ((const uint8_t *)&word)[k])
			return at + k;
	return PATTERN_OK;
}

/* Byte AT of the words of which WORD is the one that AT is in. */
static inline uint8_t byte_of(uint64_t word, uint64_t at)
{
	return ((const uint8_t *)&word)[at % WORD_BYTES];
}

uint8_t pattern_byte(uint64_t seed, uint64_t at)
{
	return byte_of(mix_bits(seed ^ at / WORD_BYTES), at);
}

bool pattern_lacks(const void *from, size_t bytes, uint64_t seed)
{
	for (size_t at = 0; at < bytes; at++) {
		uint8_t off = ((const uint8_t *)from)[at] ^ pattern_byte(seed, at);

		if (off && off != byte_of(POISON, at))
			return false;
	}
	return true;
}

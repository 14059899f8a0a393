// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/pattern.h"

#include <string.h>

#define WORD_BYTES sizeof(uint64_t)
#define GOLDEN     UINT64_C(0x9e3779b97f4a7c15)
#define POISON     UINT64_C(0xa53c965ac369e11e) /* no byte is 0, none turns all bits over */

/* The finaliser of splitmix64: a bijection in which each bit of Z moves half of the result's. */
static inline uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* What mix() made Z of: its steps backwards, with the inverses of its factors modulo 2^64. */
static inline uint64_t unmix(uint64_t z)
{
	z = (z ^ (z >> 31) ^ (z >> 62)) * UINT64_C(0x319642b2d24d8ec3);
	z = (z ^ (z >> 27) ^ (z >> 54)) * UINT64_C(0x96de1b173f119089);
	return z ^ (z >> 30) ^ (z >> 60);
}

uint64_t pattern_word(uint64_t seed, uint64_t index)
{
	return mix(seed ^ index);
}

uint64_t pattern_named_seed(const struct pattern_name *name)
{
	uint64_t packed = (uint64_t)name->window << 32 | (uint64_t)(name->lane & 0xffff) << 16 |
			  (uint64_t)(name->number & 0x7fff) << 1 | name->from_server;

	return mix(packed + GOLDEN);
}

struct pattern_name pattern_read_name(const void *from, uint64_t index)
{
	uint64_t word, packed;

	memcpy(&word, from, WORD_BYTES);
	packed = unmix(unmix(word) ^ index) - GOLDEN;
	return (struct pattern_name){
		.window = (uint32_t)(packed >> 32),
		.lane = packed >> 16 & 0xffff,
		.number = packed >> 1 & 0x7fff,
		.from_server = packed & 1,
	};
}

uint64_t pattern_read_index(const void *from, uint64_t seed)
{
	uint64_t word;

	memcpy(&word, from, WORD_BYTES);
	return unmix(word) ^ seed;
}

uint64_t pattern_seed(uint64_t stream, uint64_t epoch)
{
	/* Mixed twice, so that counting streams and epochs gives seeds far from each other: then
	 * no word number, which is small, makes up for the difference. */
	return mix(mix(stream + GOLDEN) + epoch);
}

/* Each word is changed by FLIP. */
static inline void fill(void *to, size_t bytes, uint64_t seed, uint64_t first, uint64_t flip)
{
	uint64_t i = first / WORD_BYTES, word;
	uint8_t *p = to;

	for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES, p += WORD_BYTES) {
		word = mix(seed ^ i++) ^ flip;
		memcpy(p, &word, WORD_BYTES);
	}
	word = mix(seed ^ i) ^ flip;
	memcpy(p, &word, bytes);
}

void pattern_fill(void *to, size_t bytes, uint64_t seed, uint64_t first)
{
	fill(to, bytes, seed, first, 0);
}

void pattern_poison(void *to, size_t bytes, uint64_t seed, uint64_t first)
{
	fill(to, bytes, seed, first, POISON);
}

/* How many of the WORDS at FROM are right before the first that is not; word 0 is number I. */
static size_t right_words(const uint8_t *from, size_t words, uint64_t seed, uint64_t i)
{
	for (size_t k = 0; k < words; k++) {
		uint64_t is;

		memcpy(&is, from + k * WORD_BYTES, WORD_BYTES);
		if (is != mix(seed ^ (i + k)))
			return k;
	}
	return words;
}

/* How many of the BYTES at FROM differ from WORD's; *AT is the first of them. */
static unsigned differ(const uint8_t *from, size_t bytes, uint64_t word, size_t *at)
{
	uint8_t right[WORD_BYTES];
	unsigned count = 0;

	memcpy(right, &word, WORD_BYTES);
	for (size_t k = bytes; k-- > 0;) {
		if (from[k] == right[k])
			continue;
		*at = k;
		count++;
	}
	return count;
}

uint64_t pattern_check(const void *from, size_t bytes, uint64_t seed, uint64_t first,
		       uint64_t *wrong)
{
	uint64_t i = first / WORD_BYTES, found = PATTERN_OK, count = 0;
	const uint8_t *p = from;

	for (size_t done = 0; done < bytes && (found == PATTERN_OK || wrong);) {
		size_t n, at = 0, words = (bytes - done) / WORD_BYTES;
		size_t right = right_words(p + done, words, seed, i);
		unsigned bad;

		/* What comes next is a wrong word, the tail, or the end. */
		i += right;
		done += right * WORD_BYTES;
		n = bytes - done < WORD_BYTES ? bytes - done : WORD_BYTES;
		bad = differ(p + done, n, mix(seed ^ i++), &at);
		if (bad && found == PATTERN_OK)
			found = done + at;
		count += bad;
		done += n;
	}
	if (wrong)
		*wrong = count;
	return found;
}

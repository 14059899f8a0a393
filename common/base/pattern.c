// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/pattern.h"

#include <string.h>

#define WORD_BYTES sizeof(uint64_t)
#define GOLDEN     UINT64_C(0x9e3779b97f4a7c15)

/* The finaliser of splitmix64: a bijection in which each bit of Z moves half of the result's. */
static inline uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t pattern_seed(uint64_t stream, uint64_t epoch)
{
	/* Mixed twice, so that counting streams and epochs gives seeds far from each other: then
	 * no word number, which is small, makes up for the difference. */
	return mix(mix(stream + GOLDEN) + epoch);
}

void pattern_fill(void *to, size_t bytes, uint64_t seed, uint64_t first)
{
	uint64_t i = first / WORD_BYTES, word;
	uint8_t *p = to;

	for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES, p += WORD_BYTES) {
		word = mix(seed ^ i++);
		memcpy(p, &word, WORD_BYTES);
	}
	word = mix(seed ^ i);
	memcpy(p, &word, bytes);
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

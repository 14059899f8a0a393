// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pattern: every way in which a transfer can be wrong is seen, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

#define BYTES 4096

static void right_data_are_right(void **state)
{
	uint8_t data[BYTES + 1];

	(void)state;
	/* Also at an odd address. */
	for (int shift = 0; shift < 2; shift++) {
		pattern_fill(data + shift, BYTES, 7, 0);
		assert_true(pattern_check(data + shift, BYTES, 7, 0) == PATTERN_OK);
	}
	assert_true(pattern_check(data, 0, 7, 0) == PATTERN_OK);
}

static void every_wrong_byte_is_found(void **state)
{
	uint8_t data[BYTES];

	(void)state;
	pattern_fill(data, sizeof(data), 7, 0);
	for (size_t at = 0; at < sizeof(data); at++) {
		uint8_t bit = (uint8_t)(1 << at % 8);

		data[at] ^= bit;
		assert_int_equal(pattern_check(data, sizeof(data), 7, 0), at);
		data[at] ^= bit;
	}
}

/* Of several the first, also within one word. */
static void the_first_wrong_byte_is_told(void **state)
{
	static const size_t at[] = {4095, 4000, 16, 15, 14, 13};
	uint8_t data[BYTES];

	(void)state;
	pattern_fill(data, sizeof(data), 7, 0);
	for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
		data[at[k]] ^= 0xff;
		assert_int_equal(pattern_check(data, sizeof(data), 7, 0), at[k]);
	}
}

static void tails_are_the_beginning_of_a_word(void **state)
{
	uint8_t whole[64], part[65];

	(void)state;
	pattern_fill(whole, sizeof(whole), 3, 0);
	for (size_t bytes = 0; bytes <= sizeof(whole); bytes++) {
		memset(part, 0x5a, sizeof(part));
		pattern_fill(part, bytes, 3, 0);
		assert_memory_equal(part, whole, bytes);
		assert_int_equal(part[bytes], 0x5a); /* no byte behind the end is written, */
		assert_true(pattern_check(part, bytes, 3, 0) == PATTERN_OK); /* or looked at */
		for (size_t at = 0; at < bytes; at++) {
			part[at] ^= 0x80;
			assert_int_equal(pattern_check(part, bytes, 3, 0), at);
			part[at] ^= 0x80;
		}
	}
}

/* A piece is filled and checked as the part of the whole that it is. */
static void pieces_join(void **state)
{
	uint8_t whole[BYTES], pieces[BYTES];

	(void)state;
	pattern_fill(whole, sizeof(whole), 11, 0);
	for (size_t first = 0; first < BYTES; first += 1000) {
		size_t bytes = BYTES - first < 1000 ? BYTES - first : 1000;

		pattern_fill(pieces + first, bytes, 11, first);
		assert_true(pattern_check(whole + first, bytes, 11, first) == PATTERN_OK);
	}
	assert_memory_equal(pieces, whole, BYTES);
	/* The offset counts from the piece. */
	whole[3017] ^= 1;
	assert_int_equal(pattern_check(whole + 3000, 1000, 11, 3000), 17);
}

/* Every word of data that do not belong there is wrong. */
static void expect_strange(const uint8_t *data, size_t bytes, uint64_t seed, uint64_t first)
{
	size_t right = 0;

	assert_true(pattern_check(data, bytes, seed, first) < 8);
	for (size_t i = 0; i < bytes; i += 8)
		right += pattern_check(data + i, bytes - i < 8 ? bytes - i : 8, seed, first + i) ==
			 PATTERN_OK;
	assert_int_equal(right, 0);
}

static void another_epoch_or_stream_is_wrong(void **state)
{
	uint8_t data[BYTES];

	(void)state;
	for (uint64_t stream = 0; stream < 8; stream++) {
		for (uint64_t epoch = 0; epoch < 8; epoch++) {
			pattern_fill(data, sizeof(data), pattern_seed(stream, epoch), 0);
			expect_strange(data, sizeof(data), pattern_seed(stream, epoch + 1), 0);
			expect_strange(data, sizeof(data), pattern_seed(stream + 1, epoch), 0);
			expect_strange(data, sizeof(data), pattern_seed(epoch, stream + 9), 0);
		}
	}
}

static void data_in_another_place_are_wrong(void **state)
{
	uint64_t seed = pattern_seed(1, 1);
	uint8_t data[2 * BYTES], keep[BYTES];

	(void)state;
	pattern_fill(data, sizeof(data), seed, 0);
	for (size_t shift = 1; shift <= 64; shift++)
		expect_strange(data + shift, BYTES, seed, 0);
	for (size_t block = 8; block <= BYTES; block *= 2) {
		expect_strange(data + block, block, seed, 0);
		memcpy(keep, data, block);
		memcpy(data, data + block, block);
		memcpy(data + block, keep, block);
		assert_true(pattern_check(data, sizeof(data), seed, 0) < 8);
		pattern_fill(data, sizeof(data), seed, 0);
	}
}

static void memory_never_written_is_wrong(void **state)
{
	uint8_t data[BYTES];

	(void)state;
	for (int fill = 0; fill < 256; fill++) {
		memset(data, fill, sizeof(data));
		expect_strange(data, sizeof(data), pattern_seed(0, 0), 0);
	}
}

/* No byte of the poison is the pattern's, nor a byte of it with all its bits turned. */
static void poison_is_none_of_it(void **state)
{
	uint8_t data[BYTES], poison[BYTES];

	(void)state;
	pattern_fill(data, sizeof(data), 5, 0);
	for (size_t bytes = BYTES - 9; bytes <= BYTES; bytes++) {
		memset(poison, 0, sizeof(poison));
		pattern_poison(poison, bytes, 5, 0);
		for (size_t at = 0; at < bytes; at++) {
			assert_int_not_equal(poison[at], data[at]);
			assert_int_not_equal(poison[at], (uint8_t)~data[at]);
		}
		for (size_t at = bytes; at < BYTES; at++)
			assert_int_equal(poison[at], 0);
	}
	pattern_poison(poison, 64, 5, 128);
	pattern_poison(data, BYTES, 5, 0);
	assert_memory_equal(poison, data + 128, 64);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* No two of the seeds of a long run are alike, nor so near that a word number bridges them. */
static void seeds_are_far_apart(void **state)
{
	enum {
		STREAMS = 64,
		EPOCHS = 1024,
		COUNT = STREAMS * EPOCHS
	};
	uint64_t *seed = malloc(COUNT * sizeof(*seed));

	(void)state;
	assert_non_null(seed);
	for (uint64_t k = 0; k < COUNT; k++)
		seed[k] = pattern_seed(k / EPOCHS, k % EPOCHS);
	qsort(seed, COUNT, sizeof(*seed), by_value);
	for (size_t k = 1; k < COUNT; k++)
		assert_true(seed[k] >> 24 != seed[k - 1] >> 24); /* 2^24 words are 128 MiB */
	free(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_data_are_right),
		cmocka_unit_test(every_wrong_byte_is_found),
		cmocka_unit_test(the_first_wrong_byte_is_told),
		cmocka_unit_test(tails_are_the_beginning_of_a_word),
		cmocka_unit_test(pieces_join),
		cmocka_unit_test(another_epoch_or_stream_is_wrong),
		cmocka_unit_test(data_in_another_place_are_wrong),
		cmocka_unit_test(memory_never_written_is_wrong),
		cmocka_unit_test(seeds_are_far_apart),
		cmocka_unit_test(poison_is_none_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

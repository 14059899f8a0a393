// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* slots: wrong data are found, whatever made them so, where all messages must come in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "slots_world.h"

static bool are_right(const struct slots *s)
{
	struct slots_tally t = {0};

	slots_check(s, &t);
	return !t.errors && !t.lost;
}

/* Each case in each form: SENDs and WRITEs, of whole words and with a tail, and in two windows. */
static void everywhere(void (*one)(struct world *w))
{
	static const uint64_t bytes[] = {8, 9, 64, 100, 1000, 4096};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		for (int in_place = 0; in_place < 2; in_place++) {
			struct world w;

			make_world(&w, bytes[i], in_place);
			carry_others(&w);
			carry_range(&w, 0, COUNT - 1);
			expect(&w, 0, 0);
			next_window(&w);
			carry_others(&w);
			one(&w);
			free_world(&w);
		}
}

static void nothing_wrong(struct world *w)
{
	carry_range(w, 0, COUNT - 1);
	expect(w, 0, 0);
}

static void one_lost(struct world *w)
{
	carry_range(w, 0, 4);
	carry_range(w, 6, COUNT - 1);
	expect(w, w->in.in_place ? 1 : COUNT - 5, 1); /* SENDs: and all that came a place earlier */
}

static void half_lost(struct world *w)
{
	uint64_t half = w->in.message_bytes / 16 * 8;
	uint8_t keep[8192];

	memcpy(keep, slots_payload(&w->in, LANE, 5) + half, w->in.message_bytes - half);
	carry_range(w, 0, COUNT - 1);
	memcpy(slots_payload(&w->in, LANE, 5) + half, keep, w->in.message_bytes - half);
	expect(w, 1, w->in.in_place); /* a receive that completed is not lost */
}

static void the_last_ones_lost(struct world *w)
{
	carry_range(w, 0, COUNT - 4);
	expect(w, 3, 3);
}

static void one_twice(struct world *w)
{
	carry_range(w, 0, 5);
	carry(w, 5, w->in.in_place ? 6 : 0);
	carry_range(w, w->in.in_place ? 7 : 6, COUNT - 1);
	expect(w, w->in.in_place ? 1 : COUNT - 6, 0);
}

static void two_exchanged(struct world *w)
{
	carry_range(w, 0, 4);
	carry(w, 6, 5);
	carry(w, 5, 6);
	carry_range(w, 7, COUNT - 1);
	expect(w, 2, 0);
}

static void one_of_the_window_before(struct world *w)
{
	carry_range(w, 0, 4);
	w->out.window--;
	slots_fill(&w->out);
	carry(w, 5, 5);
	w->out.window++;
	slots_fill(&w->out);
	carry_range(w, 6, COUNT - 1);
	expect(w, 1, 0);
}

static void one_of_another_qp(struct world *w)
{
	carry_range(w, 0, 4);
	carry_to(w, LANE + 1, 5, LANE, 5);
	carry_range(w, 6, COUNT - 1);
	expect(w, 1, 0);
}

static void one_further_on(struct world *w)
{
	uint8_t *p = slots_payload(&w->in, LANE, 5);
	uint8_t poison[8];

	memcpy(poison, p, sizeof(poison));
	carry_range(w, 0, COUNT - 1);
	memmove(p + sizeof(poison), p, w->in.message_bytes);
	memcpy(p, poison, sizeof(poison));
	expect(w, 1, 0);
}

static void one_byte_wrong(struct world *w)
{
	carry_range(w, 0, COUNT - 1);
	for (uint64_t at = 0; at < w->in.message_bytes; at++) {
		uint8_t *p = slots_payload(&w->in, LANE, 5) + at;
		struct slots_tally t = {0};

		*p ^= 0xff;
		expect(w, 1, 0);
		slots_check(&w->in, &t);
		assert_int_equal(t.first.byte, at);
		assert_int_equal(t.first.name.number, 5);
		assert_int_equal(t.first.is, *p);
		assert_int_equal(t.first.should_be, *p ^ 0xff);
		*p ^= 0xff;
	}
	expect(w, 0, 0);
}

static void a_byte_too_much(struct world *w)
{
	carry_range(w, 0, COUNT - 1);
	slots_payload(&w->in, LANE, 5)[w->in.message_bytes] ^= 1;
	expect(w, 1, 0);
}

#define EVERYWHERE(name, one)          \
	static void name(void **state) \
	{                              \
		(void)state;           \
		everywhere(one);       \
	}
EVERYWHERE(right_is_right, nothing_wrong)
EVERYWHERE(lost, one_lost)
EVERYWHERE(lost_in_part, half_lost)
EVERYWHERE(lost_at_the_end, the_last_ones_lost)
EVERYWHERE(duplicate, one_twice)
EVERYWHERE(reordered, two_exchanged)
EVERYWHERE(stale, one_of_the_window_before)
EVERYWHERE(of_another_qp, one_of_another_qp)
EVERYWHERE(shifted, one_further_on)
EVERYWHERE(corrupt, one_byte_wrong)
EVERYWHERE(beyond_the_end, a_byte_too_much)

/* A SEND that landed in the slot before its own, which is empty, and one that came much too late.
 */
static void sends_in_wrong_slots(void **state)
{
	struct world w;
	uint8_t *own;

	(void)state;
	make_world(&w, 256, false);
	carry_others(&w);
	own = slots_payload(&w.in, LANE, 5);
	memcpy(w.wire, own, 256);
	carry_range(&w, 0, COUNT - 1);
	memcpy(own - slots_stride(&w.in), own, 256);
	memcpy(own, w.wire, 256);
	expect(&w, 2, 0);
	next_window(&w);
	carry_others(&w);
	carry_range(&w, 1, COUNT - 1);
	carry(&w, 0, 0);
	expect(&w, COUNT, 0);
	free_world(&w);
}

/* The data of the last messages came, but the completions of their receives did not. */
static void in_memory_without_completion(void **state)
{
	struct slots_tally t = {0};
	struct world w;

	(void)state;
	make_world(&w, 64, false);
	carry_others(&w);
	carry_range(&w, 0, COUNT - 1);
	w.in.arrived[LANE] -= 2;
	slots_check(&w.in, &t);
	assert_int_equal(t.lost, 2);
	assert_int_equal(t.errors, 2);
	assert_int_equal(t.first.name.number, COUNT - 2);
	assert_int_equal(t.first.is, t.first.should_be);
	free_world(&w);
}

/* Too short for a word: wrong is found all the same, whatever it is called. */
static void short_messages(void **state)
{
	(void)state;
	for (uint64_t bytes = 1; bytes < 8; bytes++)
		for (int in_place = 0; in_place < 2; in_place++) {
			struct world w;

			make_world(&w, bytes, in_place);
			carry_others(&w);
			carry_range(&w, 0, COUNT - 1);
			assert_true(are_right(&w.in));
			*slots_payload(&w.in, LANE, 5) ^= 1;
			assert_false(are_right(&w.in));
			*slots_payload(&w.in, LANE, 5) ^= 1;
			next_window(&w);
			carry_others(&w);
			one_lost(&w);
			free_world(&w);
		}
}

/* The 40 bytes before a datagram are nobody's. */
static void bytes_before_do_not_count(void **state)
{
	struct world w;

	(void)state;
	make_world(&w, 100, false);
	free(w.in.data);
	w.in.before_bytes = 40;
	w.in.data = malloc(slots_bytes(&w.in));
	memset(w.in.data, 0x77, slots_bytes(&w.in));
	next_window(&w);
	carry_others(&w);
	carry_range(&w, 0, COUNT - 1);
	assert_true(are_right(&w.in));
	for (unsigned k = 0; k < 40; k++)
		assert_int_equal(w.in.data[slots_offset(&w.in, LANE, 3) + k], 0x77);
	free_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_is_right),
		cmocka_unit_test(lost),
		cmocka_unit_test(lost_in_part),
		cmocka_unit_test(lost_at_the_end),
		cmocka_unit_test(duplicate),
		cmocka_unit_test(reordered),
		cmocka_unit_test(stale),
		cmocka_unit_test(of_another_qp),
		cmocka_unit_test(shifted),
		cmocka_unit_test(corrupt),
		cmocka_unit_test(beyond_the_end),
		cmocka_unit_test(sends_in_wrong_slots),
		cmocka_unit_test(in_memory_without_completion),
		cmocka_unit_test(short_messages),
		cmocka_unit_test(bytes_before_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

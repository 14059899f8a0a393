// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * slots: where messages may be lost, or may come in any order, that is no error, and anything else
 * still is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "slots_world.h"

/* Where a transport may lose messages, that is no error, and anything else still is. */
static void losses_may_be_allowed(void **state)
{
	struct slots_tally t = {0}, sum = {0};
	struct world w;

	(void)state;
	make_world(&w, 64, false);
	w.in.unreliable = w.in.numbered = true;
	carry_others(&w);
	carry_range(&w, 3, COUNT - 1);
	slots_check(&w.in, &t);
	assert_int_equal(t.lost, 3);
	assert_int_equal(t.errors, 0);
	assert_false(t.found);
	*slots_payload(&w.in, LANE, 7) ^= 1;
	slots_check(&w.in, &t);
	assert_int_equal(t.lost, 6);
	assert_int_equal(t.errors, 1);
	assert_true(t.found && t.first.name.number == 10);
	slots_add(&sum, &t);
	slots_add(&sum, &t);
	assert_int_equal(sum.errors, 2);
	assert_int_equal(sum.lost, 12);
	assert_true(sum.found && sum.first.name.number == t.first.name.number);
	free_world(&w);
}

/* Datagrams tell their numbers: losses, and another order, make none of the others wrong. */
static void datagrams_lost_and_reordered(void **state)
{
	struct slots_tally t = {0};
	struct world w;

	(void)state;
	make_world(&w, 64, false);
	w.in.unreliable = w.in.numbered = true;
	carry_others(&w);
	carry_range(&w, 7, 10);
	carry_range(&w, 1, 4);
	carry_range(&w, 12, COUNT - 2);
	expect(&w, 0, 5);
	slots_payload(&w.in, LANE, 0)[20] ^= 1; /* message 7 */
	slots_check(&w.in, &t);
	assert_int_equal(t.errors, 1);
	assert_int_equal(t.first.name.number, 7);
	assert_int_equal(t.first.byte, 20);
	free_world(&w);
}

/* Any order is right where each comes once; then a loss, and one that came twice, are not. */
static void reordered_but_each_once(void **state)
{
	struct slots_tally t = {0};
	struct world w;

	(void)state;
	make_world(&w, 64, false);
	w.in.numbered = true;
	carry_others(&w);
	carry_range(&w, 7, COUNT - 1);
	carry_range(&w, 0, 6);
	expect(&w, 0, 0);
	next_window(&w);
	carry_others(&w);
	carry_range(&w, 9, COUNT - 1);
	carry_range(&w, 0, 7);
	slots_check(&w.in, &t);
	assert_int_equal(t.errors, 1);
	assert_int_equal(t.lost, 1);
	assert_int_equal(t.first.name.number, 8);
	carry(&w, 3, 3); /* again: in place of the missing one */
	memset(&t, 0, sizeof(t));
	slots_check(&w.in, &t);
	assert_int_equal(t.errors, 1);
	assert_int_equal(t.lost, 0);
	assert_int_equal(t.first.name.number, 8);
	next_window(&w);
	carry_others(&w);
	carry_range(&w, 1, COUNT - 1);
	slots_arrived(&w.in, LANE, SLOTS_NO_NUMBER);
	expect(&w, 1, 0);
	free_world(&w);
}

/* A completion says that a datagram came, but a part of it did not: that is no loss. */
static void a_datagram_with_a_hole(void **state)
{
	uint8_t hole[16], *at;
	struct world w;

	(void)state;
	make_world(&w, 64, false);
	w.in.unreliable = w.in.numbered = true;
	carry_others(&w);
	at = slots_payload(&w.in, LANE, 3) + 16;
	memcpy(hole, at, sizeof(hole));
	carry_range(&w, 0, COUNT - 1);
	memcpy(at, hole, sizeof(hole));
	expect(&w, 1, 0);
	free_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_may_be_allowed),
		cmocka_unit_test(datagrams_lost_and_reordered),
		cmocka_unit_test(reordered_but_each_once),
		cmocka_unit_test(a_datagram_with_a_hole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

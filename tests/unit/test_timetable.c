// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* timetable: rounds from the clock; whether it is off; 1,000 players through all rounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "../../pairs/schedule.h"
#include "../../pairs/run/timetable.h"

#define S       UINT64_C(1000000000)
#define START   (1790000000 * S)
#define PLAYERS 1000

static struct timetable make(uint32_t rounds)
{
	return (struct timetable){.start_ns = START, .slot_ns = S, .rounds = rounds, .parts = 2};
}

static void rounds_follow_the_clock(void **state)
{
	struct timetable t = make(3);

	(void)state;
	assert_int_equal(timetable_round(&t, 0), -1);
	assert_int_equal(timetable_round(&t, START - 1), -1);
	assert_int_equal(timetable_round(&t, START), 0);
	assert_int_equal(timetable_round(&t, START + S - 1), 0);
	assert_int_equal(timetable_round(&t, START + 2 * S), 2);
	assert_int_equal(timetable_round(&t, START + 3 * S), 3);
	assert_int_equal(timetable_round(&t, UINT64_MAX), 3);
	assert_true(timetable_begin(&t, 2, 1) == START + 5 * S / 2);
	assert_true(timetable_part_ns(&t) == S / 2);
	assert_true(timetable_cut_ns(&t) < S / 2 && timetable_cut_ns(&t) > S / 4);
}

static void a_quarter_of_a_slot_is_off(void **state)
{
	struct timetable t = make(3);

	(void)state;
	assert_true(timetable_off(&t, -3));
	assert_true(timetable_off(&t, .26));
	assert_false(timetable_off(&t, 0.2));
}

static void a_wait_is_no_difference_of_clocks(void **state)
{
	const int64_t here = START;

	(void)state;
	assert_true(timetable_ahead_s(here - 2 * (int64_t)S, here, here - 3 * (int64_t)S) == 0);
	assert_true(timetable_ahead_s(here - 4 * (int64_t)S, here, here - 3 * (int64_t)S) == -4);
	assert_true(timetable_ahead_s(here + 2 * (int64_t)S, here, here - 3 * (int64_t)S) == 2);
}

/*
 * 1,000 players who look at their clocks, each up to 20 ms off, a little after each slot began:
 * all are in the same round, and both of each pair know it, through all 999 rounds.
 */
static void a_thousand_players(void **state)
{
	struct schedule_turn *turns = malloc(PLAYERS * sizeof(*turns));
	struct timetable t = make(PLAYERS - 1);
	struct fault f = {0};
	uint64_t pairs = 0;
	struct schedule s;

	(void)state;
	assert_int_equal(schedule_init(&s, SCHEDULE_FULL, PLAYERS, 0, 1, &f), 0);
	assert_int_equal(s.rounds, t.rounds);
	for (uint32_t round = 0; round < t.rounds; round++) {
		uint64_t now_ns = timetable_begin(&t, round, 0) + S / 25;

		schedule_round(&s, round, turns);
		for (uint32_t i = 0; i < PLAYERS; i++) {
			int64_t off_ns = (int64_t)(i * 7919 % 40) * 1000000 - 20000000;

			assert_int_equal(timetable_round(&t, now_ns + (uint64_t)off_ns), round);
			assert_int_equal(turns[turns[i].peer].peer, i);
			assert_true(turns[i].client != turns[turns[i].peer].client);
			pairs += turns[i].client;
		}
	}
	assert_int_equal(pairs, (uint64_t)PLAYERS * (PLAYERS - 1) / 2);
	free(turns);
	schedule_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_follow_the_clock),
		cmocka_unit_test(a_quarter_of_a_slot_is_off),
		cmocka_unit_test(a_wait_is_no_difference_of_clocks),
		cmocka_unit_test(a_thousand_players),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

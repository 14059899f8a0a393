// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* timetable: rounds from the clock; whose clock is wrong; 1,000 players through all rounds. */
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

/* PEER, whose name is known, says that its clock is so much ahead. */
static bool vote(struct timetable *t, uint32_t peer, double ahead_s)
{
	return timetable_vote(t, &(struct timetable_vote){peer, peer, ahead_s});
}

/* One of whom it is not clear who it is: it counts once. */
static void nobody_counts_twice(void **state)
{
	struct timetable t = make(3);

	(void)state;
	assert_false(timetable_vote(&t, &(struct timetable_vote){1, 9, -5}));
	assert_false(timetable_vote(&t, &(struct timetable_vote){2, 9, -5}));
	assert_false(timetable_vote(&t, &(struct timetable_vote){2, 3, -5}));
	assert_false(timetable_vote(&t, &(struct timetable_vote){3, 3, -5}));
	assert_int_equal(t.correction_ns, 0);
	assert_true(timetable_vote(&t, &(struct timetable_vote){4, 4, -5}));
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

static void two_others_make_a_clock_wrong(void **state)
{
	struct timetable t = make(3);

	(void)state;
	assert_false(vote(&t, 4, 3.1)); /* which of both is it? */
	assert_false(vote(&t, 4, 3.1)); /* the same one again */
	assert_int_equal(t.correction_ns, 0);
	assert_true(vote(&t, 5, 3.0));
	assert_true(t.correction_ns == 3 * (int64_t)S);
	assert_false(vote(&t, 6, 3.01)); /* it is so already */
	assert_false(vote(&t, 7, -50));  /* that one is wrong itself */
	assert_true(t.correction_ns == 3 * (int64_t)S);
}

static void one_wrong_clock_moves_nobody(void **state)
{
	struct timetable t = make(3);

	(void)state;
	assert_false(vote(&t, 1, -3));
	for (uint32_t i = 2; i < 40; i++)
		assert_false(vote(&t, i, i % 3 ? 0.001 : -3));
	assert_int_equal(t.correction_ns, 0);
	assert_true(timetable_off(&t, -3));
	assert_false(timetable_off(&t, 0.2));
}

/* A clock that was set right meanwhile: the correction goes. */
static void a_clock_may_be_set_right(void **state)
{
	struct timetable t = make(3);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		vote(&t, i, 3);
	assert_true(t.correction_ns > 0);
	for (uint32_t i = 3; i < 9; i++)
		vote(&t, i, 0);
	assert_int_equal(t.correction_ns, 0);
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
		cmocka_unit_test(two_others_make_a_clock_wrong),
		cmocka_unit_test(one_wrong_clock_moves_nobody),
		cmocka_unit_test(nobody_counts_twice),
		cmocka_unit_test(a_clock_may_be_set_right),
		cmocka_unit_test(a_wait_is_no_difference_of_clocks),
		cmocka_unit_test(a_thousand_players),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
